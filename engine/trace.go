package engine

import (
	"fmt"
	"regexp"
)

// Trace begins a run under a W3C traceparent: it is kept with the run, and handed on
// to its tasks, see [atom.Call], and to the runs that it begins. Anything else than
// a traceparent is refused.
func Trace(traceparent string) RunOption {
	return runOption(func(b *beginning) error {
		if err := CheckTrace(traceparent); err != nil {
			return err
		}
		b.run.Trace = traceparent
		return nil
	})
}

// traceparents are those of version 00, and what may be read of later ones (W3C
// Trace Context, 3.2): version, trace id, parent id and flags, of which the ids are
// not all zero.
var traceparents = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[^\s]{0,100})?$`)

// CheckTrace returns an error that says what is wrong when text is no traceparent.
func CheckTrace(text string) error {
	parts := traceparents.FindStringSubmatch(text)
	switch {
	case parts == nil || parts[1] == "ff" || parts[1] == "00" && parts[4] != "":
		return fmt.Errorf("engine: %.60q is no traceparent; one is like 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", text)
	case parts[2] == "00000000000000000000000000000000" || parts[3] == "0000000000000000":
		return fmt.Errorf("engine: the traceparent %s names no trace: its ids must not be all zero", text)
	}
	return nil
}
