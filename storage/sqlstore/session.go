package sqlstore

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/sqlconn"
)

// A session is a connection, with the state of its open transaction. The Conn is nil until a server is connected.
type session struct {
	*sqlconn.Conn
	dialect *dialect
	scratch inline.Scratch

	usersPath string // on a server: search path of users' statements
	usersIdle string // on a server: how long users' transactions may be idle; "" means the server's setting

	held   []string  // runs whose rows this transaction has locked
	yields bool      // does not wait for rows that other transactions hold, so that other writes do not wait
	freed  bool      // unclaim has run in this transaction
	moment time.Time // the transaction's time by the database's clock; zero until it is read
	// revisions are the revisions of the named records that the writes of this transaction check, see readChecked
	revisions map[recordName]*[]int64
	limits    []storage.Limit  // limits as this transaction has read them; nil before
	born      map[string]int64 // number of runs that this transaction has created, by root
	numbers   []int64          // numbers for runs to create, see reserve
}

func newSession(ctx context.Context, db *sqlx.DB, d *dialect) (*session, error) {
	conn, err := sqlconn.New(ctx, db, &d.Dialect)
	if err != nil {
		return nil, err
	}
	return &session{Conn: conn, dialect: d}, nil
}
