package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A painter shows a run on a terminal as a tree that is updated in place.
type painter struct {
	out   io.Writer
	size  func() (width, height int)
	color bool
	quit  chan struct{}
	gone  sync.WaitGroup

	mu    sync.Mutex
	tree  *inspect.Tree
	drawn int    // number of lines on the screen
	below string // text below the tree
}

// tick is how often clocks and countdowns are updated.
const tick = 200 * time.Millisecond

// NewPainter returns a reporter that draws a tree, and redraws it after each change.
func NewPainter(out io.Writer, size func() (width, height int), t *inspect.Tree, color bool) Reporter {
	p := &painter{out: out, size: size, tree: t, color: color, quit: make(chan struct{})}
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

// draw redraws the screen. If the tree is higher than the screen, draw shows its end, where the run makes progress.
func (p *painter) draw() {
	width, height := p.size()
	lines := Tree(p.tree, time.Now(), Page{Width: width, Color: p.color})
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

// Stop draws the whole tree a last time and leaves it on the screen. The records know states without atoms, too.
func (p *painter) Stop(t *inspect.Tree) {
	close(p.quit)
	p.gone.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if t != nil {
		p.tree = t
	}
	// Draw everything: nothing overwrites it any more.
	width, _ := p.size()
	p.replace(Tree(p.tree, time.Now(), Page{Width: width, Color: p.color}))
}

// Rested implements [Reporter].
func (p *painter) Rested(run *storage.Run, undo *inspect.Undo, _ int) {
	End(p.out, run, undo, Page{Color: p.color})
}
