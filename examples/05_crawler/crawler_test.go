// Package crawler shows a flow that discovers its work while it runs.
//
// What you will learn: to write a language, which is what decides how a flow
// grows; to keep what was discovered as fact; to let tasks of such a flow be
// undone; and what is left of all that when the process is killed.
//
// The scenario: an archive of photographs. Every folder is to have a list of the
// checksums of its files, SHA256SUMS. Folders that have one already have it
// checked and renewed. If a file does not match its list, a person must check
// the archive before anything in it changes. The flow puts all lists back as they
// were.
//
// How many folders there are is not known before they are looked into, so the
// flow cannot be written down beforehand. Each folder is a flow of its own:
//
//	scan  ──►  sums  ──►  folders ┬─►  scan  ──►  sums   (of the first folder in it)
//	                              ├─►  scan  ──►  sums  ──►  folders …
//	                              └─►  …                 joined: the totals
//
// archive_test.go has the tasks, killed_test.go kills the process.
package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// atOnce is how many folders within one are looked into at the same time.
const atOnce = 4

// crawler is the language: it is asked what comes next each time something has ended, and answers with data. The Amazon
// States Language is another one and is asked in the same way. A language touches nothing: looking into a folder is a
// task's work, and its result comes with the next question. Its answer is committed before anything depends on it, and
// the question is never repeated.
type crawler struct{}

// Grow is asked by each folder's flow about itself.
func (crawler) Grow(ask *grow.Ask) grow.Growth {
	switch c := &ask.Cause; c.Kind {
	case grow.Begin:
		return begin(ask)
	case grow.Ended:
		if c.Name == "scan" {
			return scanned(c)
		}
		return summed(c)
	case grow.Joined:
		return joined(c)
	case grow.Failed, grow.JoinFailed:
		return fail(c.Failure) // and with it the whole run, which is then undone
	default:
		return grow.Growth{}
	}
}

// begin looks into the folder that the flow is about: the run's, or one of those
// that the folder around it shares among its children.
func begin(ask *grow.Ask) grow.Growth {
	folder := ask.Cause.Input
	if ask.Index >= 0 {
		var folders []string
		if err := ask.Shared.Decode(&folders); err != nil {
			return fail(err)
		}
		folder = atom.MustEncode(folders[ask.Index])
	}
	return add(grow.Spec{Name: "scan", Task: "scan", Input: folder})
}

// scanned has the list written. The note comes back when that has ended.
func scanned(c *grow.Cause) grow.Growth {
	return add(grow.Spec{Name: "sums", Task: "sums", Input: c.Result, Note: c.Result, Undo: &grow.Undo{Task: "sums"}})
}

// summed continues with the folders that were found, if any.
func summed(c *grow.Cause) grow.Growth {
	var found listing
	if err := c.Note.Decode(&found); err != nil {
		return fail(err)
	}
	if len(found.Folders) == 0 {
		return grow.Growth{End: &grow.End{Value: c.Result}}
	}
	return add(grow.Spec{
		Name: "folders", Kind: grow.Fork, Note: c.Result,
		Group: &grow.Group{Count: len(found.Folders), Slots: atOnce, Shared: atom.MustEncode(found.Folders)},
	})
}

// joined ends a folder's flow with the total of the folder and the folders in it.
func joined(c *grow.Cause) grow.Growth {
	var sum total
	for _, part := range append(c.Results, c.Note) {
		var t total
		if err := part.Decode(&t); err != nil {
			return fail(err)
		}
		sum = sum.plus(t)
	}
	return grow.Growth{End: &grow.End{Value: atom.MustEncode(sum)}}
}

func add(spec grow.Spec) grow.Growth { return grow.Growth{Add: []grow.Spec{spec}} }

func fail(err error) grow.Growth {
	return grow.Growth{End: &grow.End{Failure: atom.NewFailure("", 1, err)}}
}

// Undo returns the input of the task that undoes another: here, the input of that one.
func (crawler) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// crawl is how a program uses the flow.
func crawl(ctx context.Context, a *Archive, store storage.Store, opts ...engine.Option) (total, error) {
	eng, err := engine.New(flow.Growing("crawler", crawler{}), store, append(opts, engine.WithTasks(a.Tasks()))...)
	if err != nil {
		return total{}, err
	}
	res, err := eng.Run(ctx, "archive", engine.Input(atom.MustEncode("."))) // starts this run, or resumes it
	if err != nil {
		return total{}, err
	}
	var sum total
	err = res.Output().Decode(&sum)
	return sum, err
}

// photographs is an archive. One of its folders has a list already, from before
// there were two more files in it.
var photographs = map[string]string{
	"readme.txt":             "family photographs",
	"2024/cat.jpg":           "a cat",
	"2024/summer/beach.jpg":  "a beach",
	"2024/summer/lake.jpg":   "a lake",
	"2024/winter/ski.jpg":    "a slope",
	"2024/winter/SHA256SUMS": line("a slope", "ski.jpg"),
	"2024/winter/lift.jpg":   "a lift",
	"2025/dog.jpg":           "a dog",
}

// The flow grows as far as there are folders.
func Example() {
	archive, remove := newArchive(photographs)
	defer remove()
	sum, err := crawl(context.Background(), archive, memstore.New())
	fmt.Println(sum, err)
	for _, file := range archive.Files() {
		fmt.Println(file)
	}
	// Output:
	// 5 folders, 7 files, 54 bytes <nil>
	// 2024/SHA256SUMS
	// 2024/cat.jpg
	// 2024/summer/SHA256SUMS
	// 2024/summer/beach.jpg
	// 2024/summer/lake.jpg
	// 2024/winter/SHA256SUMS
	// 2024/winter/lift.jpg
	// 2024/winter/ski.jpg
	// 2025/SHA256SUMS
	// 2025/dog.jpg
	// SHA256SUMS
	// readme.txt
}

// Each folder is a part of the run, with a path of its own, and can be looked at
// while the run is under way, afterwards, and after a crash.
func Example_paths() {
	archive, remove := newArchive(photographs)
	defer remove()
	store := memstore.New()
	if _, err := crawl(context.Background(), archive, store); err != nil {
		fmt.Println(err)
	}
	atoms, err := store.Atoms(context.Background(), "archive", storage.AtomQuery{})
	if err != nil {
		fmt.Println(err)
	}
	for _, a := range atoms {
		if a.Kind == storage.KindTask {
			fmt.Println(a.Path, a.State)
		}
	}
	// Output:
	// folders[0]/folders[0]/scan SUCCESS
	// folders[0]/folders[0]/sums SUCCESS
	// folders[0]/folders[1]/scan SUCCESS
	// folders[0]/folders[1]/sums SUCCESS
	// folders[0]/scan SUCCESS
	// folders[0]/sums SUCCESS
	// folders[1]/scan SUCCESS
	// folders[1]/sums SUCCESS
	// scan SUCCESS
	// sums SUCCESS
}

// When a file is not what its list says, every list is as it was: those that
// were written are removed, the one that was renewed is the old one again.
func Example_damaged() {
	archive, remove := newArchive(photographs)
	defer remove()
	archive.Write("2025/SHA256SUMS", line("a dog with a ball", "dog.jpg"))
	before := archive.Contents()

	_, err := crawl(context.Background(), archive, memstore.New())
	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
		fmt.Println("undone because", reverted.Failures[0].Message)
	}
	fmt.Println("as it was:", maps.Equal(archive.Contents(), before))
	// Output:
	// undone because 2025/dog.jpg is not what 2025/SHA256SUMS says
	// as it was: true
}

// TestUndone lets each task in each folder fail in every way there is, and the
// process die after each commit and each effect: the archive is as it was, or
// the crawl is complete. See example 04.
func TestUndone(t *testing.T) {
	t.Parallel()
	enginetest.FailAt(t, enginetest.World[*Archive]{
		New: func(tb testing.TB) *Archive {
			tb.Helper()
			a, remove := newArchive(map[string]string{
				"a.jpg": "a", "b/b.jpg": "b", "b/SHA256SUMS": line("b", "b.jpg"),
				"c/c.jpg": "c",
			})
			tb.Cleanup(remove)
			return a
		},
		Flow:       func(*Archive) flow.Node { return flow.Growing("crawler", crawler{}) },
		Options:    func(a *Archive) []engine.Option { return []engine.Option{engine.WithTasks(a.Tasks())} },
		RunOptions: func(*Archive) []engine.RunOption { return []engine.RunOption{engine.Input(atom.MustEncode("."))} },
		State:      func(a *Archive) any { return a.Contents() },
	})
}
