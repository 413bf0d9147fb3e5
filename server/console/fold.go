package console

import "strings"

// folded shows a text. If it is JSON on several lines, as package json indents it, each array and object in it can be
// folded. The text that a reader selects or copies stays the same JSON.
func folded(text string) node {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) == 1 || !opens(lines[0]) || !closes(lines[len(lines)-1]) {
		return el("pre", attr("tabindex", "0"), literal(text))
	}
	all, rest := foldedLines(lines[1 : len(lines)-1])
	return el("div", class("json"), attr("tabindex", "0"), literal(lines[0]), all, literal(strings.Join(rest, "")),
		literal(lines[len(lines)-1]))
}

// foldedLines shows lines until one that ends what is around them, which it returns with those after it.
func foldedLines(lines []string) (all fragment, rest []string) {
	for len(lines) > 0 && !closes(lines[0]) {
		line := lines[0]
		if lines = lines[1:]; !opens(line) {
			all = append(all, literal(line))
			continue
		}
		inside, after := foldedLines(lines)
		all = append(all, el("details", attr("open", ""), el("summary", literal(line)), inside))
		if lines = after; len(lines) > 0 { // what ends it
			all, lines = append(all, literal(lines[0])), lines[1:]
		}
	}
	return all, lines
}

// opens reports whether a line of indented JSON begins an array or object that ends on a later line. A line that ends
// with a text ends with a quotation mark.
func opens(line string) bool {
	line = strings.TrimSuffix(line, "\n")
	return strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[")
}

func closes(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "}") || strings.HasPrefix(line, "]")
}

// searching is a field that marks a text in the values of the panel. It needs the script.
var searching = el("p", class("tool"), el("label", say("Search in the values"), words(" "),
	el("input", attr("type", "search"), attr("data-search", ""))))
