// Package faultstore passes calls on to a store, and makes chosen calls fail, wait, or lose their answer. It tests code
// that uses a store.
package faultstore
