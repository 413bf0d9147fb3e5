package storage

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// The limits of what stores accept.
const (
	MaxID = 256 // bytes of an id of a run, job or token, and of a message's key
	// MaxScheduleID is how many bytes the id of a schedule has: those of its jobs are
	// that and a time.
	MaxScheduleID = 200

	MaxLabel = 256  // bytes of a label's key, and of its value
	MaxKey   = 4096 // bytes of the key of a transaction

	MaxSecrets = 1000 // names of secrets of a run
	MaxSecret  = 4096 // bytes of each
)

// Check returns ErrInvalid, saying what is wrong, when the run cannot be
// created as it is.
func (r *Run) Check() error {
	switch {
	case r.ID == "":
		return fmt.Errorf("%w: a run needs an id", ErrInvalid)
	case len(r.ID) > MaxID:
		return fmt.Errorf("%w: the run's id %.20q… is longer than %d bytes", ErrInvalid, r.ID, MaxID)
	case r.Input.Ref != 0:
		return fmt.Errorf("%w: run %q: its input refers to payload %d, but a new run has none", ErrInvalid, r.ID, r.Input.Ref)
	}
	if err := r.Secrets.check(); err != nil {
		return fmt.Errorf("%w (run %q)", err, r.ID)
	}
	if err := checkTexts(r.ID, r.Flow); err != nil {
		return err
	}
	return checkLabels(r.Labels)
}

// checkTexts returns ErrInvalid for a text that not every database keeps as it is.
func checkTexts(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%w: %.40q is no text: it is not UTF-8, or has a byte that is 0", ErrInvalid, text)
		}
	}
	return nil
}

// CheckLabel returns ErrInvalid, saying what is wrong, when a run cannot have the label.
func CheckLabel(key, value string) error {
	if key == "" || len(key) > MaxLabel || len(value) > MaxLabel {
		return fmt.Errorf("%w: label %.20q: keys have 1 to %d bytes, values up to %d", ErrInvalid, key, MaxLabel, MaxLabel)
	}
	return checkTexts(key, value)
}

func checkLabels(labels map[string]string) error {
	for key, value := range labels {
		if err := CheckLabel(key, value); err != nil {
			return err
		}
	}
	return nil
}

// Check returns ErrInvalid, saying what is wrong, when the job cannot be posted
// as it is.
func (j *Job) Check() error {
	switch {
	case j.ID == "":
		return fmt.Errorf("%w: a job needs an id", ErrInvalid)
	case len(j.ID) > MaxID:
		return fmt.Errorf("%w: the job's id %.20q… is longer than %d bytes", ErrInvalid, j.ID, MaxID)
	}
	if err := checkTexts(j.ID, j.Run, j.Flow); err != nil {
		return err
	}
	if j.Trace != "" {
		if err := atom.CheckTraceparent(j.Trace); err != nil {
			return fmt.Errorf("%w: job %q: %w", ErrInvalid, j.ID, err)
		}
	}
	if err := checkLabels(j.Labels); err != nil {
		return err
	}
	return checkLabels(j.RunLabels)
}

// Check returns ErrInvalid, saying what is wrong, when the message cannot be
// sent as it is.
func (l *Message) Check() error {
	if len(l.Key) > MaxID {
		return fmt.Errorf("%w: the message's key %.20q… is longer than %d bytes", ErrInvalid, l.Key, MaxID)
	}
	return checkTexts(l.Run, l.Kind, l.Name, l.Key)
}

// Check returns ErrInvalid, saying what is wrong, when the checkpoint
// contradicts itself.
func (cp *Checkpoint) Check() error {
	for _, check := range [...]func() error{cp.checkPayloads, cp.checkHistory, cp.checkAtoms, cp.checkUndo, cp.checkOthers} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) checkPayloads() error {
	for i := range cp.Payloads {
		if want := cp.Head.Refs - int64(len(cp.Payloads)-i) + 1; cp.Payloads[i].Ref != want {
			return cp.invalid("payload %d stands where %d should", cp.Payloads[i].Ref, want)
		}
	}
	if cp.Input != nil {
		if err := cp.checkRef("the input", *cp.Input); err != nil {
			return err
		}
	}
	return cp.checkRef("the output", cp.Head.Output)
}

// checkRef refuses a value that refers to a payload which is not there.
func (cp *Checkpoint) checkRef(of string, h Held) error {
	if h.Ref < 0 || h.Ref > cp.Head.Refs {
		return cp.invalid("%s refers to payload %d, but there are %d", of, h.Ref, cp.Head.Refs)
	}
	return nil
}

func (cp *Checkpoint) checkHistory() error {
	seq, number := cp.Head.Entries-int64(len(cp.History)), cp.Head.Events-cp.Events()
	for i := range cp.History {
		e := &cp.History[i]
		if seq++; e.Seq != seq {
			return cp.invalid("history entry %d stands where %d should", e.Seq, seq)
		}
		if e.Kind == EntryEvent {
			if number++; e.Number != number {
				return cp.invalid("event %d stands where %d should", e.Number, number)
			}
		}
		if err := cp.checkRef("a history entry", e.Body); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) checkAtoms() error {
	for i := range cp.Atoms {
		a := &cp.Atoms[i]
		for _, held := range [...]Held{a.Input, a.Note, a.Result, a.RevertResult, {Ref: a.Overflow}} {
			if err := cp.checkRef(a.Path, held); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cp *Checkpoint) checkUndo() error {
	if cp.Pop < 0 {
		return cp.invalid("%d entries of the undo stack are to be popped", cp.Pop)
	}
	for i := range cp.Push {
		if want := cp.Push[0].N + int64(i); cp.Push[i].N != want {
			return cp.invalid("undo %d stands where %d should", cp.Push[i].N, want)
		}
	}
	return nil
}

func (cp *Checkpoint) checkOthers() error {
	if err := checkLabels(cp.Labels); err != nil {
		return err
	}
	for i := range cp.Children {
		if err := cp.Children[i].Check(); err != nil {
			return err
		}
	}
	for i := range cp.Messages {
		if err := cp.Messages[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

func (cp *Checkpoint) invalid(format string, args ...any) error {
	return fmt.Errorf("%w: checkpoint %d: %s", ErrInvalid, cp.Head.Seq+1, fmt.Sprintf(format, args...))
}

// Events returns how many lines of the language's history are in the checkpoint.
func (cp *Checkpoint) Events() int64 {
	n := cp.Untold
	for i := range cp.History {
		if cp.History[i].Kind == EntryEvent {
			n++
		}
	}
	return n
}
