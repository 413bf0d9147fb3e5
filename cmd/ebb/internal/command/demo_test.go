package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestDemoIsTheExample: the demo's files are those of the example that the README shows.
func TestDemoIsTheExample(t *testing.T) {
	t.Parallel()
	files, err := fs.ReadDir(demoFiles, "demo")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "examples", "03_trip", file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := demoFiles.ReadFile("demo/" + file.Name()); err != nil || string(got) != string(want) {
			t.Errorf("%s differs: cp examples/03_trip/%[1]s cmd/ebb/internal/command/demo/ (%v)", file.Name(), err)
		}
	}
}
