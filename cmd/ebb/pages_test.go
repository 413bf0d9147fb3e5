package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
)

var (
	codeOfPage    = regexp.MustCompile("(?s)```(?:sh|yaml)\n.*?```|`[^`\n]+`")
	commandOnPage = regexp.MustCompile(`(?m)(?:^|[\s(;&|"` + "`" + `])ebb((?: [a-z][a-z-]*)+)?([^|;&#\n` + "`" + `]*)`)
	notCalls      = strings.NewReplacer("\\\n", " ", "exec ebb ", "", "-u ebb ", "", "install ebb ", "") // containers, users, releases
	flagOnPage    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
)

var yamlOnPage = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestPagesHaveYAML: what the pages show as YAML is YAML.
func TestPagesHaveYAML(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlOnPage.FindAllSubmatch(text, -1) {
			if _, err := document.ParseYAML(block[1]); err != nil {
				t.Errorf("%s: %v\n%s", page, err, block[1])
			}
			found++
		}
	}
	if found < 5 {
		t.Errorf("it found only %d blocks", found)
	}
}

// TestPagesNameCommands: the commands and flags on the pages that tell how to do something exist.
func TestPagesNameCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*o*/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range codeOfPage.FindAllString(string(text), -1) {
			for _, m := range commandOnPage.FindAllStringSubmatch(notCalls.Replace(code), -1) {
				words := strings.Fields(m[1])
				if len(words) == 0 {
					continue
				}
				cmd, _, err := command.Root(session.New(nil, nil, nil)).Find(words)
				if err != nil || !cmd.HasParent() {
					t.Errorf("%s: there is no command ebb %s", page, words[0])
					continue
				}
				found++
				cmd.InitDefaultHelpFlag()
				for _, flag := range flagOnPage.FindAllStringSubmatch(m[1]+m[2], -1) {
					if cmd.Flags().Lookup(flag[1]) == nil && cmd.InheritedFlags().Lookup(flag[1]) == nil {
						t.Errorf("%s: ebb %s has no flag --%s", page, cmd.Name(), flag[1])
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("it found only %d commands", found)
	}
}
