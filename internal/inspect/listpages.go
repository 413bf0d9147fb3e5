package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// SchedulePage returns up to limit schedules after an id, and whether more follow.
func SchedulePage(ctx context.Context, store backend.Schedules, after string, limit int) (
	page []backend.Schedule, more bool, err error,
) {
	page, err = store.Schedules(ctx, backend.ScheduleQuery{After: after, Limit: limit})
	if err != nil || len(page) == 0 {
		return page, false, err
	}
	rest, err := store.Schedules(ctx, backend.ScheduleQuery{After: page[len(page)-1].ID, Limit: 1})
	return page, len(rest) > 0, err
}

// DefinitionPage returns up to limit definitions of a name, or of all names if it is "", after the one with a hash, and
// whether more follow.
func DefinitionPage(ctx context.Context, store backend.Definitions, name, after string, limit int) (
	page []storage.Definition, more bool, err error,
) {
	q := backend.DefinitionQuery{Name: name, Limit: limit + 1}
	if after != "" {
		place, err := store.Definition(ctx, after)
		if err != nil {
			return nil, false, err
		}
		q.After = &place
	}
	page, err = store.Definitions(ctx, q)
	return page[:min(limit, len(page))], len(page) > limit, err
}

// jobCursor is the form of a place in a list of jobs: priority and number.
const jobCursor = "p%d.%d"

// JobPage returns up to limit jobs in some states (all, if none is named) after a place, and the place after which the
// next page begins; "" if no more follow. A place is what an earlier page has returned, whose job may be gone, or the
// id of a job. "" is the beginning.
func JobPage(ctx context.Context, store backend.Jobs, of []states.Job, after string, limit int) (
	page []storage.Job, next string, err error,
) {
	q := storage.JobQuery{States: of, Limit: limit}
	if after != "" {
		var place storage.Job
		if _, err := fmt.Sscanf(after, jobCursor, &place.Priority, &place.Number); err != nil {
			if place, err = store.Job(ctx, after); err != nil {
				return nil, "", err
			}
		}
		q.After = &place
	}
	if page, err = store.JobList(ctx, q); err != nil || len(page) == 0 {
		return page, "", err
	}
	last := &page[len(page)-1]
	q.After, q.Limit = last, 1
	more, err := store.JobList(ctx, q)
	if len(more) > 0 {
		next = fmt.Sprintf(jobCursor, last.Priority, last.Number)
	}
	return page, next, err
}

// ParseJobStates reads states of jobs, such as unclaimed or PARKED. If none is named, they are those of jobs that have
// not ended; or all, with ended.
func ParseJobStates(texts []string, ended bool) (of []states.Job, err error) {
	for _, text := range texts {
		var state states.Job
		if err := state.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
			return nil, fmt.Errorf("%w: state: %s", storage.ErrInvalid, strings.TrimPrefix(err.Error(), "states: "))
		}
		of = append(of, state)
	}
	if len(of) == 0 && !ended {
		of = []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}
	}
	return of, nil
}

// A JobCount says how many jobs are in a state.
type JobCount struct {
	State  string    `json:"state"`           // a text of [states.Job]
	Jobs   int       `json:"jobs"`            // number of jobs
	Oldest time.Time `json:"oldest,omitzero"` // since when the oldest of them could be claimed
}

// JobCounts counts the jobs that have not ended, by state in the order of the states. Errors are the store's.
func JobCounts(ctx context.Context, store backend.Jobs) ([]JobCount, error) {
	found, err := store.JobCounts(ctx)
	counts := make([]JobCount, len(found))
	for i, c := range found {
		counts[i] = JobCount{c.State.String(), c.Jobs, c.Since.UTC()}
	}
	return counts, err
}

// JobTotals says for people how many jobs that have not ended there are; "" if there are none.
func JobTotals(counts []backend.JobCount, now time.Time) string {
	var parts []string
	for _, c := range counts {
		text := fmt.Sprintf("%d %v", c.Jobs, c.State)
		if age := now.Sub(c.Since); age > 0 {
			text += fmt.Sprintf(" (the oldest for %s)", FormatDuration(age))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
