// Package atom holds the smallest unit of work that can go forward and back.
//
// An [Atom] is a task or the retry of a flow. A task is any Go value with a
// method Execute; when it also has a method Revert, what it did can be undone:
//
//	type createVolume struct{ cloud *Cloud }
//
//	func (t createVolume) Execute(ctx context.Context, in spec) (volume, error) {…}
//	func (t createVolume) Revert(ctx context.Context, in spec, did atom.Outcome[volume]) error {…}
//
//	create := atom.Task("create-volume", createVolume{cloud})
//
// The types of input and output are inferred from the methods. Fields of the input are the symbols that the task
// requires, and fields of the output are the symbols that it provides. Their json tags name them. All values pass
// through one string-keyed table of encoded values ([Value]). The table is stored, shown, and handed to tasks written
// in other languages. An atom sees only values that went through this encoding, so a live run and a resumed one see the
// same.
//
// The engine promises this to an atom: Execute runs at least once, and its result is recorded exactly once. Every
// attempt of one incarnation carries the same [IdempotencyKey]. Revert is called only for an atom that ran or may have
// run, and its [Outcome] says which.
//
// [Task], [Func], [Pair] and [Untyped] create tasks. [Map] and [Reduce] call a function with several symbols. [Remote]
// and [RemotePair] are work for workers in any language. [Awaits] waits for a signal. [Times], [ForEach], [ForEachOf],
// [AlwaysRevert], [AlwaysRevertAll] and [Retry] create the retry of a flow.
//
// Options name arguments and results ([From], [Rebind], [As], [Provides]), limit time and attempts ([Timeout],
// [Attempts]), and say how to undo ([RevertAttempts], [IfRevertFails], [Pivot], [NoEffect]). During a call,
// [CurrentCall], [Token], [Progress], [Logger] and [Tx] reach the engine. Tests of a single task use [WithHost] in
// place of the engine.
package atom
