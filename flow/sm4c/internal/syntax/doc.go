// Package syntax holds compiled state machines of SM4C: states, transitions, actions, events, functions and their
// expressions. The checker builds a [Machine], the interpreter runs it, and it does not change in between.
package syntax
