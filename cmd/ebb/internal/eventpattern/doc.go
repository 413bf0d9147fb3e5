// Package eventpattern matches events with the patterns of Amazon EventBridge. Parse refuses what it cannot express, by
// name. A pattern does not change, and matching takes time in proportion to the pattern and the event.
package eventpattern
