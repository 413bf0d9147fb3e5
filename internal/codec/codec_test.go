package codec_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// payloadOf returns the number itself.
func payloadOf(ref int64) (atom.Value, error) { return atom.MustEncode(ref), nil }

func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "zero") {
			return time.Time{}
		}
		return time.UnixMicro(rapid.Int64Range(-1e15, 4e15).Draw(t, "µs")).UTC()
	})
}

func values() *rapid.Generator[atom.Value] {
	return rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) atom.Value { return b })
}

func helds() *rapid.Generator[storage.Held] {
	return rapid.Custom(func(t *rapid.T) storage.Held {
		if rapid.Bool().Draw(t, "payload") {
			ref := rapid.Int64Range(1, 1<<40).Draw(t, "ref")
			return storage.Held{Ref: ref, Data: atom.MustEncode(ref)}
		}
		return storage.Held{Data: values().Draw(t, "inline")}
	})
}

// tries removes nil failures, which a retry never has.
func tries() *rapid.Generator[atom.History] {
	return rapid.Map(rapid.Make[atom.History](), func(h atom.History) atom.History {
		h.Earlier = max(h.Earlier, 0)
		for i := range h.Tries {
			h.Tries[i].Failures = slices.DeleteFunc(h.Tries[i].Failures, func(f *atom.Failure) bool { return f == nil })
		}
		return h
	})
}

func atoms() *rapid.Generator[storage.Atom] {
	return rapid.Custom(func(t *rapid.T) storage.Atom {
		return storage.Atom{
			Path:          rapid.String().Draw(t, "path"),
			Kind:          storage.AtomKind(rapid.Byte().Draw(t, "kind")),
			Incarnation:   rapid.IntMin(0).Draw(t, "incarnation"),
			Attempt:       rapid.IntMin(0).Draw(t, "attempt"),
			RevertAttempt: rapid.IntMin(0).Draw(t, "revert attempt"),
			State:         states.Task(rapid.Byte().Draw(t, "state")),
			Intention:     states.Intention(rapid.Byte().Draw(t, "intention")),
			Live:          rapid.Bool().Draw(t, "live"),
			Spec:          values().Draw(t, "spec"),
			Input:         helds().Draw(t, "input"),
			Note:          helds().Draw(t, "note"),
			Result:        helds().Draw(t, "result"),
			Ended:         grow.EndMark(rapid.Byte().Draw(t, "ended")),
			Signal:        rapid.String().Draw(t, "signal"),
			Successor:     rapid.String().Draw(t, "successor"),
			RunEnd:        grow.RunEnd(rapid.Byte().Draw(t, "run end")),
			Undo:          storage.UndoMode(rapid.Byte().Draw(t, "undo")),
			Failure:       rapid.Ptr(rapid.Make[atom.Failure](), true).Draw(t, "failure"),

			RevertResult:  helds().Draw(t, "revert result"),
			RevertFailure: rapid.Ptr(rapid.Make[atom.Failure](), true).Draw(t, "revert failure"),
			Tries:         rapid.Ptr(tries(), true).Draw(t, "tries"),
			Overflow:      rapid.Int64Range(0, 1<<40).Draw(t, "overflow"),
			Progress:      rapid.Float64().Draw(t, "progress"),
			Details:       values().Draw(t, "details"),

			Due:       times().Draw(t, "due"),
			StartedAt: times().Draw(t, "started"),
			EndedAt:   times().Draw(t, "ended at"),
		}
	})
}

func entries() *rapid.Generator[storage.Entry] {
	return rapid.Custom(func(t *rapid.T) storage.Entry {
		return storage.Entry{
			Kind:        storage.EntryKind(rapid.Byte().Draw(t, "kind")),
			Time:        times().Draw(t, "time"),
			Path:        rapid.String().Draw(t, "path"),
			From:        rapid.Byte().Draw(t, "from"),
			To:          rapid.Byte().Draw(t, "to"),
			Incarnation: rapid.IntMin(0).Draw(t, "incarnation"),
			Attempt:     rapid.IntMin(0).Draw(t, "attempt"),
			Failure:     rapid.Ptr(rapid.Make[atom.Failure](), true).Draw(t, "failure"),
			Flow:        rapid.String().Draw(t, "flow"),
			Number:      rapid.Int64Min(0).Draw(t, "number"),
			Prev:        rapid.Int64Min(0).Draw(t, "prev"),
			Type:        rapid.String().Draw(t, "type"),
			Details:     values().Draw(t, "details"),
			Key:         rapid.String().Draw(t, "key"),
			Body:        helds().Draw(t, "body"),
			Waited:      time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "waited")) * time.Microsecond,
			Ended:       times().Draw(t, "ended"),
			Issuer:      storage.ParseIssuer(rapid.SampledFrom([]string{"", "console:", "api:a:b"}).Draw(t, "issuer")),
		}
	})
}

func TestAtomRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := atoms().Draw(t, "atom")
		b := codec.AppendAtom(nil, &want)
		got, err := codec.DecodeAtom(want.Path, b, payloadOf)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestEveryField fails if a field was added to a record and not to the generators of the round trips.
func TestEveryField(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	note := func(v reflect.Value) {
		for i := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(i).Name
			seen[name] = seen[name] || !v.Field(i).IsZero()
		}
	}
	for i := range 200 {
		note(reflect.ValueOf(atoms().Example(i)))
		note(reflect.ValueOf(entries().Example(i)))
	}
	for name, set := range seen {
		if !set && name != "Entry.Seq" { // which is not stored
			t.Errorf("%s is never set", name)
		}
	}
}

func TestHistoryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(entries()).Draw(t, "entries")
		first := rapid.Int64Range(1, 1<<40).Draw(t, "first")
		for i := range want {
			want[i].Seq = first + int64(i)
		}
		cut := rapid.IntRange(0, len(want)).Draw(t, "cut") // packed in two strokes
		b := codec.AppendHistory(codec.AppendHistory(nil, want[:cut]), want[cut:])
		after := rapid.IntRange(0, len(want)).Draw(t, "after")
		got, err := codec.DecodeHistory(first, b, first-1+int64(after), codec.NewSpace(0), payloadOf)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[after:], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestFailureRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Ptr(rapid.Make[atom.Failure](), true).Draw(t, "failure")
		if want != nil && len(want.Details) == 0 {
			want.Details = nil
		}
		got, err := codec.DecodeFailure(codec.EncodeFailure(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestSecretsAreKept(t *testing.T) {
	t.Parallel()
	names := rapid.SliceOf(rapid.StringN(1, -1, 40))
	rapid.Check(t, func(rt *rapid.T) {
		want := storage.Run{ID: rapid.SampledFrom([]string{"q", "q/Ship[0]"}).Draw(rt, "id"), Secrets: storage.Secrets{
			Symbols: names.Draw(rt, "symbols"), Atoms: names.Draw(rt, "atoms"),
		}}
		want.PlainKeys = want.ID != "q" && rapid.Bool().Draw(rt, "plain")
		got := storage.Run{ID: want.ID}
		err := codec.ReadSecrets(codec.AppendSecrets(nil, &want), &got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			rt.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
	if b := codec.AppendSecrets(nil, &storage.Run{ID: "q"}); b != nil {
		t.Errorf("no secrets are kept as %x", b)
	}
}

// TestDecodeNewerField shows that a field of a later version is refused, not
// lost.
//
// Guarantee (G7): A record with a newer Ebb's field is refused as corrupt, so the field is not lost.
func TestDecodeNewerField(t *testing.T) {
	t.Parallel()
	a := storage.Atom{Live: true}
	b := codec.AppendAtom(nil, &a)
	if _, err := codec.DecodeAtom("x", append(b, 100<<1, 1), payloadOf); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	a := storage.Atom{Live: true, Result: storage.Held{Ref: 3}, Failure: &atom.Failure{Code: "C"}}
	seed := codec.AppendAtom(nil, &a)
	f.Add(seed)
	f.Add(codec.AppendHistory(nil, []storage.Entry{{Path: "x", Time: time.UnixMicro(1)}, {Type: "E"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, err := range []error{
			second(codec.DecodeAtom("x", b, payloadOf)),
			second(codec.DecodeHistory(1, b, 0, codec.NewSpace(0), payloadOf)),
			second(codec.DecodeFailure(b)),
			codec.ReadSecrets(b, &storage.Run{}),
		} {
			if err != nil && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("%v is not ErrCorrupt", err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
