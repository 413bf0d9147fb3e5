package sqlstore

import (
	"context"
	"errors"
)

// breakDown makes the writer refuse all further writes. After a failed fsync the kernel may have dropped the pages.
// If the writer repeated the commit on the same handle, the commit could succeed and lose them.
func (w *writer) breakDown(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = why
	}
}

// hangUp closes the sessions of a closed writer.
func (w *writer) hangUp() error {
	errs := []error{w.space.close()}
	if w.files.Taken() != nil {
		return errors.Join(errs...) // the connections stay open
	}
	if w.apart != w {
		errs = append(errs, w.apart.hangUp())
	}
	replaced := w.files != nil && w.files.LogReplaced()
	for _, session := range w.free {
		if replaced {
			errs = append(errs, session.KeepLog())
		}
		if err := session.Close(); !session.dialect.Posts {
			errs = append(errs, err)
		} // the server has closed the connection: there is no error to report
	}
	return errors.Join(errs...)
}

// close refuses new writes, waits for writes under way, and does a last write unless the writer is broken. A second
// call does nothing.
func (w *writer) close(ctx context.Context, last *write) error {
	may := w.refuse()
	if w.apart != w {
		w.apart.refuse()
	}
	if !may {
		return nil
	}
	batch := []*write{last}
	w.apart.settle(ctx, w.apart.free[0], batch, w.apart.attempt(ctx, w.apart.free[0], batch))
	return last.err
}

// refuse refuses new writes, waits for writes under way, and reports whether a last write is possible.
func (w *writer) refuse() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.closed = true
	for len(w.free) < w.sessions {
		w.idle.Wait()
	}
	return w.broken == nil
}

// othersVersion returns a number that changes with each write of another process. It queries the writer's
// connection, so commits of this process do not count. It notices if the file was replaced.
func (w *writer) othersVersion(ctx context.Context) (version int64, err error) {
	err = w.run(ctx, &write{bare: true, do: func(ctx context.Context, s *session) error {
		if err := w.files.Check(); err != nil {
			w.breakDown(err)
			return err
		}
		return s.Get(ctx, &version, "PRAGMA data_version")
	}})
	return version, err
}
