// Package rules contains the decisions that all stores make in the same way. It decides whether a checkpoint may be
// written, which jobs a claim takes, and which runs limits and rates allow. It also decides which message a token's end
// sends to its run. The package reads no clock and does no I/O. Each store decides which rows to read and how to lock
// them.
package rules
