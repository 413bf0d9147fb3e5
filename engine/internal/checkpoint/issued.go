package checkpoint

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Issued remembers which messages are commands of people. The history says who gave such a command when the run accepts
// or refuses it, or takes the message.
func (d *Draft) Issued(messages []storage.Message) {
	for i := range messages {
		m := &messages[i]
		if m.Name != "" && backend.IsCommand(m) {
			if d.answers == nil {
				d.answers = map[int64]string{}
			}
			d.answers[m.N] = m.Name
		}
		if m.Issuer == nil || d.listed[m.N] {
			continue
		}
		if d.issued == nil {
			d.issued = map[int64]storage.Entry{}
		}
		d.issued[m.N] = CommandEntry(m)
	}
}

// Listed remembers that the history already has the line of a message, because a former owner of the run accepted the
// command and died before the command was done.
func (d *Draft) Listed(n int64) {
	if d.listed == nil {
		d.listed = map[int64]bool{}
	}
	d.listed[n] = true
	delete(d.issued, n)
}

// CommandEntry returns the line of the history for a message that has an issuer.
func CommandEntry(m *storage.Message) storage.Entry {
	e := storage.Entry{
		Kind: storage.EntryCommand, Type: string(m.Kind), Path: m.Path, Number: m.N, Issuer: m.Issuer,
	}
	switch {
	case m.Kind == backend.MessageRefused:
		e.Type, e.Failure = m.Name, m.Failure
	case m.Kind == grow.MessageSignal:
		e.Path = m.Name
	case m.Kind == backend.MessageToken && m.Failure != nil:
		e.Type = "fail"
	case m.Kind == backend.MessageToken:
		e.Type = "complete"
	}
	return e
}

// Answer returns the token with the answer to a command: it was accepted, or refused with an error.
func Answer(id string, refusal error) storage.Token {
	t := storage.Token{ID: id, State: storage.TokenCompleted}
	if refusal != nil {
		t.State, t.Failure = storage.TokenFailed, &atom.Failure{Code: atom.CodeRefused, Message: refusal.Error()}
	}
	return t
}

// Judged answers a command that the run accepts, or refuses with an error, and adds its line, in the commit with its
// first effect. It does so once. It adds no line if the issuer of the command is not known, or the history has the
// line.
func (d *Draft) Judged(n int64, refusal error) {
	if id := d.answers[n]; id != "" {
		delete(d.answers, n)
		d.Token(Answer(id, refusal))
	}
	e, is := d.issued[n]
	if !is {
		return
	}
	delete(d.issued, n)
	if refusal != nil {
		e.Failure = &atom.Failure{Code: atom.CodeRefused, Message: refusal.Error()}
	}
	d.Command(e)
}

// Command adds the line of a command. The draft sets its number and time.
func (d *Draft) Command(e storage.Entry) {
	d.Dirty = true
	line := d.line(storage.EntryCommand)
	e.Seq, e.Time = line.Seq, line.Time
	*line = e
	if !d.quiet {
		d.wrote(len(e.Path) + len(e.Type) + len(e.Issuer.Name))
	}
}
