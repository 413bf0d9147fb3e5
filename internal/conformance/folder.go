package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Folder returns the folder of the recorded cases. It skips the test if there is none.
func Folder(tb testing.TB) string {
	tb.Helper()
	folder := recorded(tb)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		tb.Skipf("needs conformance: no folder %s of recorded cases (set EBB_CONFORMANCE)", folder)
	}
	return folder
}

// recorded returns the folder of the recorded cases, and whether it exists.
func recorded(tb testing.TB) string {
	tb.Helper()
	if folder := os.Getenv("EBB_CONFORMANCE"); folder != "" {
		return folder
	}
	return filepath.Join(top(tb), "..", "shared", "conformance")
}

// ForFiles runs a subtest for each file of cases of a kind, such as "sm4c": first our own, then the recorded ones. It
// passes their names, such as "sm4c/own". Without recorded cases, it skips the subtest "recorded".
func ForFiles(t *testing.T, kind string, test func(t *testing.T, file string)) {
	t.Helper()
	ours, others := filesIn(t, ownFolder(t), kind), filesIn(t, recorded(t), kind)
	if len(ours) == 0 {
		t.Fatalf("there are no cases of our own of %s", kind)
	}
	for _, file := range append(ours, others...) {
		t.Run(filepath.Base(file), func(t *testing.T) { test(t, file) })
	}
	if len(others) == 0 {
		t.Run("recorded", func(t *testing.T) {
			t.Skipf("needs conformance: no files %s in %s", filepath.Join(kind, "*.jsonl"), Folder(t))
		})
	}
}

// filesIn returns the names of the files of cases of a kind in a folder.
func filesIn(tb testing.TB, folder, kind string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, kind, "*.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	for i, file := range files {
		files[i] = kind + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
	}
	return files
}

// ownFolder returns the folder of our own cases, which is part of the repository.
func ownFolder(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(top(tb), "internal", "conformance", "testdata")
}

// top returns the root folder of the checkout: the first folder above the test with a go.work.
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

// lines decodes each line of a file of cases, ours or recorded, into a T.
func lines[T any](tb testing.TB, name string) []*T {
	tb.Helper()
	file, err := os.Open(filepath.Join(ownFolder(tb), name))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(filepath.Join(Folder(tb), name))
	}
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
