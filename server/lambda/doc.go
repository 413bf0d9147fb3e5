// Package lambda runs the Lambda functions of a project as processes of this machine. It speaks AWS Lambda's Runtime
// API to them, so programs and handlers run as they are. Clients of AWS call them by the Invoke operation.
//
//	functions, err := lambda.New(lambda.Config{Functions: []lambda.Function{{
//		Name: "Pay", Runtime: "python3.13", Handler: "app.handler", Code: "/srv/shop/pay",
//	}}})
//	if err != nil {
//		return err
//	}
//	defer functions.Close()
//	registry.AddFunction("Pay", functions)       // state machines call it,
//	paths[lambda.Prefix] = functions.Handler()   // and clients of AWS
//
// # Processes
//
// A function starts with its first invocation. One process answers one invocation at a time, and stays for later ones.
// For each concurrent invocation there is a process, up to a limit; further invocations wait. A process ends when it
// was idle for some time, when its code changes, after an invocation that timed out, and when it uses too much memory.
//
// Processes run as the user of this process, without any isolation: only run functions that you trust. They do not get
// the environment of this process, but only what AWS sets, PATH, HOME and the like. All processes that a function
// started end with it, and with this process if the program calls [tasks.Supervise].
//
// # Runtime API
//
// Each process has an address of its own on the loopback interface. On Linux, only processes of the same user may use
// it. No page in a browser may.
//
// # Departures from AWS
//
// Processes are not frozen between invocations. Layers are folders of this machine, not merged below /opt. There are no
// extensions, no destinations, and no retries of asynchronous invocations. A version or an alias is the same code.
package lambda
