package sqlstore

// A statement is one statement in the SQL of each database.
//
// Most statements are a constant instead, because both databases accept the same text, with $1, $2 and so on for
// the arguments. Two texts are needed if the databases spell something differently, and for the statements of a
// checkpoint:
//
//   - SQLite's driver allocates the name of each named argument at every execution. Therefore, the arguments are ?,
//     which have no name.
//   - PostgreSQL writes many rows with one statement, with an array for each argument. See [forms].
type statement [2]string

// The indices of the texts of a statement.
const (
	onSQLite = iota
	onPostgres
)
