package jq

import "strings"

// locate returns the position of the nth use of a word in a program, from 1. It ignores the word in strings, in
// comments, and where it is defined. If the program has fewer uses, locate returns the last one, or 0 without any.
func locate(source, word string, nth int) int {
	l := &locator{source: source, word: word, nth: nth}
	at, _ := l.program(0, false)
	if at < 0 {
		at = l.last
	}
	return at
}

type locator struct {
	source, word string
	nth          int // uses that remain to be found
	last         int // position of the last use
}

// program searches a program, or the part of it up to the closing bracket. It returns the position of the word, or -1,
// and the end of the program.
func (l *locator) program(at int, bracketed bool) (found, end int) {
	depth := 0
	for at < len(l.source) {
		switch c := l.source[at]; {
		case c == '"':
			if found, at = l.text(at + 1); found >= 0 {
				return found, at
			}
		case c == '#':
			at += len(l.source[at:]) - len(strings.TrimLeft(l.source[at:], "#"))
			if line := strings.IndexByte(l.source[at:], '\n'); line >= 0 {
				at += line
			} else {
				at = len(l.source)
			}
		case l.stands(at):
			return at, at
		case bracketed && c == ')' && depth == 0:
			return -1, at + 1
		default:
			depth += map[byte]int{'(': 1, ')': -1}[c]
			at++
		}
	}
	return -1, at
}

// text searches the programs in a string.
func (l *locator) text(at int) (found, end int) {
	for at < len(l.source) {
		switch {
		case l.source[at] == '"':
			return -1, at + 1
		case strings.HasPrefix(l.source[at:], `\(`):
			if found, at = l.program(at+2, true); found >= 0 {
				return found, at
			}
		case l.source[at] == '\\':
			at += 2
		default:
			at++
		}
	}
	return -1, at
}

// stands reports whether the word is at a position, and is the use that counts.
func (l *locator) stands(at int) bool {
	if !l.isThere(at) {
		return false
	}
	l.last = at
	l.nth--
	return l.nth <= 0
}

func (l *locator) isThere(at int) bool {
	end := at + len(l.word)
	if !strings.HasPrefix(l.source[at:], l.word) || l.word == "" {
		return false
	}
	if isWord(l.word[0]) && at > 0 && (isWord(l.source[at-1]) || strings.IndexByte(".$@", l.source[at-1]) >= 0) {
		return false
	}
	if before := strings.TrimRight(l.source[:at], " \t\r\n"); strings.HasSuffix(before, "def") && len(before) < at {
		return false
	}
	return !isWord(l.word[len(l.word)-1]) || end >= len(l.source) || !isWord(l.source[end])
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
