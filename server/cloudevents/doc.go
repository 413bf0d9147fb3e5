// Package cloudevents carries CloudEvents 1.0 over HTTP: into the inboxes of runs,
// and out of the outbox.
//
//	http.Handle("POST /events", cloudevents.Handler(store))
//	err := eng.Serve(ctx, engine.WithSender(cloudevents.Sender(nil, "https://bus.example.org/")))
//
// An event goes to the run that ?run= names, or, without one, to all runs that wait
// for one with its attributes, see [Deliver]. It is a message: stored in one
// transaction before it is answered, delivered to the run by the process that
// drives it, and kept in the run's inbox until then. One that comes again, by its source and id, is
// dropped. What a run makes of it is said by the run's language, in one commit
// with the end of the message.
package cloudevents
