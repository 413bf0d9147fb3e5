package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A painter shows a run on a terminal as a tree that is updated in place.
type painter struct {
	out    io.Writer
	size   func() (width, height int)
	colour bool
	quit   chan struct{}
	gone   sync.WaitGroup

	mu    sync.Mutex
	tree  *inspect.Tree
	drawn int    // lines on the screen
	below string // shown under the tree
}

// tick is how often clocks and countdowns are brought up to date.
const tick = 200 * time.Millisecond

// NewPainter returns a reporter that draws a tree, and draws it anew when something happens.
func NewPainter(out io.Writer, size func() (width, height int), t *inspect.Tree, colour bool) Reporter {
	p := &painter{out: out, size: size, tree: t, colour: colour, quit: make(chan struct{})}
	p.gone.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			case <-p.quit:
				return
			}
		}
	})
	return p
}

// Happened implements [Reporter].
func (p *painter) Happened(ev engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := inspect.Observed(ev); ok {
		p.tree.Apply(&c)
		p.draw()
	}
}

// draw replaces what is on the screen. Of a tree that is higher than the screen
// the end is shown, which is where things happen.
func (p *painter) draw() {
	width, height := p.size()
	lines := Tree(p.tree, time.Now(), Page{Width: width, Colour: p.colour})
	if p.below != "" {
		lines = append(lines, Page{Width: width}.Cut(p.below))
	}
	if most := max(height-1, 1); len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	p.replace(lines)
}

// Notice implements [Reporter].
func (p *painter) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.below = visible.Line(text)
	p.draw()
}

func (p *painter) replace(lines []string) {
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", p.drawn)
	}
	for _, line := range lines {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[J")
	fmt.Fprint(p.out, b.String())
	p.drawn = len(lines)
}

// Stop draws the whole tree once more, leaves it on the screen, and ends the drawing.
func (p *painter) Stop() {
	close(p.quit)
	p.gone.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	// All of it now: nothing is drawn over it any more.
	width, _ := p.size()
	p.replace(Tree(p.tree, time.Now(), Page{Width: width, Colour: p.colour}))
}

// Rested implements [Reporter].
func (p *painter) Rested(run *storage.Run, _ int) {
	End(p.out, run, Page{Colour: p.colour})
}
