package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	// goBlock finds Go code of a page.
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")
	// between finds what divides the paragraphs of code.
	between = regexp.MustCompile(`\n(?:\s*\n)+|\n\s*…\n`)
	// codeIn finds the file that has the code of a page.
	codeIn = regexp.MustCompile(`<!-- The Go code is in (\S+) -->`)
)

// TestCodeOfPages looks for the Go code of pages in the tests that they name: all lines must stand there, those of a
// paragraph one after the other. So what a reader copies compiles, and does what the page says.
func TestCodeOfPages(t *testing.T) {
	t.Parallel()
	pages := 0
	walk(t, ".", func(name string) {
		if path.Ext(name) != ".md" {
			return
		}
		page := textOf(t, name)
		var code []string
		for _, file := range codeIn.FindAllStringSubmatch(page, -1) {
			code = append(code, unindented(textOf(t, path.Join(path.Dir(name), file[1])))...)
		}
		if code == nil {
			return
		}
		pages++
		for _, block := range goBlock.FindAllStringSubmatch(page, -1) {
			for _, paragraph := range between.Split(block[1], -1) {
				part := strings.Join(unindented(paragraph), "\n")
				if !strings.Contains("\n"+strings.Join(code, "\n")+"\n", "\n"+part+"\n") && part != "" {
					t.Errorf("%s has code that is not in its test:\n%s", name, part)
				}
			}
		}
	})
	if pages < 2 {
		t.Errorf("found %d pages with tested code; has their mark changed?", pages)
	}
}

// unindented returns the lines of a text that are not empty, without indentation and comments.
func unindented(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " // ")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines = append(lines, line)
		}
	}
	return lines
}
