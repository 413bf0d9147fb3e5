package draw_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/flow/draw"
)

var (
	mermaidQuoted = regexp.MustCompile(`"[^"\n]*"`)
	dotQuoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	color         = regexp.MustCompile(`#[0-9a-f]{6}`)
	// mermaidRest and dotRest are all that may stand outside of quotes.
	mermaidRest = regexp.MustCompile(`^(?:---\ntitle: \n---\n)?flowchart TD\n[A-Za-z0-9_ ,:.|/()\[\]{}\n>-]*$`)
	dotRest     = regexp.MustCompile(`^digraph +\{\n[a-z0-9_ ,;=\[\]{}\n>-]*\}\n$`)
)

// anyView draws views of any kind, most of them broken.
func anyView() *rapid.Generator[draw.View] {
	id := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "c"}), rapid.String())
	text := rapid.OneOf(rapid.SampledFrom([]string{
		"", `"`, `\`, "]", "-->", "\n", "`x`", "#quot;", "\"\n  n9 --> n8\n",
		"\x00",
	}), rapid.String())
	state := rapid.OneOf(rapid.SampledFrom([]string{"SUCCESS", "REVERTED", "RETRYING", "PENDING"}), text)
	kind := rapid.Map(rapid.IntRange(int(draw.Task), int(draw.End)), func(k int) draw.Kind { return draw.Kind(k) })
	return rapid.Custom(func(t *rapid.T) draw.View {
		return draw.View{
			Title: text.Draw(t, "title"),
			Groups: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) draw.Group {
				return draw.Group{ID: id.Draw(t, "id"), Label: text.Draw(t, "label"), In: id.Draw(t, "in")}
			}), 0, 6).Draw(t, "groups"),
			Nodes: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) draw.Node {
				return draw.Node{
					ID: id.Draw(t, "id"), Label: text.Draw(t, "label"), Kind: kind.Draw(t, "kind"),
					State: state.Draw(t, "state"), In: id.Draw(t, "in"),
				}
			}), 0, 6).Draw(t, "nodes"),
			Edges: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) draw.Edge {
				return draw.Edge{
					From: id.Draw(t, "from"), To: id.Draw(t, "to"), Label: text.Draw(t, "label"),
					Maybe: rapid.Bool().Draw(t, "maybe"),
				}
			}), 0, 6).Draw(t, "edges"),
		}
	})
}

// TestTextsStayTexts: for any view, its texts stay within quotes, and a picture of n nodes and edges has about n lines.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyView().Draw(t, "view")
		mermaid, dot := draw.Mermaid(v), draw.DOT(v)
		if rest := color.ReplaceAllString(mermaidQuoted.ReplaceAllString(mermaid, ""), ""); !mermaidRest.MatchString(rest) {
			t.Errorf("Mermaid has outside of quotes:\n%s\nof:\n%s", rest, mermaid)
		}
		if rest := dotQuoted.ReplaceAllString(dot, ""); !dotRest.MatchString(rest) {
			t.Errorf("DOT has outside of quotes:\n%s\nof:\n%s", rest, dot)
		}
		most := 3*len(v.Groups) + 3*len(v.Nodes) + len(v.Edges) + 4 // a class of its own for each node
		for language, text := range map[string]string{"Mermaid": mermaid, "DOT": dot} {
			if n := strings.Count(text, "\n"); n > most {
				t.Errorf("%s has %d lines, want at most %d:\n%s", language, n, most, text)
			}
		}
	})
}
