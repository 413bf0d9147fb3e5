package storage

import (
	"fmt"
	"strings"
	"unicode/utf8"
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
