package bulk

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// Answers say how many runs get a bulk command, or got it, and which refuse it.
type Answers struct {
	Runs    int       `json:"runs"`    // number of runs that get the command
	Refused []Refusal `json:"refused"` // the most frequent first
}

// AnswersPath is the path of the step of a bulk command whose result is its [Answers].
const AnswersPath = "answers"

// A Refusal is a reason for which runs refuse a command.
type Refusal struct {
	Why  string   `json:"why"`
	Runs int      `json:"runs"`           // number of runs
	Such []string `json:"such,omitempty"` // ids of the first of them, at most 5
}

// Bounds of Answers.
const (
	// maxReasons is the number of reasons; the others are counted together.
	//
	//limit:shown `ebb bulk`: reasons of refusals | {} | the runs of the others, as one number
	maxReasons = 50
	maxSuch    = 5
)

const otherReasons = "other reasons"

// refuse counts a run that refuses.
func (a *Answers) refuse(more Refusal) {
	i := slices.IndexFunc(a.Refused, func(r Refusal) bool { return r.Why == more.Why })
	if i < 0 && len(a.Refused) >= maxReasons {
		more.Why = otherReasons
		i = slices.IndexFunc(a.Refused, func(r Refusal) bool { return r.Why == more.Why })
	}
	if i < 0 {
		a.Refused = append(a.Refused, Refusal{Why: more.Why})
		i = len(a.Refused) - 1
	}
	r := &a.Refused[i]
	r.Runs += more.Runs
	r.Such = append(r.Such, more.Such[:min(len(more.Such), maxSuch-len(r.Such))]...)
}

// sort orders the reasons.
func (a *Answers) sort() {
	slices.SortStableFunc(a.Refused, func(x, y Refusal) int { return cmp.Or(y.Runs-x.Runs, cmp.Compare(x.Why, y.Why)) })
}

// Refusals returns how many runs refuse.
func (a *Answers) Refusals() (n int) {
	for i := range a.Refused {
		n += a.Refused[i].Runs
	}
	return n
}

// Preview returns which runs would now get a bulk command, and which would refuse it, as far as their records say.
// Waits is as for [Flow]. If the filter selects too many runs, Preview returns a failure with [CodeTooMany].
func Preview(
	ctx context.Context, opened storage.Store, waits func(context.Context, *storage.Run) *grow.Waiting, in Input,
) (answers Answers, err error) {
	answers.Refused = []Refusal{}
	if err := in.Check(); err != nil {
		return answers, err
	}
	filter, err := runfilter.Parse(in.Filter)
	if err != nil {
		return answers, err
	}
	from, selected := selection{backend.Of(opened), waits}, 0
	err = from.each(ctx, filter, func(run *storage.Run) error {
		selected++
		why, err := in.refusal(ctx, from.store, run)
		switch {
		case err != nil:
			return err
		case why == "":
			answers.Runs++
		default:
			answers.refuse(Refusal{why, 1, []string{run.ID}})
		}
		return checkNumber(selected)
	})
	answers.sort()
	return answers, err
}

// givenPage is what became of the commands of a page.
type givenPage struct {
	Runs     []string           `json:"runs"`
	Commands []string           `json:"commands"` // one for each run that got the command
	Refused  []flow.ItemFailure `json:"refused"`  // the first of the others
}

// pageAnswers counts the answers of the runs of a page.
func pageAnswers(_ context.Context, page givenPage) (Answers, error) {
	a := Answers{Runs: len(page.Commands), Refused: []Refusal{}}
	for _, f := range page.Refused {
		id, why := page.Runs[f.Index], f.Message
		if f.Code == atom.CodeRefused { // the text begins with the run
			if _, rest, found := strings.Cut(strings.TrimPrefix(f.Message, "run "+id+" is "), ": "); found {
				why = rest
			}
		}
		a.refuse(Refusal{why, 1, []string{id}})
	}
	if more := len(page.Runs) - a.Runs - len(page.Refused); more > 0 {
		a.refuse(Refusal{otherReasons, more, nil})
	}
	a.sort()
	return a, nil
}

// given are the pages of a bulk command.
type given struct {
	Pages atom.List[struct {
		Page Answers `json:"page"`
	}] `json:"pages"`
}

// allAnswers sums up the answers of all pages.
func allAnswers(ctx context.Context, in given) (Answers, error) {
	a := Answers{Refused: []Refusal{}}
	for page, err := range in.Pages.All(ctx) {
		if err != nil {
			return a, err
		}
		a.Runs += page.Page.Runs
		for _, r := range page.Page.Refused {
			a.refuse(r)
		}
	}
	a.sort()
	return a, nil
}
