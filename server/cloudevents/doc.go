// Package cloudevents carries CloudEvents 1.0 over HTTP: into the inboxes of runs,
// and out of the outbox.
//
//	http.Handle("POST /events", cloudevents.Handler(store))
//	err := eng.Serve(ctx, engine.WithSender(cloudevents.Sender(nil, "https://bus.example.org/")))
//
// An event goes to the run that ?run= names, or, without one, to all runs that wait
// for one with its attributes, see [Deliver]. It is a message: stored in one
// transaction before it is answered, delivered to the run by the process that
// drives it, and kept in the run's inbox until then. If an event with the same source
// and id comes again, it is dropped. The run's language decides how the run handles the
// event. The same commit stores the decision and removes the message.
package cloudevents
