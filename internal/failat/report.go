package failat

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/states"
)

// mostChanges is the maximum number of differences in a report.
const mostChanges = 8

// A Finding says what is wrong with a case.
type Finding struct {
	Case    string       // name of the case
	Story   string       // what the script did
	What    string       // what is wrong with the run
	State   states.Flow  // how the run ended
	End     bool         // the end of the run itself is wrong
	Changes []Difference // where the world is wrong
	Text    string       // the full text, for people
}

// A Difference is a place of the world that is wrong.
type Difference struct{ Place, Want, Got string }

// find describes what is wrong with a case.
func (x *Explorer) find(c Case, w *wrong, p *played) *Finding {
	f := &Finding{Case: c.Name, Story: c.story(), What: w.what, State: p.run.State, End: w.end, Text: x.report(c, w, p)}
	for _, change := range w.changes {
		f.Changes = append(f.Changes, Difference{change.place, change.from, change.to})
	}
	return f
}

// report describes what is wrong with a case. It shortens what an earlier report said.
func (x *Explorer) report(c Case, w *wrong, p *played) string {
	guilty := culprits(p, w.changes)
	var b strings.Builder
	b.WriteString(c.story())
	b.WriteString("\n")
	b.WriteString(w.what)
	blame := blameText(guilty)
	if told, ok := x.told[blame]; ok && len(guilty) > 0 {
		b.WriteString(", as in FailAt/" + told + ".\n" + blame)
		return b.String()
	}
	x.told[blame] = c.Name
	if len(w.changes) > 0 {
		b.WriteString(" (" + w.sides + "):\n\n")
		b.WriteString(table(w.changes, p))
	} else {
		b.WriteString(".\n")
	}
	b.WriteString("\n" + undoing(p) + blame)
	return b.String()
}

// story says what the script did.
func (c Case) story() string {
	var parts []string
	if c.script.fault != (fault{}) {
		parts = append(parts, c.script.fault.String()+".")
	}
	if c.script.cut > 0 {
		parts = append(parts, "The process died "+c.at.String()+"; another went on with the run.")
	}
	return strings.Join(parts, " ")
}

// table shows changes, one a line. If there is a traced run, the line below each change
// names the atom that made it.
func table(changes []change, p *played) string {
	var lines [][2]string
	for i, c := range changes {
		if i == mostChanges {
			lines = append(lines, [2]string{fmt.Sprintf("and %d more", len(changes)-i)})
			break
		}
		lines = append(lines, [2]string{c.place, c.from + " → " + c.to})
		if p != nil {
			lines = append(lines, trail(c.place, p)...)
		}
	}
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l[0]))
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(fmt.Sprintf("    %-*s  %s", width, l[0], l[1]), " ") + "\n")
	}
	return b.String()
}

// trail lists the calls that concern a place, and what each did to it.
func trail(place string, p *played) [][2]string {
	var lines [][2]string
	process := 0
	for _, st := range p.steps {
		touched := slices.ContainsFunc(p.steps, func(s *step) bool { return s.Path == st.Path && s.changes(place) })
		if !touched {
			continue
		}
		if st.process > process {
			process = st.process
			lines = append(lines, [2]string{"    (the process died)"})
		}
		what := "left it"
		if st.changes(place) {
			what = st.before.at(place) + " → " + st.end.at(place)
		}
		var notes []string
		if st.told != "" {
			notes = append(notes, "told "+st.told)
		}
		if st.err != nil {
			notes = append(notes, "failed")
		}
		if len(notes) > 0 {
			what += " (" + strings.Join(notes, ", ") + ")"
		}
		lines = append(lines, [2]string{"    " + st.String(), what})
	}
	return lines
}

// undoing says what was undone, in order, and which atoms cannot be undone.
func undoing(p *played) string {
	var undone, plain []string
	for _, st := range p.steps {
		switch {
		case st.Revert && st.err != nil:
			undone = append(undone, fmt.Sprintf("%s (told %s; it failed)", st.atom(), st.told))
		case st.Revert:
			undone = append(undone, fmt.Sprintf("%s (told %s)", st.atom(), st.told))
		case !p.reverts[st.Path] && !slices.Contains(plain, st.Path):
			plain = append(plain, st.Path)
		}
	}
	if len(undone) == 0 && (len(plain) == 0 || p.run.State == states.FlowSuccess) {
		return ""
	}
	text := "Undone, in this order: " + OrNone(undone) + ".\n"
	if len(plain) > 0 {
		text += "Without a Revert: " + strings.Join(plain, ", ") + ".\n"
	}
	return text
}

// OrNone lists names, or says that there are none.
func OrNone(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// blameText names the culprits.
func blameText(guilty []culprit) string {
	switch len(guilty) {
	case 0:
		return "No call was seen to do what it must not. If only a key, an id or a time differs, State should leave it out."
	case 1:
		return "Likely culprit: " + guilty[0].text
	default:
		var b strings.Builder
		b.WriteString("Likely culprits:")
		for i, c := range guilty {
			fmt.Fprintf(&b, "\n  %d. %s", i+1, c.text)
		}
		return b.String()
	}
}
