// Package enginebench measures how fast runs go on a database: the workloads
// behind `ebb bench`.
//
// A step is one task executed or undone, with 100 bytes of result, and
// committed. The ceiling of a workload is what the same database takes without
// Ebb: as many rows, as large, in transactions as large, written straight to the
// same file by one prepared connection, right after the workload. So a ratio
// says what Ebb costs, on a slow disk as on a fast one. What came out is in
// docs/explanation/performance.md.
package enginebench
