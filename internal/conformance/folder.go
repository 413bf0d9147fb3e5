package conformance

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Folder returns the folder of recorded truth, or skips the test.
func Folder(tb testing.TB) string {
	tb.Helper()
	folder := os.Getenv("EBB_CONFORMANCE")
	if folder == "" {
		folder = filepath.Join(top(tb), "..", "shared", "conformance")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		tb.Skipf("needs conformance: no folder %s (set EBB_CONFORMANCE)", folder)
	}
	return folder
}

// top returns the folder of the checkout: the first above the test with a go.work.
func top(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			tb.Fatalf("no go.work above %s", dir)
		}
	}
}

// lines decodes each line of a file of the folder into a T.
func lines[T any](tb testing.TB, name string) []*T {
	tb.Helper()
	file, err := os.Open(filepath.Join(Folder(tb), name))
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	var all []*T
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		record := new(T)
		if err := json.Unmarshal(scanner.Bytes(), record); err != nil {
			tb.Fatalf("%s:%d: %v", name, len(all)+1, err)
		}
		all = append(all, record)
	}
	if err := scanner.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}
