// Package inspect knows what show, why, list and tree report about a run: the tree of its steps, what it waits for and
// what would wake it, and each record in the JSON that programs rely on. The keys are stable: a later version may add
// some, but changes and removes none. It asks only the store that it is given, page by page, and knows no clock.
package inspect
