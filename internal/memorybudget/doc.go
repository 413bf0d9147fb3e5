// Package memorybudget says how much memory this process may have, and how much of it is in use.
//
//   - [Find] finds the memory limit of the process's control group. It reads files and nothing else.
//   - [Share] is the part of a limit that live memory may take.
//   - [Watch] judges whether live memory has reached a budget.
package memorybudget
