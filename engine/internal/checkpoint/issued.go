package checkpoint

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// Issued remembers which messages are commands of people. When the run takes such a message, its history says who gave
// the command, in the same commit.
func (d *Draft) Issued(messages []storage.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Issuer == nil {
			continue
		}
		if d.issued == nil {
			d.issued = map[int64]storage.Entry{}
		}
		d.issued[m.N] = CommandEntry(m)
	}
}

// CommandEntry returns the line of the history for a message that has an issuer.
func CommandEntry(m *storage.Message) storage.Entry {
	e := storage.Entry{Kind: storage.EntryCommand, Type: string(m.Kind), Path: m.Path, Issuer: m.Issuer}
	switch {
	case m.Kind == flow.MessageSignal:
		e.Path = m.Name
	case m.Kind == storage.MessageToken && m.Failure != nil:
		e.Type = "fail"
	case m.Kind == storage.MessageToken:
		e.Type = "complete"
	}
	return e
}

// Refused makes the history say that a command was refused, when its message is taken.
func (d *Draft) Refused(n int64, why error) {
	if e, is := d.issued[n]; is {
		e.Failure = &atom.Failure{Code: atom.CodeRefused, Message: why.Error()}
		d.issued[n] = e
	}
}

// told adds the line of a command whose message is taken.
func (d *Draft) told(n int64) {
	e, is := d.issued[n]
	if !is {
		return
	}
	delete(d.issued, n)
	line := d.line(storage.EntryCommand)
	e.Seq, e.Time = line.Seq, line.Time
	*line = e
	if !d.quiet {
		d.wrote(len(e.Path) + len(e.Type) + len(e.Issuer.Name))
	}
}
