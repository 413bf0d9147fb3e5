// Package faultstore passes calls on to a store, and lets chosen calls fail, wait, or lose their answer. It is for
// tests of what runs on a store.
package faultstore
