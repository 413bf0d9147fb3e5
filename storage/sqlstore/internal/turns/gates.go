package turns

import (
	"errors"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// gates are the locks of two files. One lock does not keep the order, because it wakes any process that waits.
type gates struct{ a, b *filelock.Lock }

func openGates(file string, like filelock.Like) (gates, error) {
	first, second := dbfile.Gates(file)
	a, err := filelock.Open(first, like)
	if err != nil {
		return gates{}, err
	}
	b, err := filelock.Open(second, like)
	if err != nil {
		return gates{}, errors.Join(err, a.Close())
	}
	return gates{a, b}, nil
}

// current reports whether other processes find these gates.
func (g gates) current() bool { return g.a.Current() && g.b.Current() }

func (g gates) close() error { return errors.Join(g.a.Close(), g.b.Close()) }

// remove closes the gates and deletes their files. The files stay if the system does not allow that, as of files
// that another process on Windows has open: they are empty, and the next process uses them.
func (g gates) remove() error {
	_, _ = g.a.Remove(), g.b.Remove()
	return nil
}
