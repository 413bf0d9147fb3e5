package atom_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
)

type spec struct {
	SizeGB int     `json:"size_gb"`
	Zone   *string `json:"zone"`
	Tier   string  `json:"tier,omitempty"`
	Secret string  `json:"-"`
	Plain  bool
	hidden int
}

type volume struct {
	ID string `json:"volume_id"`
}

// createVolume notes what its methods are passed.
type createVolume struct {
	in       *spec
	reverted *spec
	did      *atom.Outcome[volume]
	fail     error
}

func (c createVolume) Execute(_ context.Context, in spec) (volume, error) {
	*c.in = in
	in.hidden++
	return volume{ID: "vol-1"}, c.fail
}

func (c createVolume) Revert(_ context.Context, in spec, did atom.Outcome[volume]) error {
	*c.reverted, *c.did = in, did
	return c.fail
}

func newCreateVolume(fail error) createVolume {
	return createVolume{new(spec), new(spec), new(atom.Outcome[volume]), fail}
}

func TestTaskDescribesItself(t *testing.T) {
	t.Parallel()
	a := atom.Task("create", newCreateVolume(nil), atom.Timeout(time.Second), atom.Priority(3), atom.Version("2"))
	wantArgs := []atom.Arg{
		{Name: "size_gb", Symbol: "size_gb", Type: reflect.TypeFor[int]()},
		{Name: "zone", Symbol: "zone", Optional: true, Type: reflect.TypeFor[*string]()},
		{Name: "tier", Symbol: "tier", Optional: true, Type: reflect.TypeFor[string]()},
		{Name: "Plain", Symbol: "Plain", Type: reflect.TypeFor[bool]()},
	}
	types := cmp.Comparer(func(a, b reflect.Type) bool { return a == b })
	if diff := cmp.Diff(wantArgs, a.Args(), types); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(wantArgs, a.RevertArgs(), types); diff != "" {
		t.Error(diff)
	}
	wantProvides := []atom.Provide{{
		Symbol: "volume_id", From: atom.ByKey, Key: "volume_id",
		Type: reflect.TypeFor[string](),
	}}
	if diff := cmp.Diff(wantProvides, a.Provides(), types); diff != "" {
		t.Error(diff)
	}
	if a.Name() != "create" || a.Kind() != atom.KindTask || a.Timeout() != time.Second || a.Priority() != 3 ||
		a.Version() != "2" || !a.Reverts() {
		t.Errorf("%+v", a)
	}
}

func TestTaskExecutes(t *testing.T) {
	t.Parallel()
	c := newCreateVolume(nil)
	a := atom.Task("create", c)
	values := atom.NewValues(a.Args(), []atom.Value{
		atom.MustEncode(20), nil, atom.MustEncode("fast"),
		atom.MustEncode(true),
	})
	out, err := a.Body().Execute(t.Context(), values)
	if err != nil || out.String() != `{"volume_id":"vol-1"}` {
		t.Errorf("result %s, %v", out, err)
	}
	if diff := cmp.Diff(spec{SizeGB: 20, Tier: "fast", Plain: true}, *c.in, cmpopts.IgnoreUnexported(spec{})); diff != "" {
		t.Error(diff)
	}
}

func TestTaskFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no valid host")
	a := atom.Task("create", newCreateVolume(broken))
	if out, err := a.Body().Execute(t.Context(), atom.Values{}); out != nil || !errors.Is(err, broken) {
		t.Errorf("result %s, %v", out, err)
	}
	if _, err := a.Body().Revert(t.Context(), atom.Values{}, atom.Unknown[atom.Value]()); !errors.Is(err, broken) {
		t.Errorf("revert: %v", err)
	}
	values := atom.NewValues(a.Args()[:1], []atom.Value{atom.MustEncode("twenty")})
	if _, err := a.Body().Execute(t.Context(), values); err == nil || !strings.HasPrefix(err.Error(),
		"atom: decode the input: ") {
		t.Errorf("an input of the wrong type: %v", err)
	}
	if _, err := a.Body().Revert(t.Context(), values, atom.Unknown[atom.Value]()); err == nil {
		t.Error("an input of the wrong type is reverted")
	}
	_, err := a.Body().Revert(t.Context(), atom.Values{}, atom.Done(atom.MustEncode(7)))
	if err == nil || !strings.Contains(err.Error(), "decode the recorded result") {
		t.Errorf("a result of the wrong type: %v", err)
	}
}

func TestTaskReverts(t *testing.T) {
	t.Parallel()
	failure := &atom.Failure{Code: "C"}
	cause := []*atom.Failure{{Atom: "boot", Code: "D"}}
	for name, tc := range map[string]struct {
		did  atom.Outcome[atom.Value]
		want atom.Outcome[volume]
	}{
		"done":    {atom.Done(atom.MustEncode(volume{"vol-1"})), atom.Done(volume{"vol-1"})},
		"failed":  {atom.Failed[atom.Value](failure), atom.Failed[volume](failure)},
		"unknown": {atom.Unknown[atom.Value](), atom.Unknown[volume]()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCreateVolume(nil)
			a := atom.Task("create", c)
			values := atom.NewValues(a.Args()[:1], []atom.Value{atom.MustEncode(20)})
			if _, err := a.Body().Revert(t.Context(), values, tc.did.Because(cause)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.Because(cause), *c.did, cmp.AllowUnexported(atom.Outcome[volume]{})); diff != "" {
				t.Error(diff)
			}
			if c.reverted.SizeGB != 20 {
				t.Errorf("reverted with %+v", *c.reverted)
			}
		})
	}
}

type wrongRevert struct{}

func (wrongRevert) Execute(context.Context, spec) (volume, error) { return volume{}, nil }
func (wrongRevert) Revert(context.Context, volume) error          { return nil }

type executing struct{}

func (executing) Execute(context.Context, spec) (volume, error) { return volume{}, nil }

type pointerRevert struct{ executing }

func (*pointerRevert) Revert(context.Context, spec, atom.Outcome[volume]) error { return nil }

// Guarantee (G8): A wrong task definition, such as a Revert that would never run, panics with the reason.
func TestDefinitionPanics(t *testing.T) {
	t.Parallel()
	for want, define := range map[string]func(){
		`atom: task "create": Revert has type func(context.Context, atom_test.volume) error; ` +
			`want func(context.Context, atom_test.spec, atom.Outcome[github.com/ebbflow/ebb/atom_test.volume]) error`: func() {
			atom.Task("create", wrongRevert{})
		},
		`atom: task "create": Revert is a method of *atom_test.pointerRevert; pass a pointer`: func() {
			atom.Task("create", pointerRevert{})
		},
		`atom: task "create" has no body`: func() {
			atom.Task[spec, volume]("create", nil)
		},
		`atom: task "create" has no argument "size"; it has "size_gb", "zone", "tier", "Plain"`: func() {
			atom.Task("create", newCreateVolume(nil), atom.Rebind("size", "disk_gb"))
		},
		`atom: task "create" takes a struct, whose fields are what it requires: From does not apply`: func() {
			atom.Task("create", newCreateVolume(nil), atom.From("size_gb"))
		},
		`atom: task "plain" has no body`: func() {
			atom.New("plain", nil)
		},
		`atom: task "idle" has nothing to do`: func() {
			atom.Untyped("idle", nil, nil)
		},
		`atom: inject "c": atom: encode chan int: json: unsupported type: chan int`: func() {
			atom.Inject("c", make(chan int))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panics with\n%v, want\n%s", got, want)
				}
			}()
			define()
		})
	}
	if !atom.Task("create", &pointerRevert{}).Reverts() {
		t.Error("a pointer with both methods does not revert")
	}
}

func TestFuncAndPair(t *testing.T) {
	t.Parallel()
	double := func(_ context.Context, n int) (int, error) { return 2 * n, nil }
	f := atom.Func("double", double, atom.From("n"), atom.As("twice"))
	if f.Reverts() {
		t.Error("a function alone can be undone")
	}
	if arg := f.Args()[0]; arg.Symbol != "n" || arg.Name != "" || arg.Type != reflect.TypeFor[int]() {
		t.Errorf("it requires %+v", arg)
	}
	if p := f.Provides()[0]; p.Symbol != "twice" || p.From != atom.Whole || p.Type != reflect.TypeFor[int]() {
		t.Errorf("it provides %+v", p)
	}
	if out, err := f.Body().Execute(t.Context(), atom.Single(atom.MustEncode(21))); err != nil || out.String() != "42" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := f.Body().Revert(t.Context(), atom.Values{}, atom.Unknown[atom.Value]()); out != nil || err != nil {
		t.Errorf("undoing nothing: %s, %v", out, err)
	}

	var undone int
	p := atom.Pair("double", double, func(_ context.Context, n int, did atom.Outcome[int]) error {
		out, _ := did.Done()
		undone = n + out
		return nil
	})
	if _, err := p.Body().Revert(t.Context(), atom.Single(atom.MustEncode(21)),
		atom.Done(atom.MustEncode(42))); err != nil || undone != 63 || !p.Reverts() {
		t.Errorf("undone with %d, %v", undone, err)
	}
}

type base struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type (
	embedding struct {
		base
		Name int `json:"name"` // covers base's
	}
	pointing struct{ *base }
	twins    struct {
		base
		*other
	}
	other struct {
		ID string `json:"id"`
		X  int
	}
	named struct {
		Base base `json:"base"`
	}
	Endless struct {
		*Endless

		A int
	}
)

// TestFieldsAreThoseOfJSON: what a task requires and provides is what
// encoding/json writes.
func TestFieldsAreThoseOfJSON(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		a    *atom.Atom
		want []string
	}{
		"embedded":          {requiring[embedding](), []string{"id", "name"}},
		"embedded pointer":  {requiring[pointing](), []string{"id", "name"}},
		"two of one name":   {requiring[twins](), []string{"name", "X"}},
		"named":             {requiring[named](), []string{"base"}},
		"embeds itself":     {requiring[Endless](), []string{"A"}},
		"its own encoding":  {requiring[time.Time](), []string{""}},
		"an empty struct":   {requiring[struct{}](), nil},
		"a pointer":         {requiring[*base](), []string{""}},
		"a map":             {requiring[map[string]int](), []string{""}},
		"embedded encoding": {requiring[struct{ time.Time }](), []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, arg := range tc.a.Args() {
				got = append(got, arg.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if typ := requiring[embedding]().Args()[1].Type; typ != reflect.TypeFor[int]() {
		t.Errorf("the covered field counts: %v", typ)
	}
}

func requiring[T any]() *atom.Atom {
	return atom.Func("f", func(context.Context, T) (struct{}, error) { return struct{}{}, nil })
}

type three struct {
	ID    string  `json:"id"`
	Count int     `json:"count"`
	Share float64 `json:"share"`
}

// BenchmarkTypedExecute calls a typed body with a struct of three fields in and
// out: one decoding and one encoding.
func BenchmarkTypedExecute(b *testing.B) {
	a := atom.Func("pass", func(_ context.Context, in three) (three, error) { return in, nil })
	values := atom.NewValues(a.Args(), []atom.Value{atom.MustEncode("4711"), atom.MustEncode(20), atom.MustEncode(0.5)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Body().Execute(b.Context(), values); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkField finds the last of three members.
func BenchmarkField(b *testing.B) {
	v := atom.MustEncode(three{"4711", 20, 0.5})
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := v.Field("share"); !ok {
			b.Fatal("not found")
		}
	}
}

// TestInputOfLanguage passes a task that takes a struct what a language gives it:
// the whole input, under no name.
func TestInputOfLanguage(t *testing.T) {
	t.Parallel()
	type in struct{ X int }
	got := 0
	body := atom.Func("t", func(_ context.Context, i in) (struct{}, error) { got = i.X; return struct{}{}, nil }).Body()
	if _, err := body.Execute(t.Context(), atom.Single(atom.MustEncode(in{7}))); err != nil || got != 7 {
		t.Errorf("got %d: %v", got, err)
	}
}
