package swf

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// A filter says which executions of a domain a client asks for. An operation for open executions leaves out the members
// that it does not have.
type filter struct {
	ofDomain

	Start     *timeFilter     `json:"startTimeFilter"`
	Type      *typeFilter     `json:"typeFilter"`
	Tag       *tagFilter      `json:"tagFilter"`
	Execution *workflowFilter `json:"executionFilter"`
}

type closedFilter struct {
	filter

	Close  *timeFilter   `json:"closeTimeFilter"`
	Status *statusFilter `json:"closeStatusFilter"`
}

type timeFilter struct {
	Oldest aws.Time  `json:"oldestDate"`
	Latest *aws.Time `json:"latestDate"`
}

type typeFilter struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type tagFilter struct {
	Tag string `json:"tag"`
}

type workflowFilter struct {
	WorkflowID string `json:"workflowId"`
}

type statusFilter struct {
	Status string `json:"status"`
}

// within returns the range of time that a filter includes. The latest time is included, to the millisecond.
func (f *timeFilter) within() (from, to time.Time) {
	if f.Latest != nil {
		to = f.Latest.Add(time.Millisecond)
	}
	return f.Oldest.Time, to
}

// label returns the label by which the runs of executions are found.
func label(key, domain string, more ...string) map[string]string {
	return map[string]string{key: swf.LabelValue(domain, more...)}
}

// labels returns the label of the executions that a client asks for, or AWS's fault if it asks for several things.
func (f *closedFilter) labels() (map[string]string, error) {
	labels := label(swf.LabelDomain, f.Domain)
	count := 0
	for _, one := range []struct {
		given bool
		label func() map[string]string
	}{
		{f.Execution != nil, func() map[string]string {
			return label(swf.LabelWorkflowID, f.Domain, f.Execution.WorkflowID)
		}},
		{f.Type != nil, func() map[string]string {
			if f.Type.Version == "" {
				return label(swf.LabelTypeName, f.Domain, f.Type.Name)
			}
			return label(swf.LabelTypeVersion, f.Domain, f.Type.Name, f.Type.Version)
		}},
		{f.Tag != nil, func() map[string]string { return label(swf.LabelTag(f.Tag.Tag), f.Domain) }},
		{f.Status != nil, func() map[string]string { return label(swf.LabelCloseStatus, f.Domain, f.Status.Status) }},
	} {
		if one.given {
			labels = one.label()
			count++
		}
	}
	if count > 1 {
		return nil, invalid("Cannot specify more than one exclusive filters in the same query: " +
			"executionFilter, typeFilter, tagFilter, closeStatusFilter")
	}
	return labels, nil
}

// openQuery returns the query for open executions.
func (f *closedFilter) openQuery() (storage.RunQuery, error) {
	labels, err := f.labels()
	q := storage.RunQuery{Labels: labels, States: openStates, Brief: true}
	q.CreatedFrom, q.CreatedTo = f.Start.within()
	return q, err
}

// closedQuery returns the query for closed executions that are retained.
func (s *Server) closedQuery(ctx context.Context, d *domain, f *closedFilter) (storage.RunQuery, error) {
	kept := s.config.Now().Add(-d.retention()).Add(time.Microsecond)
	labels, err := f.labels()
	q := storage.RunQuery{Labels: labels, States: closedStates, Brief: true}
	switch {
	case err != nil:
		return q, err
	case f.Start != nil && f.Close != nil:
		return q, invalid("Cannot specify both a start and a close time filter")
	case f.Start == nil && f.Close == nil:
		return q, invalid("Must specify time filter")
	case f.Start != nil:
		q.CreatedFrom, q.CreatedTo = f.Start.within()
		return q, s.withoutOver(ctx, &q, kept)
	}
	q.Order = storage.ByEnded
	q.EndedFrom, q.EndedTo = f.Close.within()
	if q.EndedFrom.Before(kept) {
		q.EndedFrom = kept
	}
	return q, nil
}

// withoutOver excludes the executions that ended before a time from a query by start time. Mostly none did, and then
// the query says nothing of their ends, which the store would read in the row of each execution.
func (s *Server) withoutOver(ctx context.Context, q *storage.RunQuery, kept time.Time) error {
	over := *q
	over.Order, over.EndedTo, over.Limit = storage.ByEnded, kept, 1
	over.CreatedFrom, over.CreatedTo = time.Time{}, time.Time{}
	n, err := s.store.CountRuns(ctx, over)
	if n > 0 {
		q.EndedFrom = kept
	}
	return err
}

type listOpenInput struct {
	paging
	filter
}

type listClosedInput struct {
	paging
	closedFilter
}

type listExecutionsOutput struct {
	Infos     []executionInfo `json:"executionInfos"`
	NextToken string          `json:"nextPageToken,omitempty"`
}

func (s *Server) listOpenWorkflowExecutions(ctx context.Context, caller *aws.Caller, in *listOpenInput) (
	*listExecutionsOutput, error,
) {
	if _, err := s.domain(ctx, in.Domain); err != nil {
		return nil, err
	}
	f := &closedFilter{filter: in.filter}
	q, err := f.openQuery()
	if err != nil {
		return nil, err
	}
	return s.listExecutions(ctx, "ListOpenWorkflowExecutions", caller, &in.paging, f, q)
}

func (s *Server) listClosedWorkflowExecutions(ctx context.Context, caller *aws.Caller, in *listClosedInput) (
	*listExecutionsOutput, error,
) {
	d, err := s.domain(ctx, in.Domain)
	if err != nil {
		return nil, err
	}
	q, err := s.closedQuery(ctx, d, &in.closedFilter)
	if err != nil {
		return nil, err
	}
	return s.listExecutions(ctx, "ListClosedWorkflowExecutions", caller, &in.paging, &in.closedFilter, q)
}

// listExecutions returns a page of the executions that a query selects.
func (s *Server) listExecutions(ctx context.Context, operation string, caller *aws.Caller, in *paging, f *closedFilter,
	q storage.RunQuery,
) (*listExecutionsOutput, error) {
	p := in.page(operation, caller, f.arguments()...)
	var at, number int64
	if err := s.records.Numbers(ctx, p, &at, &number); err != nil {
		return nil, err
	}
	if p.Token != nil {
		place := time.UnixMicro(at)
		q.After = &storage.Run{Created: place, Ended: place, Number: number}
	}
	q.Reverse, q.Limit = in.Reverse, p.Most()+1
	out := &listExecutionsOutput{Infos: []executionInfo{}}
	var last storage.Run
	for run, err := range storage.EachRun(ctx, s.store, q) {
		if err != nil {
			return nil, err
		}
		if q.Limit--; q.Limit == 0 { // it belongs to the next page
			at := last.Created
			if q.Order == storage.ByEnded {
				at = last.Ended
			}
			out.NextToken, err = s.records.NextNumbers(ctx, p, at.UnixMicro(), last.Number)
			return out, err
		}
		if x, ok := executionOf(&run); ok && x.Domain == f.Domain {
			out.Infos = append(out.Infos, x.info())
		}
		last = run
	}
	return out, nil
}

// arguments returns the filters as texts, to which page tokens belong. The times are not among them: clients compute
// times such as an hour ago again for each page.
func (f *closedFilter) arguments() []string {
	const byStart, byClose = "start", "close"
	all := []string{f.Domain, byClose, "", "", "", "", ""}
	if f.Start != nil {
		all[1] = byStart
	}
	rest := all[2:]
	if f.Execution != nil {
		rest[0] = f.Execution.WorkflowID
	}
	if f.Type != nil {
		rest[1], rest[2] = f.Type.Name, f.Type.Version
	}
	if f.Tag != nil {
		rest[3] = f.Tag.Tag
	}
	if f.Status != nil {
		rest[4] = f.Status.Status
	}
	return all
}

type countOutput struct {
	Count     int64 `json:"count"`
	Truncated bool  `json:"truncated"`
}

// maxCount is how far executions and tasks are counted: a count takes some milliseconds at most.
//
//limit:swf number that a count returns | {} | `truncated` is true
const maxCount = 50_000

func (s *Server) countOpenWorkflowExecutions(ctx context.Context, _ *aws.Caller, in *filter) (*countOutput, error) {
	if _, err := s.domain(ctx, in.Domain); err != nil {
		return nil, err
	}
	q, err := (&closedFilter{filter: *in}).openQuery()
	return s.countExecutions(ctx, q, err)
}

func (s *Server) countClosedWorkflowExecutions(ctx context.Context, _ *aws.Caller, in *closedFilter) (
	*countOutput, error,
) {
	d, err := s.domain(ctx, in.Domain)
	if err != nil {
		return nil, err
	}
	q, err := s.closedQuery(ctx, d, in)
	return s.countExecutions(ctx, q, err)
}

func (s *Server) countExecutions(ctx context.Context, q storage.RunQuery, err error) (*countOutput, error) {
	if err != nil {
		return nil, err
	}
	q.Limit = maxCount + 1
	n, err := s.store.CountRuns(ctx, q)
	return counted(int64(n)), err
}

// counted returns a number of which the server counted up to one more than maxCount.
func counted(n int64) *countOutput { return &countOutput{min(n, maxCount), n > maxCount} }
