package engine

import (
	"maps"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// letterChild is the kind of the letter by which a run tells the one that began
// it that it has ended: Name is its id, Body its output, Failure why it did not
// succeed.
const letterChild = "child"

// readLetters takes in what came since the box was last looked at.
func (d *driver) readLetters() error {
	bell, letters, err := d.e.store.Bell(d.storing, d.claim.Run)
	if err != nil {
		return d.storeError(err)
	}
	d.bell = bell
	return d.follow(letters)
}

// follow does what the letters say that were not looked at before. What nobody
// waits for yet stays in the box.
func (d *driver) follow(letters []storage.Letter) error {
	defer d.attend()()
	for i := range letters {
		l := &letters[i]
		if d.seen[l.N] {
			continue
		}
		d.see(l.N)
		if err := d.open(l); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) see(n int64) {
	if d.seen == nil {
		d.seen = map[int64]bool{}
	}
	d.seen[n] = true
}

// forgetTaken forgets the messages that the last commit took out of the inbox. Nothing
// reads them again, and a run may receive any number of them.
func (d *driver) forgetTaken() {
	for _, n := range d.cp.Taken {
		delete(d.seen, n)
	}
}

// taken takes a letter out of the box with the next commit.
func (d *driver) taken(n int64) {
	if n > 0 {
		d.cp.Taken = append(d.cp.Taken, n)
		d.dirty = true
	}
}

// open does what one letter says.
func (d *driver) open(l *storage.Letter) error {
	if o, ok := ordered(l); ok {
		so, tell, err := d.accept(&o, l.N)
		if tell {
			err = d.feed(scheduler.Event{Kind: scheduler.Ordered, Order: &so})
		}
		return err
	}
	switch l.Kind {
	case storage.LetterToken:
		e := d.elsewhere[l.Path]
		if e == nil || e.token.ID != l.Name {
			d.taken(l.N) // its attempt is over
			return nil
		}
		_, err := d.endElsewhere(e, l)
		return err
	case storage.LetterTaken, storage.LetterRetaken:
		return d.workTaken(l)
	case letterChild:
		return d.childEnded(l)
	default:
		return d.told(l)
	}
}

// workTaken counts from now on what counts from when a worker has taken the work of
// an attempt, and tells that to a language whose node it is.
func (d *driver) workTaken(l *storage.Letter) error {
	e := d.elsewhere[l.Path]
	if e == nil || e.token.ID != l.Name {
		d.taken(l.N)
		return nil
	}
	if err := d.lookAt(e); err != nil {
		return err
	}
	d.watchToken(e)
	if l.Kind != storage.LetterTaken || queueOf(e.node) == "" {
		d.taken(l.N)
		return nil
	}
	cause := &flow.Cause{Kind: flow.Taken, Name: e.node.Spec.Name, Note: e.node.Spec.Note, Attempt: int(e.node.Rec.Attempt), Result: l.Body}
	var worker string
	if err := l.Body.Decode(&worker); err == nil && worker == anonymous {
		cause.Result = atom.MustEncode("")
	}
	return d.feed(scheduler.Event{Kind: scheduler.Told, N: l.N, Node: e.node, Cause: cause})
}

// told passes on what the run was told by anyone: to the language of a growing
// flow, or to the atom that waits for the signal.
func (d *driver) told(l *storage.Letter) error {
	if d.grows() {
		if !d.s.Listens() {
			d.unread = append(d.unread, *l)
			return nil
		}
		cause := &flow.Cause{Kind: flow.Told, Letter: l.Kind, Name: l.Name, Result: l.Body, Failure: l.Failure}
		return d.feed(scheduler.Event{Kind: scheduler.Told, N: l.N, Cause: cause})
	}
	for _, e := range d.elsewhere {
		if l.Kind == storage.LetterSignal && e.signal != "" && e.signal == l.Name {
			took, err := d.endElsewhere(e, l)
			if took || err != nil {
				return err
			}
		}
	}
	d.unread = append(d.unread, *l)
	return nil
}

// rereadLetters looks again at those that nobody waited for.
func (d *driver) rereadLetters() error {
	if len(d.unread) == 0 {
		return nil
	}
	defer d.attend()()
	unread := d.unread
	d.unread = nil
	for i := range unread {
		if err := d.told(&unread[i]); err != nil {
			return err
		}
	}
	return nil
}

// settle decides, and lets atoms that have begun to wait find what had come for
// them before.
func (d *driver) settle() error {
	for {
		d.awaited = false
		if err := d.decide(); err != nil {
			return err
		}
		if !d.awaited {
			return nil
		}
		if err := d.rereadLetters(); err != nil {
			return err
		}
	}
}

// tell sends what a language wants others to know, with the next commit.
func (d *driver) tell(cmd *scheduler.Command) {
	d.dirty = true
	for _, m := range cmd.Letters {
		d.cp.Letters = append(d.cp.Letters, storage.Letter{
			Run: m.To, Kind: m.Kind, Name: m.Name, Key: d.keyFor(&m), Body: m.Body, Sent: d.now,
		})
	}
	for _, m := range cmd.Out {
		d.cp.Outbox = append(d.cp.Outbox, storage.Outgoing{ID: d.keyFor(&m), Run: d.claim.Run, Target: m.To, Body: m.Body})
	}
}

// label sets labels of the run, with the next commit.
func (d *driver) label(cmd *scheduler.Command) {
	d.dirty = true
	if d.cp.Labels == nil {
		d.cp.Labels = map[string]string{}
	}
	maps.Copy(d.cp.Labels, cmd.Labels)
}

// keyFor returns the message's own key, or one that no other message has: it is
// given once, and stored with the message.
func (d *driver) keyFor(m *flow.Message) string {
	if m.Key != "" {
		return m.Key
	}
	return newToken()
}

// firstOrder returns the order that a run is to begin with, if one waits for it,
// and the other letters. What wanted the run suspended before it is void.
func (d *driver) firstOrder(letters []storage.Letter) (*scheduler.Order, []storage.Letter, error) {
	var others []storage.Letter // without those that were refused
	for i := range letters {
		o, ok := ordered(&letters[i])
		if !ok || o.kind == letterSuspend {
			others = append(others, letters[i])
			continue
		}
		d.see(letters[i].N)
		so, tell, err := d.accept(&o, letters[i].N)
		if tell || err != nil {
			return &so, append(d.lifted(others), letters[i+1:]...), err
		}
	}
	return nil, others, nil
}

// lifted takes the wishes to suspend the run out of its box, and returns the
// other letters.
func (d *driver) lifted(letters []storage.Letter) []storage.Letter {
	var rest []storage.Letter
	for i := range letters {
		if letters[i].Kind == letterSuspend {
			d.taken(letters[i].N)
		} else {
			rest = append(rest, letters[i])
		}
	}
	return rest
}
