package atom

import (
	"context"
	"fmt"
	"regexp"
)

// Traceparent returns the W3C traceparent with which the run that ctx belongs to
// was started with. The task passes it to the services that it calls. Traceparent
// returns "" if there is none.
func Traceparent(ctx context.Context) string { return CurrentCall(ctx).Trace }

// traceparents matches version 00, and later versions that begin like version 00 (W3C
// Trace Context, 3.2): version, trace id, parent id, flags.
var traceparents = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]{0,100})?$`)

// CheckTraceparent returns an error that gives the reason if a text is not a
// traceparent of W3C Trace Context.
//
//limit:values traceparent (`atom.CheckTraceparent`) | version 00; later versions 100 B more
func CheckTraceparent(text string) error {
	const noTrace, noParent = "00000000000000000000000000000000", "0000000000000000"
	parts := traceparents.FindStringSubmatch(text)
	switch {
	case parts == nil || parts[1] == "ff" || parts[1] == "00" && parts[4] != "":
		return fmt.Errorf("%.60q is no traceparent: one is like 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			text)
	case parts[2] == noTrace || parts[3] == noParent:
		return fmt.Errorf("the traceparent %s names no trace: neither of its ids may be all zero", text)
	}
	return nil
}
