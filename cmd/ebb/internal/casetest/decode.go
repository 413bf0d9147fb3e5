package casetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/internal/spelling"
)

// FileErrors are all problems of a case file, each with its place.
type FileErrors []string

// Error returns the problems, each on a line.
func (p FileErrors) Error() string { return strings.Join(p, "\n") }

// A decoder reads the values of a document and notes what is wrong.
type decoder struct {
	file     string
	problems FileErrors
}

func (d *decoder) failf(at document.Place, format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf("%s:%d:%d: ", d.file, at.Line, at.Column)+fmt.Sprintf(format, args...))
}

// fields maps the members that an object may have to the functions that read them.
type fields map[string]func(*document.Document)

// object reads an object that may have only these members.
func (d *decoder) object(doc *document.Document, what string, known fields) {
	if doc.Kind != document.Object {
		d.failf(doc.Place, "%s must be an object", what)
		return
	}
	seen := map[string]bool{}
	for _, m := range doc.Members {
		read := known[m.Name]
		names := slices.Sorted(maps.Keys(known))
		switch near := spelling.Nearest(m.Name, names); {
		case read == nil && near != "":
			d.failf(m.Place, "%s has no %q (did you mean %s?)", what, m.Name, near)
		case read == nil:
			d.failf(m.Place, "%s has no %q; it has %s", what, m.Name, strings.Join(names, ", "))
		case seen[m.Name]:
			d.failf(m.Place, "%s has %q twice", what, m.Name)
		default:
			seen[m.Name] = true
			read(m.Value)
		}
	}
}

// each reads the items of a list.
func (d *decoder) each(doc *document.Document, what string, read func(*document.Document)) {
	switch {
	case doc.Kind != document.List:
		d.failf(doc.Place, "%s must be a list", what)
	case len(doc.Items) > maxItems:
		d.failf(doc.Place, "%s has %d items; at most %d are allowed", what, len(doc.Items), maxItems)
	default:
		for _, item := range doc.Items {
			read(item)
		}
	}
}

func (d *decoder) text(doc *document.Document, what string) string {
	if doc.Kind != document.Text || doc.Text == "" {
		d.failf(doc.Place, "%s must be a text that is not empty", what)
	}
	return doc.Text
}

// times reads a number of calls.
func (d *decoder) times(doc *document.Document) int {
	n, err := strconv.Atoi(doc.Text)
	if doc.Kind != document.Literal || err != nil || n < 0 || n > maxItems {
		d.failf(doc.Place, "times must be a whole number from 0 to %d", maxItems)
		return 0
	}
	return n
}

func (d *decoder) never(doc *document.Document) bool {
	if doc.Kind != document.Literal || doc.Text != "true" && doc.Text != "false" {
		d.failf(doc.Place, "never must be true or false")
	}
	return doc.Text == "true"
}

func (d *decoder) duration(doc *document.Document, what string) time.Duration {
	span, ok := parseDuration(doc.Text)
	if doc.Kind != document.Text || !ok || span > maxLimit {
		d.failf(doc.Place, "%s must be a length of time such as 90s, 1h30m or 2d, at most 100 years", what)
		return 0
	}
	return span
}

var daysFirst = regexp.MustCompile(`^([0-9]{1,5})d(.*)$`)

// parseDuration reads a length of time that may begin with days.
func parseDuration(text string) (span time.Duration, ok bool) {
	if m := daysFirst.FindStringSubmatch(text); m != nil {
		days, _ := strconv.Atoi(m[1]) // it is digits
		if span, text = time.Duration(days)*24*time.Hour, m[2]; text == "" {
			return span, true
		}
	}
	rest, err := time.ParseDuration(text)
	return span + rest, err == nil && rest >= 0 && span+rest >= span
}

func (d *decoder) start(doc *document.Document) time.Time {
	at, err := time.Parse(time.RFC3339, doc.Text)
	if err != nil || at.Before(epoch) || at.Year() > 2200 {
		d.failf(doc.Place, "start must be a time such as 2026-03-01T09:00:00Z, from the year 2000 to 2200")
		return epoch
	}
	return at
}

// status reads how a run ends.
func (d *decoder) status(doc *document.Document) *document.Document {
	if !slices.Contains(statuses, doc.Text) {
		d.failf(doc.Place, "status must be one of %s", strings.Join(statuses, ", "))
	}
	return doc
}

// valueOf returns the value that a document is.
func valueOf(doc *document.Document) atom.Value {
	text, _ := doc.Print()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return atom.FromJSON(text) // it was written as JSON
	}
	return atom.FromJSON(b.Bytes())
}
