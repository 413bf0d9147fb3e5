package casetest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/storage"
)

// epoch is the first moment of virtual time.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// usualStart is when the run of a case starts, unless the case sets another time.
var usualStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Read reads a case file. If the file is not valid, the error is [FileErrors].
func Read(name string) (*File, error) {
	text, err := limitedfile.Read(name, maxFile)
	if err != nil {
		return nil, err
	}
	return read(name, text)
}

// read reads the text of a case file.
func read(name string, text []byte) (*File, error) {
	parse := document.ParseYAML
	if strings.EqualFold(filepath.Ext(name), ".json") {
		parse = document.ParseJSON
	}
	d := &decoder{file: name}
	doc, err := parse(text)
	if broken, ok := errors.AsType[*document.Error](err); ok {
		d.failf(broken.Place, "%s", broken.Problem)
		return nil, d.problems
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := d.readFile(doc)
	if f.Definition == "" && len(d.problems) == 0 {
		base := name[:strings.LastIndex(name, ".test.")]
		if f.Definition = definition.FileOf(base, name); f.Definition == "" {
			d.failf(doc.Place, "there is no definition %s.asl.json or the like beside this file; name its file with definition:",
				base)
		}
	}
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	return f, nil
}

func (d *decoder) readFile(doc *document.Document) *File {
	f := &File{Name: d.file}
	all := &Case{Mocks: map[string][]Answer{}, Undo: map[string][]Answer{}}
	var cases *document.Document
	d.object(doc, "a case file", fields{
		// file of the definition, if its name differs
		"definition": func(v *document.Document) {
			f.Definition = filepath.Join(filepath.Dir(d.file), filepath.FromSlash(d.text(v, "definition")))
		},
		// folders that stand for the buckets of distributed Maps, by their names
		"buckets": func(v *document.Document) { f.Buckets = d.buckets(v) },
		// answers of tasks for all cases; a case replaces the answers of a name
		"mocks": func(v *document.Document) { d.answers(v, "mocks", all.Mocks) },
		// answers of the tasks that undo, for all cases
		"undo": func(v *document.Document) { d.answers(v, "undo", all.Undo) },
		// the cases
		"cases": func(v *document.Document) { cases = v },
	})
	if cases == nil {
		d.failf(doc.Place, "a case file needs cases")
		return f
	}
	names := map[string]bool{}
	d.each(cases, "cases", func(v *document.Document) {
		c := d.readCase(v, all)
		switch {
		case c.Name == "" && v.Kind == document.Object:
			d.failf(v.Place, "a case needs a name")
		case names[c.Name] && c.Name != "":
			d.failf(v.Place, "there are two cases named %q", c.Name)
		}
		names[c.Name] = true
		f.Cases = append(f.Cases, c)
	})
	return f
}

func (d *decoder) buckets(doc *document.Document) map[string]string {
	folders := map[string]string{}
	if doc.Kind != document.Object {
		d.failf(doc.Place, "buckets must be an object of folders by the names of buckets")
		return nil
	}
	for _, m := range doc.Members {
		folder := filepath.Join(filepath.Dir(d.file), filepath.FromSlash(d.text(m.Value, "a bucket")))
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			d.failf(m.Value.Place, "there is no folder %s", folder)
		}
		folders[m.Name] = folder
	}
	return folders
}

// readCase reads a case. Its mocks replace the mocks of all cases name by name.
func (d *decoder) readCase(doc *document.Document, all *Case) *Case {
	c := &Case{
		At: doc.Place, Start: usualStart, Limit: usualLimit, Mocks: maps.Clone(all.Mocks), Undo: maps.Clone(all.Undo),
	}
	c.Expect.At = doc.Place
	d.object(doc, "a case", fields{
		// unique in the file
		"name": func(v *document.Document) { c.Name = d.text(v, "name") },
		// input of the run, by default `{}`
		"input": func(v *document.Document) { c.Input = valueOf(v) },
		// virtual time of the start, by default 2026-01-01T00:00:00Z
		"start": func(v *document.Document) { c.Start = d.start(v) },
		// a run that has not ended after this virtual time is WAITING, by default one year
		"limit": func(v *document.Document) { c.Limit = d.duration(v, "limit") },
		// answers of tasks, by state, SM4C function or action, or task name
		"mocks": func(v *document.Document) { d.answers(v, "mocks", c.Mocks) },
		// answers of the tasks that undo, by default success
		"undo": func(v *document.Document) { d.answers(v, "undo", c.Undo) },
		// what is sent to the run
		"signals": func(v *document.Document) {
			d.each(v, "signals", func(v *document.Document) { c.Signals = append(c.Signals, d.signal(v)) })
		},
		// what must happen; without `status` and `error`, the run must succeed
		"expect": func(v *document.Document) { d.expectation(v, &c.Expect) },
	})
	return c
}

// answers reads the answers of mocks by their names.
func (d *decoder) answers(doc *document.Document, what string, into map[string][]Answer) {
	if doc.Kind != document.Object {
		d.failf(doc.Place, "%s must be an object of answers by the names of states, functions or tasks", what)
		return
	}
	for _, m := range doc.Members {
		answers := []Answer{}
		if m.Value.Kind != document.List {
			answers = append(answers, d.answer(m.Value))
		} else {
			d.each(m.Value, "the answers of "+m.Name,
				func(v *document.Document) { answers = append(answers, d.answer(v)) })
		}
		for i := range answers[:max(len(answers)-1, 0)] { // the last answer is for all further calls
			if answers[i].Times == 0 && answers[i].When == nil {
				answers[i].Times = 1
			}
		}
		into[m.Name] = answers
	}
}

func (d *decoder) answer(doc *document.Document) Answer {
	a := Answer{At: doc.Place, Result: atom.Null}
	if doc.Kind == document.Literal && doc.Text == "null" {
		return a
	}
	var hasResult bool
	var code, cause string
	d.object(doc, "an answer", fields{
		// result of the task
		"result": func(v *document.Document) { a.Result, hasResult = valueOf(v), true },
		// code of the failure of the task
		"error": func(v *document.Document) { code = d.text(v, "error") },
		// message of that failure
		"cause": func(v *document.Document) { cause = d.text(v, "cause") },
		// virtual time that the task takes. For a task with a token or an activity, the time until the answer
		"after": func(v *document.Document) { a.After = d.duration(v, "after") },
		// `true`: no answer comes
		"never": func(v *document.Document) { a.Never = d.never(v) },
		// number of calls that get this answer
		"times": func(v *document.Document) {
			if a.Times = d.times(v); a.Times == 0 {
				d.failf(v.Place, "times must be at least 1")
			}
		},
		// only for inputs that have at least this
		"when": func(v *document.Document) { a.When = v },
	})
	switch {
	case hasResult && code != "", a.Never && (hasResult || code != ""):
		d.failf(doc.Place, "an answer has one of result, error and never")
	case cause != "" && code == "":
		d.failf(doc.Place, "cause goes with error, which names the failure")
	}
	if code != "" {
		a.Failure = atom.Errorf(code, "%s", cause)
	}
	return a
}

func (d *decoder) signal(doc *document.Document) Signal {
	s := Signal{Message: storage.Message{Kind: grow.MessageSignal, Body: atom.Null}}
	var event *document.Document
	d.object(doc, "a signal", fields{
		// name of the signal or event
		"name": func(v *document.Document) { s.Message.Name = d.text(v, "name") },
		// virtual time since the start of the run
		"after": func(v *document.Document) { s.After = d.duration(v, "after") },
		// data of the signal
		"data": func(v *document.Document) { s.Message.Body = valueOf(v) },
		// a CloudEvent, in place of `name` and `data`
		"event": func(v *document.Document) { event = v },
	})
	switch {
	case event != nil && s.Message.Name != "":
		d.failf(doc.Place, "a signal has a name, or is an event, which has its own type")
	case event != nil:
		e, err := cloudevents.Parse(valueOf(event).JSON())
		if err != nil {
			d.failf(event.Place, "the event is not a CloudEvent: %v", err)
			return s
		}
		s.Event = &e
	case s.Message.Name == "" && doc.Kind == document.Object:
		d.failf(doc.Place, "a signal needs a name, or an event")
	}
	return s
}

func (d *decoder) expectation(doc *document.Document, e *Expectation) {
	e.At = doc.Place
	keep := func(to **document.Document) func(*document.Document) { return func(v *document.Document) { *to = v } }
	names := func(what string, to **document.Document) func(*document.Document) {
		return func(v *document.Document) {
			d.each(v, what, func(v *document.Document) { d.text(v, "a name in "+what) })
			*to = v
		}
	}
	d.object(doc, "expect", fields{
		// `SUCCESS`, `FAILURE`, `REVERTED` or `WAITING`
		"status": func(v *document.Document) { e.Status = d.status(v) },
		// code of the failure of the run
		"error": func(v *document.Document) { d.text(v, "error"); e.Error = v },
		// message of that failure
		"cause": func(v *document.Document) { d.text(v, "cause"); e.Cause = v },
		// equals the output
		"output": keep(&e.Output),
		// the output has at least these members
		"includes": keep(&e.Includes),
		// states that the run enters, in order
		"path": names("path", &e.Path),
		// states whose work is undone, in order
		"undone": names("undone", &e.Undone),
		// virtual time of the run
		"duration": func(v *document.Document) { d.duration(v, "duration"); e.Duration = v },
		// calls of tasks. The listed calls of a state are all its calls
		"calls": func(v *document.Document) {
			d.each(v, "calls", func(v *document.Document) { e.Calls = append(e.Calls, d.call(v)) })
		},
	})
}

func (d *decoder) call(doc *document.Document) Call {
	c := Call{At: doc.Place, Times: 1}
	d.object(doc, "a call", fields{
		// state, function or task
		"state": func(v *document.Document) { c.State = d.text(v, "state") },
		// number of calls in succession; 0 means none
		"times": func(v *document.Document) { c.Times = d.times(v) },
		// equals the input of the task
		"input": func(v *document.Document) { c.Input = v },
		// the input has at least these members
		"includes": func(v *document.Document) { c.Includes = v },
	})
	if c.State == "" && doc.Kind == document.Object {
		d.failf(doc.Place, "a call needs a state: the name of a state, a function or a task")
	}
	return c
}
