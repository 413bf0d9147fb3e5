package draft_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/draft"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTryOfSlowAnswer tries a machine with one answer that takes minutes. The trial ends with the time of its caller.
//
// Attack (Definitions and expressions): A trial of a machine whose one answer computes for minutes, such as 300
// expressions of jq.
// Result: Refused after 10 s, so that others can try.
func TestTryOfSlowAnswer(t *testing.T) {
	t.Parallel()
	const condition = `{"condition": "${ reduce range(300000) as $i (0; . + 1) | . == 1 }", "nextState": "B"}`
	text := `{"name": "m", "version": "1", "states": [{"name": "A", "start": true, "transitions": [` + condition +
		strings.Repeat(", "+condition, 2000) + `]}, {"name": "B"}]}`
	languages := draft.New(&definition.Catalog{Store: memstore.New()}, definition.Reading{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, _, err := languages.Try(ctx, &api.TrialRequest{Draft: api.Draft{Text: text}})
	if err == nil || !strings.Contains(err.Error(), "did not end in time") {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the trial took %v", took)
	}
}
