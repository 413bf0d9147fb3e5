// Package scheduler decides what a run does next. It is a function: each call
// of [Scheduler.Step] takes one event and answers with commands, and does
// nothing else. No I/O, no clock, no call of user code, no evaluation of a
// language: where one of these is needed there is a command that asks for it
// and an event that brings the answer. So the same events give the same
// commands, always, and a test can hold any interleaving in its hand.
//
// What it reproduces is TaskFlow's behaviour (docs/explanation/scheduling.md),
// at a cost in proportion to what an event changed: each node of the plan keeps
// count of the direct neighbours it waits for, forward and back, and only the
// nodes that a change reaches are looked at.
//
// A growing flow has no plan. Its nodes are made as its language asks for them
// and dropped as soon as they are of no more use, so a run that loops for ever
// stays small. What such a node did and can be undone is on a stack in the
// store; when the flow is undone, the scheduler asks for it from the top.
//
// A run may die after any command of a plan that keeps something, and goes on
// from the records as they were kept up to there. Of a growing flow all commands
// of one Step are kept together or not at all: an answer of its language is a
// whole.
package scheduler
