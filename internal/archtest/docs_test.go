package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	// code finds the parts of a page that are not prose.
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	// codeSpan finds code within a line.
	codeSpan = regexp.MustCompile("`[^`]*`")
	// link finds the target of a link in prose.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// namedTest finds a test that a page names by its folder, such as `engine: TestStop`. A test without a folder is in the
	// folder of the test before it.
	namedTest = regexp.MustCompile("`(?:([a-z0-9_/]+): )?((?:Test|Fuzz|Example)\\w*)(?:/(\\w+))?`")
	// heading finds a heading of a page.
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	// notInAnchor finds the characters that a heading's anchor leaves out.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the links of all pages to files of the repository and to headings in them.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := 0
	walk(t, ".", func(name string) {
		if path.Ext(name) != ".md" {
			return
		}
		pages++
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range link.FindAllSubmatch(code.ReplaceAll(text, nil), -1) {
			if fault := follow(t, name, string(match[1])); fault != "" {
				t.Errorf("%s links to %s: %s", name, match[1], fault)
			}
		}
	})
	if pages < 2 {
		t.Errorf("found %d pages: have they moved?", pages)
	}
}

// follow returns what is wrong with a link in a page, or "".
func follow(t *testing.T, page, target string) string {
	t.Helper()
	if strings.Contains(target, "://") {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	if _, err := fs.Stat(os.DirFS(root), to); err != nil {
		return "there is no such file"
	}
	if !hasAnchor {
		return ""
	}
	for _, h := range firstGroups(t, heading, to) {
		if anchorOf(h) == anchor {
			return ""
		}
	}
	return "it has no such heading"
}

// firstGroups returns what the first group of a pattern matches in a file named below the root.
func firstGroups(t *testing.T, pattern *regexp.Regexp, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, match := range pattern.FindAllSubmatch(text, -1) {
		found = append(found, string(match[1]))
	}
	return found
}

// anchorOf returns the anchor of a heading.
func anchorOf(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// TestPageLines finds lines of pages that have more than 120 columns. Tables, URLs and code spans cannot be broken.
func TestPageLines(t *testing.T) {
	t.Parallel()
	walk(t, ".", func(name string) {
		if path.Ext(name) != ".md" {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			columns := utf8.RuneCountInString(line)
			breakable := utf8.RuneCountInString(codeSpan.ReplaceAllString(line, "")) > 20
			if columns > 120 && breakable && !strings.HasPrefix(line, "|") && !strings.Contains(line, "://") {
				t.Errorf("%s:%d has %d columns", name, i+1, columns)
			}
		}
	})
}

// TestGuaranteesNameTests looks for the tests that pages name, and for parts of suites by their names. Some pages name
// at least so many tests.
func TestGuaranteesNameTests(t *testing.T) {
	t.Parallel()
	atLeast := map[string]int{
		"asl": 20, "attacks": 100, "cli": 2, "guarantees": 270, "limits": 2, "security": 1, "sm4c": 2, "sm4c-decisions": 3,
		"swf": 3, "swf-decisions": 20, "swf-tests": 100, "taskflow-features": 50, "taskflow-parity": 3,
	}
	walk(t, "docs", func(name string) {
		if path.Ext(name) == ".md" {
			page := strings.TrimSuffix(path.Base(name), ".md")
			findNamedTests(t, name, atLeast[page])
			delete(atLeast, page)
		}
	})
	for page := range atLeast {
		t.Errorf("there is no page %s", page)
	}
}

func findNamedTests(t *testing.T, page string, atLeast int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	named := namedTest.FindAllStringSubmatch(string(text), -1)
	if len(named) < atLeast {
		t.Errorf("%s names %d tests: has their form changed?", page, len(named))
	}
	folder := ""
	for _, match := range named {
		if match[1] != "" {
			folder = match[1]
		}
		test, part := match[2], match[3]
		if !hasTest(t, folder, test) {
			t.Errorf("%s names %s in %s, which is not there", page, test, folder)
		}
		if part != "" && !hasPart(t, folder, part) {
			t.Errorf("%s names the part %s of %s in %s, which is not there", page, part, test, folder)
		}
	}
}

func hasTest(t *testing.T, folder, test string) bool {
	t.Helper()
	found := false
	walk(t, folder, func(name string) {
		if path.Dir(name) == folder && strings.HasSuffix(name, "_test.go") {
			found = found || contains(t, name, "\nfunc "+test+"(")
		}
	})
	return found
}

// hasPart looks for a part of a suite: a case of the suite that stores share, a script, or a case by its name in the
// tests of the folder.
func hasPart(t *testing.T, folder, part string) bool {
	t.Helper()
	if _, err := fs.Stat(os.DirFS(root), path.Join(folder, "testdata", "script", part+".txtar")); err == nil {
		return true
	}
	if contains(t, "storage/internal/storagetest/suite.go", `{"`+part+`", `) {
		return true
	}
	found := false
	walk(t, folder, func(name string) {
		if path.Dir(name) == folder && strings.HasSuffix(name, "_test.go") {
			found = found || contains(t, name, `"`+strings.ReplaceAll(part, "_", " ")+`": func(`) ||
				contains(t, name, `{"`+part+`", test`)
		}
	})
	return found
}

func contains(t *testing.T, name, text string) bool {
	t.Helper()
	return strings.Contains(textOf(t, name), text)
}

// textOf returns the text of a file, named below the root.
func textOf(t *testing.T, name string) string {
	t.Helper()
	all, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	for heading, want := range map[string]string{
		"Departures from TaskFlow":           "departures-from-taskflow",
		"G1: a committed checkpoint is lost": "g1-a-committed-checkpoint-is-lost",
		"`ebb run`, in short":                "ebb-run-in-short",
	} {
		if got := anchorOf(heading); got != want {
			t.Errorf("%q is linked to as %q, want %q", heading, got, want)
		}
	}
}
