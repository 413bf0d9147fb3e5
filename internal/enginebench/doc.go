// Package enginebench implements the workloads of `ebb bench`, which measure how many steps an engine executes per
// second on a database.
//
// A step is one task that was executed or undone, and whose result of 100 bytes was committed.
//
// The ceiling of a workload is the rate of the same database without Ebb. Right after the workload, one connection
// writes as many rows of the same size, in transactions of the same size, to the same file. So the ratio of both rates
// is the cost of Ebb, whether the disk is slow or fast. docs/explanation/performance.md has results.
package enginebench
