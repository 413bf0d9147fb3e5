package atom

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/gojson"
	"github.com/ebbflow/ebb/internal/jsonschema"
)

// Mistakes returns what is wrong with the atom itself: options without meaning, and a result that JSON cannot encode.
// Each is a sentence without a subject, which is the atom. flow.Compile reports them.
func (a *Atom) Mistakes() []string {
	var found []string
	wrong := func(is bool, format string, args ...any) {
		if is {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	wrong(a.awaits && a.signal == "", "awaits a signal without a name; give atom.Awaits the name that its sender uses")
	wrong(a.noEffect && a.Reverts() && a.kind == KindTask,
		"has atom.NoEffect and a Revert; leave out atom.NoEffect if there is something to undo, or else the Revert")
	for _, of := range []struct {
		option string
		is     time.Duration
	}{
		{"atom.Timeout", a.timeout},
		{"atom.ScheduleToStart", a.toStart},
		{"atom.StartToClose", a.toClose},
		{"atom.RevertTimeout", a.revert.Timeout},
		{"the Deadline of its atom.Deferral", a.deferrals().Deadline},
		{"the Heartbeat of its atom.Deferral", a.deferrals().Heartbeat},
	} {
		wrong(of.is < 0, "has %v as %s; want a positive duration, or leave it out for no limit", of.is, of.option)
	}
	wrong(a.attempts != nil && a.attempts.Attempts < 1,
		"has %d as atom.Attempts; want at least 1, which is the first attempt", attemptsOf(a.attempts))
	backoffs := map[string]Backoff{"atom.RevertAttempts": a.revert.Backoff}
	if a.attempts != nil {
		backoffs["atom.Attempts"] = a.attempts.Backoff
	}
	if c, ok := a.control.(times); ok {
		backoffs["atom.Times"] = c.backoff
	}
	for _, of := range slices.Sorted(maps.Keys(backoffs)) {
		is := backoffs[of].mistake()
		wrong(is != "", "has in the atom.Backoff of %s %s", of, is)
	}
	wrong(a.revert.Attempts < 0, "has %d as atom.RevertAttempts; want at least 1, which is the first attempt",
		a.revert.Attempts)
	if t := a.ResultType(); t != nil {
		part := unencodable(t, nil)
		wrong(part != "", "returns a %v, which cannot be stored, as JSON cannot encode %s; return data", t, part)
		part = gojson.Undecodable(t)
		wrong(part != "", "returns a %v, which cannot be read again, as JSON cannot decode %s; return data", t, part)
	}
	if t, ok := a.body.(interface{ emptyInput() reflect.Type }); ok && t.emptyInput() != nil {
		wrong(true, "takes a %v, which has no exported fields, so it gets nothing; export them, or take struct{}",
			t.emptyInput())
	}
	for _, arg := range slices.Concat(a.args, a.revertArgs) {
		if arg.Type != nil {
			part := gojson.Undecodable(arg.Type)
			wrong(part != "", "takes %q as a %v, but JSON cannot decode %s; take data", arg.Symbol, arg.Type, part)
		}
	}
	if c, ok := a.control.(forEach); ok && c.typ != nil {
		part := gojson.Undecodable(c.typ)
		wrong(part != "", "tries values of type %v, but JSON cannot decode %s; try data", c.typ, part)
	}
	return found
}

func attemptsOf(p *AttemptPolicy) int {
	if p == nil {
		return 1
	}
	return p.Attempts
}

func (a *Atom) deferrals() Deferral {
	if a.deferral == nil {
		return Deferral{}
	}
	return *a.deferral
}

// unencodable names the part of a type for which JSON has no encoding, whatever its value; "" if there is none. Within
// are the types around t.
func unencodable(t reflect.Type, within []reflect.Type) string {
	if jsonschema.HasOwnEncoding(t) {
		return ""
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return t.String()
	case reflect.Map:
		if key := t.Key(); !encodesAsKey(key) {
			return "a map with keys of type " + key.String()
		}
	case reflect.Struct:
		return unencodableField(t, within)
	case reflect.Pointer, reflect.Slice, reflect.Array:
	default:
		return ""
	}
	if len(within) > 0 { // in a struct, it may always be empty
		if t.Kind() == reflect.Array && t.Len() > 0 {
			return unencodable(t.Elem(), within)
		}
		return ""
	}
	return unencodable(t.Elem(), []reflect.Type{t})
}

// unencodableField is unencodable for the fields of a struct.
func unencodableField(t reflect.Type, within []reflect.Type) string {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if !f.IsExported() || tag == "-" || strings.Contains(tag, ",omitzero") {
			continue
		}
		if part := unencodable(f.Type, append(slices.Clip(within), t)); part != "" {
			return part + " in the field " + f.Name
		}
	}
	return ""
}

// encodesAsKey reports whether a type can be the key of a JSON object.
func encodesAsKey(t reflect.Type) bool {
	k := t.Kind()
	return k == reflect.String || k >= reflect.Int && k <= reflect.Uintptr || jsonschema.HasOwnEncoding(t) ||
		k == reflect.Interface
}
