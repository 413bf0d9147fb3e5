package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/pagetest"
)

// coverageFile is the page that tells how far the records of the States Language
// are met. With EBB_COVERAGE=write each test of them rewrites its section:
//
//	EBB_COVERAGE=write go test -p 1 ./engine ./flow/asl ./internal/jsonata ./server/sfn -run TestConformance
const coverageFile = "docs/reference/asl-coverage.md"

const coverageHead = `# How far the Amazon States Language is covered

Tests compare Ebb with what was recorded on AWS and what others assert. Those records are not part of this repository.
Our own cases, asl/own and sm4c/own, are listed in [their format](../../internal/conformance/testdata/FORMAT.md).
The tests write this page:

    EBB_COVERAGE=write go test -p 1 ./engine ./flow/asl ./internal/jsonata ./server/sfn -run TestConformance

The levels of an execution: L1 status, output and error; L2 and the cause; L3 and the types and states of all events
in order; L4 and their details; L5 and their numbers and what each follows from. A figure says how many records agree.
Each miss is named with its reason.
`

var coverageMu sync.Mutex

// A figure is how many of some records agree.
type figure struct {
	name       string
	passed, of int
}

// coverage writes a section of the page, if it is to be written.
func coverage(tb testing.TB, what string, figures []figure, misses []string) {
	tb.Helper()
	if os.Getenv("EBB_COVERAGE") != "write" {
		return
	}
	coverageMu.Lock()
	defer coverageMu.Unlock()
	test, _, _ := strings.Cut(tb.Name(), "/")
	what += ", " + test
	file := filepath.Join(top(tb), coverageFile)
	text, err := os.ReadFile(file)
	if err != nil {
		text = []byte(coverageHead)
	}
	if err := os.WriteFile(file, []byte(pagetest.Wrap(replaced(string(text), what, figures, misses))), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// replaced returns the page with another section.
func replaced(page, what string, figures []figure, misses []string) string {
	const mark = "\n## "
	parts := strings.Split(page, mark)
	sections := slices.DeleteFunc(parts[1:], func(s string) bool { return strings.HasPrefix(s, what+"\n") })
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s.\n", what, agreement(figures))
	if len(misses) > 0 {
		b.WriteString("\n")
	}
	for _, miss := range misses {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(explained(miss), "\n", " "))
	}
	sections = append(sections, b.String())
	slices.Sort(sections)
	return coverageHead + mark + strings.Join(trimmed(sections), "\n"+mark) + "\n"
}

// agreement returns the figures as a text. Those that are equal stand together.
func agreement(figures []figure) string {
	var parts []string
	for len(figures) > 0 {
		first := figures[0]
		n := slices.IndexFunc(figures, func(f figure) bool { return f.passed != first.passed || f.of != first.of })
		if n < 0 {
			n = len(figures)
		}
		names := make([]string, n)
		for i, f := range figures[:n] {
			names[i] = f.name
		}
		part := fmt.Sprintf("%s: %d of %d", strings.Join(names, ", "), first.passed, first.of)
		if first.passed != first.of {
			part += fmt.Sprintf(" (%.1f %%)", 100*float64(first.passed)/float64(first.of))
		}
		parts, figures = append(parts, part), figures[n:]
	}
	return strings.Join(parts, "; ")
}

func trimmed(sections []string) []string {
	for i, s := range sections {
		sections[i] = strings.TrimRight(s, "\n")
	}
	return sections
}

// explained returns a miss with its reason.
func explained(miss string) string {
	for part, reason := range reasons {
		if strings.Contains(miss, part) {
			return "`" + clipped(miss) + "`: " + reason
		}
	}
	return "`" + clipped(miss) + "`: the reason is not known"
}

func clipped(miss string) string {
	const most = 200
	if runes := []rune(miss); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return miss
}

// reasons say why a record is not met, by a part of what tells the miss.
var reasons = map[string]string{
	"test_service_lambda_map_timeout": "four iterations time out at one moment. AWS had noted all four TaskTimedOut " +
		"before the first failed the Map; here " +
		"the first ends the others, whose ends are then not noted.",
	"invalid-json-surround-syntax-extra-spaces": "a JSONata expression over two lines, which another validator refuses " +
		"and AWS runs.",
	"valid-task-credentials": "Credentials without a RoleArn, which AWS refuses (recorded).",
	"test_base_lifecycle_create_update_describe": "the recorder gave two versions the number 1 in the request; AWS's " +
		"answer shows versions 1 and 2, and refuses a version that is given twice.",
	"test_tag_invalid_state_machine[tag_list1]": "the recording client refused the empty key itself; AWS's model " +
		"requires one character.",
	"test_query_runtime_memory": "the ARN of an Express execution ends with a UUID, which the server chooses and the " +
		"record has replaced.",
	"range-operator/case024": "a range of ten million numbers, beyond what one visit to a state may take.",
}
