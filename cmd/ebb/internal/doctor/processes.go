package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// ill says that a process cannot use the database; "" if it can.
func ill(o *storage.Owner, p *inspect.ProcessRecord) string {
	if p.Fault == "" {
		return ""
	}
	return fmt.Sprintf("process %d on %s cannot use it: %s since %s", o.PID, o.Host, p.Fault,
		p.Since.UTC().Format(time.RFC3339))
}

// Ill returns what the processes that serve a database have recorded about its faults, a sentence for each of them. A
// process that can write nothing can record nothing: its log, /readyz and metrics say so.
func Ill(ctx context.Context, store backend.Store) (says []string, err error) {
	err = eachProcess(ctx, store, func(o *storage.Owner, p *inspect.ProcessRecord) {
		if text := ill(o, p); text != "" {
			says = append(says, text)
		}
	})
	return says, err
}

// Prune deletes the records of processes that have ended.
func Prune(ctx context.Context, store backend.Store) error {
	alive, err := living(ctx, store)
	if err != nil {
		return err
	}
	var writes []storage.RecordWrite
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: inspect.ProcessRecords}) {
		if err != nil {
			return err
		}
		if _, lives := alive[record.Key]; !lives {
			writes = append(writes, storage.RecordWrite{
				Kind: inspect.ProcessRecords, Key: record.Key, Was: storage.AnyRevision, Delete: true,
			})
		}
	}
	if len(writes) == 0 {
		return nil
	}
	_, err = store.WriteRecords(ctx, writes...)
	return err
}

// living returns the owners that are alive, by ID.
func living(ctx context.Context, store backend.Store) (map[string]storage.Owner, error) {
	owners, err := store.Owners(ctx)
	if err != nil {
		return nil, err
	}
	alive := map[string]storage.Owner{}
	for _, o := range owners {
		if o.Alive {
			alive[o.ID] = o
		}
	}
	return alive, nil
}

// served reports what the processes that serve the database say about themselves.
func (d *doctor) served(ctx context.Context, store backend.Store) error {
	return eachProcess(ctx, store, d.process)
}

// eachProcess passes on what the processes that serve the database say about themselves.
func eachProcess(ctx context.Context, store backend.Store, do func(*storage.Owner, *inspect.ProcessRecord)) error {
	alive, err := living(ctx, store)
	if err != nil {
		return err
	}
	for record, err := range storage.EachRecord(ctx, store, storage.RecordQuery{Kind: inspect.ProcessRecords}) {
		if err != nil {
			return err
		}
		o, lives := alive[record.Key]
		if !lives {
			continue
		}
		var p inspect.ProcessRecord
		if record.Body.Decode(&p) == nil { // d.records reports the others
			do(&o, &p)
		}
	}
	return nil
}

// process reports about one process.
func (d *doctor) process(o *storage.Owner, p *inspect.ProcessRecord) {
	d.metrics["process"] = map[string]float64{
		fmt.Sprintf("ebb_build_info{go=%q,revision=%q,version=%q}", p.Go, p.Revision, p.Version): 1,
		"ebb_commits_total": float64(p.Commits), "ebb_commit_writes_total": float64(p.Writes),
	}
	d.findf("process", OK, "", "%d on %s: ebb %s %s, %s; %s of %.1f writes, as of a minute ago",
		o.PID, o.Host, p.Version, cmp.Or(p.Revision, "without revision"), p.Go, view.Count(int(p.Commits), "group commit"),
		float64(p.Writes)/float64(max(p.Commits, 1)))
	if text := ill(o, p); text != "" {
		d.findf("writing", Wrong, "free space on the disk of the database, or end what keeps it from writing", "%s", text)
	}
	if p.SkipsWaits {
		d.findf("waits", Warning, "start it without --skip-waits, unless it serves tests",
			"process %d on %s skips waits and pauses before retries", o.PID, o.Host)
	}
}
