module github.com/ebbflow/ebb

go 1.26.0

require (
	// Only tests link this.
	// Saves: readable differences between values
	// Refused: stretchr/testify: a second language for `if`
	github.com/google/go-cmp v0.7.0
	// Saves: UUIDv7: IDs of claims and tokens that sort by time
	// Weight: 1, 1.9 MB; sqlite brings it
	// Refused: gofrs/uuid: a second module for the same thing
	github.com/google/uuid v1.6.0
	// Saves: leveled, named, structured logs
	// Weight: 5, 1.9 MB
	// Refused: `log/slog`: no names, and so no levels per part (`--log-level warn,engine=debug`)
	github.com/hashicorp/go-hclog v1.6.3
	// Saves: jq for SM4C, in pure Go
	// Weight: 2, 2.9 MB; only with `flow/sm4c`
	// Refused: our own interpreter: jq is larger than it looks. Pinned: `internal/jq` guards its functions by name
	github.com/itchyny/gojq v0.12.20
	// Saves: PostgreSQL with many statements in a round trip, `LISTEN` and error codes
	// Weight: 5, 7.6 MB with SQLite; only with `storage/sqlstore`
	// Refused: lib/pq: no pipelining, its own kind of listener
	github.com/jackc/pgx/v5 v5.12.0
	// Saves: scanning rows; one query text for both databases
	// Weight: 1, 1.7 MB
	// Refused: an ORM or generated code: the statements are few
	github.com/jmoiron/sqlx v1.4.0
	// Saves: state tables in a known form, to write, walk and draw
	// Weight: 1, 1.4 MB
	// Refused: our own machine: nothing to check it against. An event costs 490 ns, so the engine runs compiled tables
	github.com/looplab/fsm v1.0.3
	// Only tests link this.
	// Saves: packages prove that their goroutines ended
	// Refused: counting goroutines by hand: flaky
	go.uber.org/goleak v1.3.0
	// Saves: groups of goroutines with a limit and the first error
	// Weight: 1, 1.4 MB
	// Refused: sourcegraph/conc: re-raises panics, which are failures of atoms here
	golang.org/x/sync v0.24.0
	// Only tests link this.
	// Saves: the types of a VFS for `modernc.org/sqlite`, which brings it, to intercept disk access (`internal/crashdisk`)
	// Refused: a FUSE file system: needs root, and does not show syncs
	modernc.org/libc v1.77.1
	// Saves: the embedded database without cgo: one static binary per system
	// Weight: 8, 6.1 MB
	// Refused: mattn/go-sqlite3: needs cgo. Kept at v1.60.1: v1.61.0 has a test dependency that cannot be fetched
	modernc.org/sqlite v1.60.1
	// Only tests link this.
	// Saves: properties over random input that shrinks, also in `testing/synctest`; MPL-2.0
	// Refused: `testing/quick`: frozen, does not shrink
	pgregory.net/rapid v1.3.0
)

require (
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/fatih/color v1.13.0 // indirect
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
