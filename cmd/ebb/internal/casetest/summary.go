package casetest

import (
	"fmt"
	"io"
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/visible"
)

// WriteSummary writes the report as a page of Markdown: a table of coverage, the failed cases, and a picture of each
// definition in which covered and missed states differ. GitHub and GitLab show the pictures.
func (r *Report) WriteSummary(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %d passed, %d failed\n", count(len(r.Results), "case"), len(r.Results)-r.Failed(), r.Failed())
	if r.Failed() > 0 {
		b.WriteString("\n")
	}
	for _, result := range r.Results {
		if !result.Passed {
			fmt.Fprintf(&b, "- **%s**\n", escaped(result.Case))
			for line := range strings.Lines(result.details()) {
				fmt.Fprintf(&b, "  - %s\n", escaped(strings.TrimSpace(line)))
			}
		}
	}
	for _, c := range r.Coverage {
		fmt.Fprintf(&b, "\n## %s: %d %%\n\n| part | covered | of |\n|---|---|---|\n", escaped(c.Def.Source.File),
			int(c.Percent()))
		for _, n := range c.Counts() {
			fmt.Fprintf(&b, "| %s | %d | %d |\n", plural(n.Kind), n.Covered, n.All)
		}
		fmt.Fprintf(&b, "\n```mermaid\n%s```\n", draw.Mermaid(c.Def.Covered(c.Hits)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "|", `\|`)

// escaped returns a text as Markdown shows it.
func escaped(text string) string { return markdown.Replace(visible.Line(text)) }
