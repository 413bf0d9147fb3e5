package driver

import (
	"maps"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/storage"
)

// tell sends a language's messages to other runs and to targets outside the database, with the next commit.
func (r *run) tell(cmd *scheduler.Command) {
	r.Draft.Dirty = true
	for _, m := range cmd.Messages {
		l := storage.Message{
			Run: m.To, ToKey: m.ToKey, Kind: m.Kind, Name: m.Name, Key: r.keyFor(&m), Body: m.Body, From: r.Claim.Run,
		}
		if m.Receipt != "" {
			l.Receipt, l.Note = m.Receipt, m.Note
		}
		r.Draft.Send(l)
	}
	for _, m := range cmd.Out {
		r.Draft.Outbox = append(r.Draft.Outbox, storage.Outgoing{
			ID: r.keyFor(&m), Run: r.Claim.Run, Target: m.To,
			Body: m.Body,
		})
	}
}

// label sets labels of the run, with the next commit.
func (r *run) label(cmd *scheduler.Command) {
	r.Draft.Dirty = true
	if r.Draft.Labels == nil {
		r.Draft.Labels = map[string]string{}
	}
	maps.Copy(r.Draft.Labels, cmd.Labels)
}

// keyFor returns the message's own key, or a new unique key. The message is stored with its key, so another attempt
// to send it has the same key.
func (r *run) keyFor(m *grow.Message) string {
	if m.Key != "" {
		return m.Key
	}
	return tasktoken.New()
}
