package driver

import (
	"math"
	"slices"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// endAccepted closes the tokens of a run that is about to be stopped, and applies the ends that were accepted before.
// So the language of the run hears of them, and of calls that have just ended, before it hears of the stop. Work that
// no worker has taken is withdrawn with the stop.
func (d *Driver) endAccepted() error {
	if err := d.hearOpen(); err != nil {
		return err
	}
	return d.decide()
}

// hearBeforeDeadline applies what was accepted while no process drove a run that is overdue.
func (d *Driver) hearBeforeDeadline() error {
	if err := d.follow(math.MaxInt64); err != nil || d.cycle.over != nil {
		return err
	}
	return d.hearOpen()
}

// hearOpen closes the tokens, and applies the ends that were accepted before.
func (d *Driver) hearOpen() error {
	given := d.closeTokens()
	if len(given) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.hearEnds(given)
}

// closeTokens closes the tokens with the next commit. It returns their attempts.
func (d *Driver) closeTokens() (given []withdrawn) {
	for _, e := range d.tokens.open {
		isOpen := e.token.State == storage.TokenOpen // otherwise its end is in the inbox, perhaps behind what stops the run
		if e.token.ID == "" || e.timerKey == nobodys || d.tokens.record(e).State != states.TaskRunning ||
			isOpen && e.token.Queue != "" && e.token.Take == 0 {
			continue // also the token of a revert
		}
		if isOpen {
			d.tokens.void(e)
		}
		given = append(given, withdrawn{e, e.timerKey})
	}
	return given
}

// hearEnds applies the messages that end attempts which are given up, also behind a command: these ends were accepted
// before.
func (d *Driver) hearEnds(given []withdrawn) error {
	for more := true; more; {
		var err error
		if more, err = d.look(); err != nil {
			return err
		}
	}
	for _, w := range given {
		if w.external != nil && w.early != nil {
			d.box.queue = append(d.box.queue, *w.early)
		}
	}
	for i := 0; i < len(d.box.queue); {
		l := d.box.queue[i]
		e := d.tokens.byToken(&l)
		if l.Kind != storage.MessageToken {
			e = d.tokens.bySignal(&l)
		}
		if e == nil || !slices.ContainsFunc(given, func(w withdrawn) bool { return w.external == e }) {
			i++
			continue
		}
		d.box.queue = slices.Delete(slices.Clone(d.box.queue), i, i+1)
		if err := (ending{d}).endExternal(e, &l); err != nil {
			return err
		}
	}
	return nil
}
