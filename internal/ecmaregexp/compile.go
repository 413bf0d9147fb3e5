package ecmaregexp

import (
	"fmt"
	"strings"
)

// A Regexp is a compiled pattern. Any number of goroutines may use it.
type Regexp struct {
	source    string
	fold      bool
	multiline bool
	groups    int
	slots     int
	program   []instruction
}

// Source returns the pattern, without its flags.
func (re *Regexp) Source() string { return re.source }

// Groups returns the number of groups of the pattern.
func (re *Regexp) Groups() int { return re.groups }

// Instructions returns the number of compiled instructions. Each takes about 64 bytes of memory.
func (re *Regexp) Instructions() int { return len(re.program) }

type operation uint8

const (
	matchOne  operation = iota // one character that test accepts
	matchRun                   // min to max of them
	split                      // continue at x, or else at y
	jump                       // continue at x
	save                       // store the position in slot x
	forget                     // clear the matches of groups x to y
	progress                   // continue only if the position is not the one in slot x
	atBegin                    //
	atEnd                      //
	atWordEnd                  // negated: not at one
	again                      // the text that group x matched
	lookAt                     // the instructions up to x match here; negated: they do not match
	accept                     //
)

type instruction struct {
	op       operation
	negated  bool
	lazy     bool
	back     bool // reads to the left
	x, y     int
	min, max int
	test     tree // a literal, a dot or a class
}

// Compile compiles a pattern. The flags are i, m and g, which has no effect.
func Compile(pattern, flags string) (*Regexp, error) {
	t, p, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	c := &compiler{names: p.names, re: &Regexp{
		source: pattern, groups: p.groups, slots: 2 * (p.groups + 1),
		fold: strings.Contains(flags, "i"), multiline: strings.Contains(flags, "m"),
	}}
	c.add(instruction{op: save, x: 0})
	c.tree(t, false)
	c.add(instruction{op: save, x: 1})
	c.add(instruction{op: accept})
	if c.tooLarge {
		return nil, &SyntaxError{0, fmt.Sprintf("the pattern compiles to more than %d instructions; lower its repetitions",
			MaxProgram)}
	}
	return c.re, nil
}

type compiler struct {
	re       *Regexp
	names    map[string]int
	tooLarge bool
}

// add appends an instruction and returns its index.
func (c *compiler) add(i instruction) int {
	if len(c.re.program) >= MaxProgram {
		c.tooLarge = true
		return 0
	}
	c.re.program = append(c.re.program, i)
	return len(c.re.program) - 1
}

// here is the index of the next instruction.
func (c *compiler) here() int { return len(c.re.program) }

// tree compiles a tree. A look-behind is matched from right to left.
func (c *compiler) tree(t tree, back bool) {
	if c.tooLarge {
		return
	}
	switch t := t.(type) {
	case literal, dot, *class:
		c.add(instruction{op: matchOne, test: t, back: back})
	case sequence:
		for i := range t {
			if back {
				i = len(t) - 1 - i
			}
			c.tree(t[i], back)
		}
	case choice:
		c.choice(t, back)
	case *repeat:
		c.repeat(t, back)
	case group:
		first, last := 2*t.index, 2*t.index+1
		if back {
			first, last = last, first
		}
		c.add(instruction{op: save, x: first})
		c.tree(t.part, back)
		c.add(instruction{op: save, x: last})
	case look:
		at := c.add(instruction{op: lookAt, negated: t.negative})
		c.tree(t.part, t.behind)
		c.add(instruction{op: accept})
		c.re.program[at].x = c.here()
	case reference:
		index := t.index
		if t.name != "" {
			index = c.names[t.name]
		}
		c.add(instruction{op: again, x: index, back: back})
	case begin:
		c.add(instruction{op: atBegin})
	case end:
		c.add(instruction{op: atEnd})
	case wordEnd:
		c.add(instruction{op: atWordEnd, negated: t.not})
	}
}

func (c *compiler) choice(alternatives choice, back bool) {
	var out []int
	for i, t := range alternatives {
		if i == len(alternatives)-1 {
			c.tree(t, back)
			break
		}
		at := c.add(instruction{op: split})
		c.re.program[at].x = c.here()
		c.tree(t, back)
		out = append(out, c.add(instruction{op: jump}))
		c.re.program[at].y = c.here()
	}
	for _, at := range out {
		c.re.program[at].x = c.here()
	}
}

func (c *compiler) repeat(t *repeat, back bool) {
	if single(t.part) {
		c.add(instruction{op: matchRun, test: t.part, min: t.min, max: t.max, lazy: t.lazy, back: back})
		return
	}
	iteration := func() {
		if t.first <= t.last {
			c.add(instruction{op: forget, x: t.first, y: t.last})
		}
		c.tree(t.part, back)
	}
	for range t.min {
		if iteration(); c.tooLarge {
			return
		}
	}
	if t.max < 0 {
		c.loop(t.lazy, true, iteration)
		return
	}
	var out []int
	for range t.max - t.min {
		out = append(out, c.loop(t.lazy, false, iteration))
		if c.tooLarge {
			return
		}
	}
	for _, at := range out {
		c.branch(at, t.lazy, c.here())
	}
}

// loop compiles an optional or endless iteration. An iteration that matches nothing does not count, so the loop ends.
// loop returns its start.
func (c *compiler) loop(lazy, endless bool, iteration func()) int {
	slot := c.re.slots
	c.re.slots++
	at := c.add(instruction{op: split})
	if c.branch(at, !lazy, c.here()); c.tooLarge {
		return at
	}
	c.add(instruction{op: save, x: slot})
	iteration()
	c.add(instruction{op: progress, x: slot})
	if endless {
		c.add(instruction{op: jump, x: at})
		c.branch(at, lazy, c.here())
	}
	return at
}

// branch sets where a split continues first, and where otherwise.
func (c *compiler) branch(at int, first bool, to int) {
	if first {
		c.re.program[at].x = to
	} else {
		c.re.program[at].y = to
	}
}
