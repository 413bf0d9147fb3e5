package ecmaregexp

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrBudget is returned if matching takes more steps than the budget has, or must remember too much.
var ErrBudget = errors.New("the regular expression takes too many steps")

// maxPending bounds the number of remembered alternatives.
const maxPending = 1 << 18

// Match finds the first match that starts at or after an offset. It returns the offsets at which the match and each of
// its groups start and end, or nil without a match. A group that matched nothing has -1. Match takes its steps from the
// budget. If the budget is used up, the error is ErrBudget.
func (re *Regexp) Match(text string, from int, budget *int) ([]int, error) {
	m := &matcher{re: re, text: text, budget: budget, slots: make([]int, re.slots)}
	for at := from; ; {
		for i := range m.slots {
			m.slots[i] = -1
		}
		ok, err := m.run(0, at)
		if err != nil {
			return nil, err
		}
		if ok {
			return m.slots[:2*(re.groups+1)], nil
		}
		if at >= len(text) {
			return nil, nil
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
}

type matcher struct {
	re      *Regexp
	text    string
	budget  *int
	slots   []int
	pending []pending
}

// A pending is an alternative for the case that the current attempt fails: restore a slot, continue elsewhere, or
// change the length of a run by one character.
type pending struct {
	kind  pendingKind
	pc    int // instruction at which to continue; for a slot: its index
	pos   int // position in the text; for a slot: its value
	bound int // for a run: the end that changes
}

type pendingKind uint8

const (
	slotWas pendingKind = iota
	goOn
	shorter
	longer
)

func (m *matcher) spend(steps int) error {
	if *m.budget -= steps; *m.budget < 0 {
		return ErrBudget
	}
	return nil
}

func (m *matcher) remember(p pending) error {
	if len(m.pending) >= maxPending {
		return ErrBudget
	}
	m.pending = append(m.pending, p)
	return nil
}

func (m *matcher) set(slot, value int) error {
	err := m.remember(pending{kind: slotWas, pc: slot, pos: m.slots[slot]})
	m.slots[slot] = value
	return err
}

// run matches the instructions from pc to an accept.
func (m *matcher) run(pc, pos int) (bool, error) {
	base := len(m.pending)
	for {
		if err := m.spend(1); err != nil {
			return false, err
		}
		i := &m.re.program[pc]
		pc++
		ok, err := true, error(nil)
		switch i.op {
		case accept:
			m.settle(base)
			return true, nil
		case matchOne:
			pos, ok = m.one(i, pos)
		case matchRun:
			pos, ok, err = m.many(i, pc, pos)
		case split:
			pc = i.x
			err = m.remember(pending{kind: goOn, pc: i.y, pos: pos})
		case jump:
			pc = i.x
		case save:
			err = m.set(i.x, pos)
		case forget:
			for slot := 2 * i.x; slot <= 2*i.y+1 && err == nil; slot++ {
				err = m.set(slot, -1)
			}
		case progress:
			ok = m.slots[i.x] != pos
		case atBegin:
			ok = pos == 0 || m.re.multiline && isLineEnd(m.before(pos))
		case atEnd:
			ok = pos == len(m.text) || m.re.multiline && isLineEnd(m.after(pos))
		case atWordEnd:
			ok = isWord(m.before(pos)) != isWord(m.after(pos)) != i.negated
		case again:
			pos, ok, err = m.again(i, pos)
		case lookAt:
			ok, err = m.look(i, pc, pos)
			pc = i.x
		}
		if err != nil {
			return false, err
		}
		if !ok {
			if pc, pos, ok = m.back(base); !ok {
				return false, nil
			}
		}
	}
}

// settle removes the pending alternatives, but keeps the values of slots, which the surrounding match may have to
// restore.
func (m *matcher) settle(base int) {
	kept := m.pending[:base]
	for _, p := range m.pending[base:] {
		if p.kind == slotWas {
			kept = append(kept, p)
		}
	}
	m.pending = kept
}

// back continues with the last pending alternative.
func (m *matcher) back(base int) (pc, pos int, ok bool) {
	for len(m.pending) > base {
		last := len(m.pending) - 1
		p := &m.pending[last]
		switch p.kind {
		case slotWas:
			m.slots[p.pc] = p.pos
		case goOn:
			pc, pos = p.pc, p.pos
			m.pending = m.pending[:last]
			return pc, pos, true
		case shorter:
			if p.pos != p.bound {
				p.pos = m.step(p.pos, !m.re.program[p.pc-1].back)
				return p.pc, p.pos, true
			}
		case longer:
			i := &m.re.program[p.pc-1]
			if next, ok := m.one(i, p.pos); ok && p.bound != 0 {
				p.pos = next
				p.bound--
				return p.pc, p.pos, true
			}
		}
		m.pending = m.pending[:last]
	}
	return 0, 0, false
}

// step returns the position after one more character.
func (m *matcher) step(pos int, left bool) int {
	if left {
		_, size := utf8.DecodeLastRuneInString(m.text[:pos])
		return pos - size
	}
	_, size := utf8.DecodeRuneInString(m.text[pos:])
	return pos + size
}

// before and after return the characters around a position, or -1 at the ends.
func (m *matcher) before(pos int) rune {
	if pos == 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRuneInString(m.text[:pos])
	return r
}

func (m *matcher) after(pos int) rune {
	if pos >= len(m.text) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(m.text[pos:])
	return r
}

// one matches one character.
func (m *matcher) one(i *instruction, pos int) (int, bool) {
	r := m.after(pos)
	if i.back {
		r = m.before(pos)
	}
	if r < 0 || !m.passes(i.test, r) {
		return pos, false
	}
	return m.step(pos, i.back), true
}

func (m *matcher) passes(test tree, r rune) bool {
	switch t := test.(type) {
	case literal:
		return rune(t) == r || m.re.fold && canonical(rune(t)) == canonical(r)
	case *class:
		return t.has(r, m.re.fold)
	default:
		return !isLineEnd(r)
	}
}

// many matches a run of characters: as many as possible, or if it is lazy as few as allowed. Backtracking tries the
// other lengths.
func (m *matcher) many(i *instruction, pc, pos int) (end int, ok bool, err error) {
	most := i.max
	if i.lazy {
		most = i.min
	}
	bound, n := pos, 0
	for ; most < 0 || n < most; n++ {
		next, ok := m.one(i, pos)
		if !ok {
			break
		}
		pos = next
		if n < i.min {
			bound = pos
		}
		if n%8 == 0 {
			if err := m.spend(1); err != nil {
				return 0, false, err
			}
		}
	}
	switch {
	case n < i.min:
		return 0, false, nil
	case i.lazy && i.max != i.min:
		err = m.remember(pending{kind: longer, pc: pc, pos: pos, bound: i.max - i.min}) // below 0: no bound
	case !i.lazy && pos != bound:
		err = m.remember(pending{kind: shorter, pc: pc, pos: pos, bound: bound})
	}
	return pos, true, err
}

// again matches the text that a group matched.
func (m *matcher) again(i *instruction, pos int) (int, bool, error) {
	first, last := m.slots[2*i.x], m.slots[2*i.x+1]
	if first < 0 || last < 0 {
		return pos, true, nil
	}
	text := m.text[first:last]
	if err := m.spend(len(text) / 8); err != nil {
		return 0, false, err
	}
	from := pos
	if i.back {
		from = pos - len(text)
	}
	if from < 0 || from+len(text) > len(m.text) {
		return 0, false, nil
	}
	here := m.text[from : from+len(text)]
	if here != text && (!m.re.fold || !strings.EqualFold(here, text)) {
		return 0, false, nil
	}
	if i.back {
		return from, true, nil
	}
	return from + len(text), true, nil
}

// look matches the instructions from pc without moving.
func (m *matcher) look(i *instruction, pc, pos int) (bool, error) {
	base := len(m.pending)
	ok, err := m.run(pc, pos)
	if err != nil {
		return false, err
	}
	if ok && i.negated {
		for len(m.pending) > base { // restore the slots of its groups
			p := m.pending[len(m.pending)-1]
			m.slots[p.pc] = p.pos
			m.pending = m.pending[:len(m.pending)-1]
		}
	}
	return ok != i.negated, nil
}
