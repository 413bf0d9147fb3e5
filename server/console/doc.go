// Package console serves pages that show runs to people: what needs a person now, what a run does and waits for, and
// what was undone. With the REST API the pages also have a form for each command. They work without scripts, below any
// path and behind a proxy, and say what the functions of package inspect say, as the command does.
package console
