package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/pagetest"
)

// A promise is what the comment of a test says that the test proves: a guarantee, or the result of an attack. A comment
// may have several, each a paragraph with the section of the page, the text, and other tests that prove it:
//
//	Guarantee (G1): A refused checkpoint leaves nothing behind.
//	Also: `engine: TestStoreErrorIsNoFailure`.
//
// An attack also has a line "Result: …". The texts are Markdown.
type promise struct {
	test   string // such as engine: TestStop
	text   string
	result string // of an attack
	also   string
}

// A promiseSection is a part of a page. The kind is Guarantee or Attack.
type promiseSection struct {
	kind, name string
	heading    string
	note       string // before the table
	open       string // rows of the table that no test proves yet
}

var (
	// promiseParagraph finds the first line of a promise.
	promiseParagraph = regexp.MustCompile(`^(Guarantee|Attack) \(([^)]+)\): `)
	// testFunction finds the function of a comment. Tests of the suite of stores are not exported.
	testFunction = regexp.MustCompile(`^func ((?:Test|Fuzz|Example|test)\w*)\(`)
	// suiteTest finds a test of the suite of stores, with its name.
	suiteTest = regexp.MustCompile(`\{"(\w+)", (test\w+)\}`)
)

// storeSuite is the folder of the suite that all stores pass. On SQLite, its tests are parts of TestStore.
const storeSuite = "storage/internal/storagetest"

// scriptFolder is the folder whose test TestScripts runs scripts. A script's first comment is like that of a test.
const scriptFolder = "cmd/ebb"

// TestPromises keeps the pages of guarantees and attacks equal to the comments of the tests. Run it with -update after
// a change.
func TestPromises(t *testing.T) {
	t.Parallel()
	found := promises(t)
	for page, text := range map[string]string{
		"docs/reference/guarantees.md": promisePage(guaranteesIntroduction, guaranteeSections(), found),
		"docs/reference/attacks.md":    promisePage(attacksIntroduction, attackSections(), found),
	} {
		pagetest.Check(t, filepath.Join(root, page), pagetest.Wrap(text), *update)
	}
	for section := range found {
		t.Errorf("%s: no page has this section", section)
	}
}

// promisePage returns a page, and removes its promises from found.
func promisePage(introduction string, sections []promiseSection, found map[string][]promise) string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, s := range sections {
		b.WriteString("\n## " + s.heading + "\n\n")
		if s.note != "" {
			b.WriteString(s.note + "\n\n")
		}
		if s.kind == "Attack" {
			b.WriteString("| attack | what Ebb does | tests |\n|---|---|---|\n")
		} else {
			b.WriteString("| promise | tests |\n|---|---|\n")
		}
		key := s.kind + " (" + s.name + ")"
		for _, p := range found[key] {
			cells := []string{p.text, p.result, "`" + p.test + "`"}
			if s.kind != "Attack" {
				cells = slices.Delete(cells, 1, 2)
			}
			row := "| " + strings.Join(cells, " | ")
			switch {
			case strings.HasPrefix(p.also, "("), strings.HasPrefix(p.also, ";"):
				row += " " + p.also
			case p.also != "":
				row += ", " + p.also
			}
			b.WriteString(strings.Replace(row, "` ;", "`;", 1) + " |\n")
		}
		b.WriteString(s.open)
		delete(found, key)
	}
	return b.String()
}

// promises returns the promises in the comments of all tests, by kind and section, in the order of the tests' folders.
func promises(t *testing.T) map[string][]promise {
	t.Helper()
	parts := map[string]string{}
	for _, match := range suiteTest.FindAllStringSubmatch(textOf(t, storeSuite+"/suite.go"), -1) {
		parts[match[2]] = match[1]
	}
	found := map[string][]promise{}
	add := func(name, test string, comment []string) {
		for paragraph := range strings.SplitSeq(strings.Join(comment, "\n"), "\n\n") {
			match := promiseParagraph.FindStringSubmatch(paragraph)
			if match == nil {
				continue
			}
			p := promise{test: test}
			p.text, p.result, p.also = promiseFields(strings.TrimPrefix(paragraph, match[0]))
			if isAttack := match[1] == "Attack"; p.text == "" || isAttack != (p.result != "") {
				t.Errorf("%s: %s: a guarantee has a text; an attack has a text and a line that begins with Result:", name, test)
			}
			key := match[1] + " (" + match[2] + ")"
			found[key] = append(found[key], p)
		}
	}
	walk(t, ".", func(name string) {
		folder := path.Dir(name)
		if !strings.HasSuffix(name, "_test.go") && (folder != storeSuite || path.Ext(name) != ".go") {
			return
		}
		lines := strings.Split(textOf(t, name), "\n")
		for i, line := range lines {
			if match := testFunction.FindStringSubmatch(line); match != nil {
				test := folder + ": " + match[1]
				if part := parts[match[1]]; part != "" && folder == storeSuite {
					test = "storage/sqlstore: TestStore/" + part
				}
				add(name, test, commentBefore(lines[:i]))
			}
		}
	})
	scripts, err := fs.Glob(os.DirFS(root), scriptFolder+"/testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Errorf("no scripts in %s: %v", scriptFolder, err)
	}
	for _, name := range scripts {
		test := scriptFolder + ": TestScripts/" + strings.TrimSuffix(path.Base(name), ".txtar")
		add(name, test, leadingComment(strings.Split(textOf(t, name), "\n"), "#"))
	}
	return found
}

// promiseFields splits a promise into its lines, without the full stops at their ends.
func promiseFields(paragraph string) (text, result, also string) {
	text, also, _ = strings.Cut(paragraph, "\nAlso: ")
	text, result, _ = strings.Cut(text, "\nResult: ")
	field := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\n", " "), ".") }
	return field(text), field(result), field(also)
}

// commentBefore returns the comment at the end of the lines, without its marks.
func commentBefore(lines []string) []string {
	from := len(lines)
	for from > 0 && strings.HasPrefix(lines[from-1], "//") {
		from--
	}
	return leadingComment(lines[from:], "//")
}

// leadingComment returns the comment at the start of the lines, without its marks.
func leadingComment(lines []string, mark string) (comment []string) {
	for _, line := range lines {
		text, is := strings.CutPrefix(line, mark)
		if !is {
			break
		}
		comment = append(comment, strings.TrimPrefix(text, " "))
	}
	return comment
}
