package sqlconn

import (
	"context"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// A queued statement is sent together with others.
type queued struct {
	query string
	args  []any
	check func(rows int64) error // checks how many rows the statement changed; may be nil
	read  func(*answer) error    // reads the rows that the statement selects; nil if it selects none

	begins bool // begins a transaction
}

// PostQuery is Post for a statement that changes at most the rows that it returns. It calls read when dest contains the
// rows, or with the error if the rows cannot be decoded. If the rows arrive with the answer to the COMMIT, the
// transaction is committed in either case.
func (c *Conn) PostQuery(ctx context.Context, dest any, read func(error) error, query string, args ...any) error {
	if c.dialect.Posts {
		c.Count(1, args) // the real number of rows is unknown until the answer
	}
	return c.PostRead(ctx, dest, read, query, args...)
}

// PostRead is PostQuery for a query that changes nothing.
func (c *Conn) PostRead(ctx context.Context, dest any, read func(error) error, query string, args ...any) error {
	if !c.dialect.Posts {
		return read(c.All(ctx, dest, query, args...))
	}
	c.posted = append(c.posted, queued{query: query, args: args, read: func(rows *answer) error {
		err := rows.all(dest)
		if dberr.OfDatabase(err) {
			return err
		}
		_ = read(err)
		return nil
	}})
	return nil
}

// Flush sends the posted statements, and returns the first error.
func (c *Conn) Flush(ctx context.Context) error { return c.exchange(ctx, nil, false) }

// PostBegin posts the statement that begins a transaction. It drops statements that were posted before.
func (c *Conn) PostBegin(statement string) {
	c.forgetPosted()
	c.posted = append(c.posted, queued{query: statement, begins: true})
	c.Wrong, c.heard = nil, false
}

// forgetPosted forgets what was posted, and frees it.
func (c *Conn) forgetPosted() {
	clear(c.posted)
	c.posted = c.posted[:0]
}

// Rollback drops the posted statements, and rolls the transaction back unless its BEGIN was never sent or the
// connection is lost.
func (c *Conn) Rollback(ctx context.Context) error {
	unsent := len(c.posted) > 0 && c.posted[0].begins
	c.forgetPosted()
	c.Wrong = nil
	if unsent || c.Lost() {
		return nil
	}
	return c.Run(ctx, "ROLLBACK")
}

// Seal sends the posted statements together with the COMMIT, see Sealable.
func (c *Conn) Seal(ctx context.Context) error {
	return c.exchange(ctx, &queued{query: "COMMIT"}, true)
}

// Heard reports whether the database has answered in this transaction.
func (c *Conn) Heard() bool { return c.heard }
