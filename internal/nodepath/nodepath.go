// Package nodepath is the grammar of the paths of nodes in a run. Ship[3]/Pack#2 is the second visit of the state Pack
// in child 3 of the fork Ship.
//
//	path    = part *( "/" part )
//	part    = name [ visit ] [ [ attempt ] index ]
//	name    = the name of a state or action, with ~ written as ~0, and / as ~1
//	visit   = "#" number    on the second node of a name, and those after it
//	attempt = "@" number    on the children that the second attempt of a fork makes, and those after it
//	index   = "[" number "]"
package nodepath

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
	numbers   = regexp.MustCompile(`(?:@\d+)?\[[^\]]*\]|#\d+`)
)

// Escape returns a name in the form of paths.
func Escape(name string) string { return escaper.Replace(name) }

// Unescape returns the name that [Escape] escaped.
func Unescape(name string) string { return unescaper.Replace(name) }

// Visit returns the path part of the nth node of an escaped name: Pay, then Pay#2. If the name itself ends like a
// visit, its first node has a number, too, so that no two nodes have the same part.
func Visit(name string, n int) string {
	if _, number := CutVisit(name); n <= 1 && number == "" {
		return name
	}
	return name + "#" + strconv.Itoa(max(n, 1))
}

// CutVisit cuts off the number of a visit: Pay and 2 for Pay#2, Pay and "" for Pay.
func CutVisit(part string) (name, number string) {
	if i := strings.LastIndexByte(part, '#'); i >= 0 && isNumber(part[i+1:]) {
		return part[:i], part[i+1:]
	}
	return part, ""
}

// State returns the name of the state for a part without an index: Pay for Pay#2.
func State(part string) string {
	name, _ := CutVisit(part)
	return Unescape(name)
}

// Child returns the path of child i of an attempt of a fork: Ship[3], Ship@2[3].
func Child(fork string, attempt, i int) string {
	if attempt > 1 {
		fork += "@" + strconv.Itoa(attempt)
	}
	return fork + "[" + strconv.Itoa(i) + "]"
}

// CutIndex cuts off the index of a child from a path or its last part: Ship and 3 for Ship[3]. For a path without an
// index at its end, it returns the path and false.
func CutIndex(path string) (fork string, i int, ok bool) {
	open := strings.LastIndexByte(path, '[')
	if open < 0 || !strings.HasSuffix(path, "]") || !isNumber(path[open+1:len(path)-1]) {
		return path, 0, false
	}
	i, err := strconv.Atoi(path[open+1 : len(path)-1])
	return path[:open], i, err == nil
}

// Compare compares paths part by part, and the children of a fork by their numbers.
func Compare(a, b string) int {
	for a != "" && b != "" {
		var partA, partB string
		partA, a, _ = strings.Cut(a, "/")
		partB, b, _ = strings.Cut(b, "/")
		if partA != partB {
			forkA, numberA, _ := CutIndex(partA)
			forkB, numberB, _ := CutIndex(partB)
			return cmp.Or(strings.Compare(forkA, forkB), numberA-numberB, strings.Compare(partA, partB))
		}
	}
	return len(a) - len(b)
}

// Inside reports whether a path belongs to a child of a fork, in any attempt, or to a node inside a child.
func Inside(path, fork string) bool {
	rest, is := strings.CutPrefix(path, fork)
	child, _, _ := strings.Cut(rest, "/")
	attempt, _, indexed := CutIndex(child)
	if attempt != "" {
		number, again := strings.CutPrefix(attempt, "@")
		indexed = indexed && again && isNumber(number)
	}
	return is && indexed
}

// Unnumbered returns a path without the indexes and attempts of children, and without the numbers of visits.
func Unnumbered(path string) string { return numbers.ReplaceAllString(path, "") }

// Names returns the names by which tests know the node at a path, the more exact one first: with what is around it,
// without numbers, and its own. They are Fork/Pay and Pay for Fork[0]/Pay#2.
func Names(path string) (exact, own string) {
	return Unescape(Unnumbered(path)), State(Last(path))
}

// Last returns the last part of a path.
func Last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
