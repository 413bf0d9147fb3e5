package awslines_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/awslines"
)

// TestLines reads a service's shapes by their names, each once.
func TestLines(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for _, name := range []string{"swf", "states"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("Name s1:80 rest\nCount i\n\nno-description\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archive := file.Bytes()
	if got := awslines.Files(archive); !slices.Equal(got, []string{"states", "swf"}) {
		t.Errorf("the files are %v", got)
	}
	type shape struct {
		kind     byte
		min, end string
		text     bool
	}
	parsed := 0
	lines := awslines.New(awslines.Text(archive, "swf"), func(r *awslines.Reader) *shape {
		parsed++
		s := &shape{kind: r.Next(), min: r.Until(":")}
		s.text = r.Take(":80")
		s.end = r.Until("")
		return s
	})
	for range 2 {
		if got := lines.Shape("Name"); got == nil || *got != (shape{'s', "1", " rest", true}) {
			t.Errorf("Name is %+v", got)
		}
	}
	if got := lines.Shape("Count"); got == nil || *got != (shape{'i', "", "", false}) {
		t.Errorf("Count is %+v", got)
	}
	if got := lines.Shape("no-description"); got != nil || parsed != 2 {
		t.Errorf("found %+v; %d shapes were parsed", got, parsed)
	}
	if awslines.Text(archive, "none") != "" || awslines.Text(archive[:20], "swf") != "" || awslines.Files(nil) != nil {
		t.Error("a file was read that is not there")
	}
}

// TestCache reads a service once, and asks again for one that was missing.
func TestCache(t *testing.T) {
	t.Parallel()
	var cache awslines.Cache[string]
	var asked []string
	read := func(key string) *string {
		asked = append(asked, key)
		if key == "none" {
			return nil
		}
		return &key
	}
	for _, key := range []string{"swf", "none", "swf", "none"} {
		if got := cache.Of(key, read); (got == nil) != (key == "none") {
			t.Errorf("%s is %v", key, got)
		}
	}
	if want := []string{"swf", "none", "none"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}
