// Package cloudevents transports CloudEvents 1.0 over HTTP: into the inboxes of runs, and out of the outbox.
//
//	http.Handle("POST /events", cloudevents.Handler(store))
//	err := eng.Serve(ctx, engine.WithSender(cloudevents.Sender(nil, "https://bus.example.org/")))
//
// An event goes to the run that ?run= names or, without ?run=, to all runs that wait for an event with its
// attributes, see [Deliver]. It is a message: the handler stores it in one transaction before it answers. The
// process that drives the run reads it from the run's inbox. If an event with the same source and id arrives again,
// Ebb drops it. The run's language decides how the run handles the event. The same commit stores the decision and
// removes the message.
package cloudevents
