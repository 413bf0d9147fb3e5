package conformance

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Folder returns the folder of recorded truth, or skips the test.
func Folder(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("EBB_CONFORMANCE")
	if folder == "" {
		folder = filepath.Join(top(t), "..", "shared", "conformance")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		t.Skipf("needs conformance: no folder %s (set EBB_CONFORMANCE)", folder)
	}
	return folder
}

// top returns the folder of the checkout: the first above the test with a go.work.
func top(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			t.Fatalf("no go.work above %s", dir)
		}
	}
}

// lines decodes each line of a file of the folder into a T.
func lines[T any](t testing.TB, name string) []*T {
	t.Helper()
	file, err := os.Open(filepath.Join(Folder(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	var all []*T
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		record := new(T)
		if err := json.Unmarshal(scanner.Bytes(), record); err != nil {
			t.Fatalf("%s:%d: %v", name, len(all)+1, err)
		}
		all = append(all, record)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
