package view

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file, or rewrites the file with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// start is when the told runs begin.
var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// told returns the tree of a run told in lines of "MILLISECONDS PATH STATE …".
func told(t *testing.T, story string) (*inspect.Tree, time.Time) {
	t.Helper()
	tr := inspect.NewTree("trip", "trip-1")
	var now time.Time
	for line := range strings.Lines(story) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		after, err := time.ParseDuration(fields[0] + "ms")
		if err != nil {
			t.Fatal(err)
		}
		now = start.Add(after)
		if len(fields) == 1 {
			break // the time at which it is looked at
		}
		c := inspect.Change{Path: fields[1], To: fields[2], At: now, Attempt: 1}
		c.From, c.To, _ = strings.Cut(c.To, ">")
		if c.To == "" {
			c.From, c.To = "", c.From
		}
		if c.To == "PROGRESS" {
			c.To = ""
		}
		if c.Path == "run" {
			c.Path = ""
		}
		for _, word := range fields[3:] {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "code":
				c.Failure = &atom.Failure{Code: value, Message: "it\x1b[2J broke\nbadly"}
			case "message":
				c.Failure.Message = strings.ReplaceAll(value, "_", " ")
			case "due":
				d, err := time.ParseDuration(value)
				if err != nil {
					t.Fatal(err)
				}
				c.Due = now.Add(d)
			case "progress":
				if _, err := fmt.Sscan(value, &c.Progress); err != nil {
					t.Fatal(err)
				}
			case "details":
				c.Details = atom.FromJSON([]byte(value))
			case "attempt":
				c.Attempt = len(value)
			case "timer":
				c.Timer = true
			case "inner":
				c.Inner = true
			case "passed":
				c.Passed = true
			default:
				t.Fatalf("what is %s?", word)
			}
		}
		tr.Apply(&c)
	}
	return tr, now
}

var stories = map[string]string{
	"running": `
		0 run RUNNING
		0 BookFlight RUNNING
		310 BookFlight SUCCESS
		310 Pack~1Label#2 RUNNING
		1500`,
	"undone": `
		0 run RUNNING
		0 BookFlight RUNNING
		300 BookFlight SUCCESS
		300 BookHotel RUNNING
		600 BookHotel SUCCESS
		600 Pay RUNNING
		900 Pay FAILURE code=PaymentDeclined
		900 BookHotel REVERTING
		1200 BookHotel REVERTED
		1200 BookFlight REVERTING
		1400 BookFlight REVERTED
		1400 run REVERTED
		9999`,
	"stays": `
		0 run RUNNING
		0 Charge RUNNING
		300 Charge SUCCESS
		300 Count RUNNING
		310 Count SUCCESS
		310 Ask RUNNING
		400 Ask FAILURE code=Timeout
		400 Reserve RUNNING
		500 Reserve SUCCESS
		500 Ship RUNNING
		600 Ship FAILURE code=Broken
		600 Ship FAILURE>REVERTING passed
		600 Ship REVERTING>REVERTED passed
		600 Reserve REVERTING
		700 Reserve REVERTED
		700 Ask FAILURE>REVERTING passed
		700 Ask REVERTED>MAY_STAY_DONE
		700 Count SUCCESS>REVERTING passed
		700 Count REVERTING>REVERTED passed
		700 Charge SUCCESS>STAYS_DONE
		700 run FAILURE
		999`,
	"undoing": `
		0 run RUNNING
		0 A RUNNING
		300 A SUCCESS
		300 B RUNNING
		600 B FAILURE code=Broken
		600 A REVERTING
		750`,
	"stuck": `
		0 run RUNNING
		0 A RUNNING
		300 A SUCCESS
		300 B RUNNING
		600 B FAILURE code=Broken
		600 A REVERTING
		61000 A REVERT_FAILURE code=Exec.Exit1
		61000 run FAILURE
		99999`,
	"waiting": `
		0 run RUNNING
		0 Pay RUNNING
		100 Pay FAILURE code=BankBusy
		100 Pay RETRYING due=2s
		100 Pause RUNNING timer due=90s
		1000`,
	"retried": `
		0 run RUNNING
		0 Pay RUNNING
		100 Pay FAILURE code=BankBusy
		100 Pay RETRYING due=2s
		2100 Pay RETRYING>RUNNING attempt=xx
		2200 Pay SUCCESS attempt=xx
		2200 run SUCCESS
		3000`,
	"progress": `
		0 run RUNNING
		0 A RUNNING
		0 B RUNNING
		100 A PROGRESS progress=0.42 details="3_of_7"
		100 B PROGRESS details={"rows":12}
		200 C RUNNING
		200 C PROGRESS progress=0.1
		300 C RUNNING>FAILURE code=Broken
		300 A PROGRESS progress=0.5
		1000`,
	"revert again": `
		0 run RUNNING
		0 A RUNNING
		0 B RUNNING
		100 A SUCCESS
		100 B SUCCESS
		200 C RUNNING
		300 C FAILURE code=Broken
		300 B REVERTING
		400 B REVERTING>REVERTING code=Exec.Exit9 due=5s
		600 A REVERTING
		700 A REVERTING>REVERTING code=Exec.Exit9 due=100ms attempt=xx
		800 A PROGRESS progress=0.25
		1000`,
	"skipped": `
		0 run RUNNING
		0 A RUNNING
		100 A SUCCESS
		100 B RUNNING
		200 B FAILURE code=Broken
		300 A REVERTING
		400 A REVERT_FAILURE code=Exec.Exit9
		400 run SUSPENDED
		9000 run RUNNING
		9000 A REVERT_FAILURE>REVERTED
		9000 run REVERTED
		9999`,
	"branches": `
		0 run RUNNING
		0 Both RUNNING inner
		0 Both[0] RUNNING inner
		0 Both[1] RUNNING inner
		0 Both[0]/Left RUNNING
		0 Both[1]/Right RUNNING
		40 Both[1]/Right FAILURE code=Broken
		50 Both[0]/Left CANCELLED
		50 Both FAILURE inner
		50 run FAILURE
		60`,
}

// TestTree draws runs at one moment: what a tree looks like depends on nothing
// but what happened and the time.
func TestTree(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, now := told(t, story)
			golden(t, strings.ReplaceAll(name, " ", "-")+".txt", strings.Join(Tree(tr, now, Page{}), "\n")+"\n")
		})
	}
}

func TestTreeInColor(t *testing.T) {
	t.Parallel()
	tr, now := told(t, stories["undone"])
	got := strings.Join(Tree(tr, now, Page{Width: 36, Color: true}), "\n") + "\n"
	golden(t, "color.txt", strings.ReplaceAll(got, "\x1b", "ESC"))
}

// TestManyUndone: of very many steps that were undone the first and the last are shown, and what could not be.
func TestManyUndone(t *testing.T) {
	t.Parallel()
	const n = 10 * inspect.KeptUndone
	tr := inspect.NewTree("trip", "trip-1")
	apply := func(path, from, to string) { tr.Apply(&inspect.Change{Path: path, From: from, To: to, At: start}) }
	apply("Broken", "RUNNING", "FAILURE")
	for i := range n {
		path := fmt.Sprint("Pay#", i)
		apply(path, "RUNNING", "SUCCESS")
		apply(path, "SUCCESS", "REVERTING")
		end := "REVERTED"
		if i == n/2 {
			end = "REVERT_FAILURE"
		}
		apply(path, "REVERTING", end)
	}
	text := strings.Join(Tree(tr, start, Page{}), "\n")
	for _, want := range []string{
		"✗ Broken", "↶ Pay#0 ", fmt.Sprintf("! Pay#%d ", n/2), fmt.Sprintf("↶ Pay#%d ", n-1), fmt.Sprintf("%d more (ebb history trip-1)", n-inspect.KeptUndone),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 999 * time.Millisecond: "999 ms", 2140 * time.Millisecond: "2.1 s", 61 * time.Second: "1m1s",
	} {
		if got := Span(d); got != want {
			t.Errorf("span(%v) = %s; want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-1: "0 s", 1: "1 s", 59 * time.Second: "59 s", 90*time.Second + 1: "1m31s"} {
		if got := left(start.Add(d), start); got != want {
			t.Errorf("left(%v) = %s; want %s", d, got, want)
		}
	}
}
