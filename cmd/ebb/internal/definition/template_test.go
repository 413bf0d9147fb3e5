package definition

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeTemplate shows that a small template does not stand for more than it may: a Join whose separator is long, Joins in Joins, and a
// file that many machines name.
//
// Attack (Definitions and expressions): `Fn::Join` with a separator of 1 MB and 50,000 parts, or 3,000 machines of a
// template that name one file.
// Result: One limit for all definitions, counted while building them.
func TestLargeTemplate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("def.json", `{"Comment": "`+strings.Repeat("x", 1<<20-200)+`", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`)
	join := func(separator, what string, n int) string {
		return fmt.Sprintf(`{"Fn::Join": ["%s", [%s]]}`, separator, strings.TrimSuffix(strings.Repeat(what+", ", n), ", "))
	}
	machine := func(text string) string {
		return `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": ` + text + `}}}}`
	}
	var files []string
	for i := range 3000 {
		files = append(files, fmt.Sprintf(`"M%d": {"Type": "AWS::Serverless::StateMachine", "Properties": {"DefinitionUri": "def.json"}}`, i))
	}
	for name, text := range map[string]string{
		"separator.json": machine(join(strings.Repeat("x", 1_000_000), `"a"`, 50_000)),
		"joins.json":     machine(join("", join(strings.Repeat("x", 1000), `"a"`, 3000), 100)),
		"files.json":     `{"Resources": {` + strings.Join(files, ", ") + `}}`,
	} {
		p, err := ReadProject(write(name, text), Reading{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		size, problems := 0, ""
		for _, s := range append(p.Sources, p.About...) {
			size += len(s.text)
			problems += s.problems.Error()
		}
		if size > maxTemplate || !strings.Contains(problems, "together") {
			t.Errorf("%s: %d definitions of %d bytes: %s", name, len(p.Sources), size, problems)
		}
	}
}
