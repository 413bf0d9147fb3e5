// Package inspect provides what show, why, list and tree report about a run. It builds the tree of its steps, says what
// the run waits for, and defines the JSON that programs rely on. The keys are stable: a later version may add keys, but
// does not change or remove one. The package reads only the store that it receives, page by page, and reads no clock.
package inspect
