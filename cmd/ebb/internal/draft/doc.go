// Package draft checks, draws and tries the definitions that people write in the console, and that programs send to the
// API. They come from the network, so they open no file and name nothing that the operator does not name.
package draft
