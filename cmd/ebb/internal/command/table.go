package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// widestCell is the maximum number of characters of a cell with free text.
const widestCell = 60

// writeTable writes rows of cells in columns. A column without any cell is left out.
func writeTable(out io.Writer, heads []string, rows [][]string) error {
	used := make([]bool, len(heads))
	for _, row := range rows {
		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{heads}, rows...) {
		var cells []string
		for i, cell := range row {
			if used[i] {
				cells = append(cells, cell)
			}
		}
		// A row without its last cells would end the columns of the rows above.
		if _, err := fmt.Fprintln(table, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens the text of a cell.
func cut(text string) string { return view.Page{Width: widestCell}.Cut(text) }

// A place knows which processes drive runs, and at which steps the runs are.
type place struct {
	store  backend.Store
	owners map[string]storage.Owner
}

// placeOf reads which processes use the database.
func placeOf(ctx context.Context, store backend.Store) (*place, error) {
	p := &place{store, map[string]storage.Owner{}}
	owners, err := store.Owners(ctx)
	for i := range owners {
		p.owners[owners[i].ID] = owners[i]
	}
	return p, exit.DatabaseError(err)
}

// owner names the process that drives a run, such as 4711@host; "" if none does.
func (p *place) owner(run *storage.Run) string {
	o, known := p.owners[run.Owner]
	if run.Owner == "" || !known {
		return ""
	}
	text := fmt.Sprintf("%d@%s", o.PID, o.Host)
	if !o.Alive {
		text += " (died)"
	}
	return visible.Line(text)
}

// step names what is in progress in a run; "" if nothing is.
func (p *place) step(ctx context.Context, run *storage.Run) (string, error) {
	paths, more, err := inspect.InProgress(ctx, p.store, run, 1)
	if err != nil || len(paths) == 0 {
		return "", exit.DatabaseError(err)
	}
	text := visible.Line(paths[0])
	if more {
		text += " …"
	}
	return cut(text), nil
}

// age returns how long ago something was, in its largest unit.
func age(then, now time.Time) string {
	d := max(now.Sub(then), 0)
	const day = 24 * time.Hour
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d d", int(d/day))
	}
}
