package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
)

// atOnce is a registry whose tasks take a minute each and record how many of them run at once.
type atOnce struct {
	mu            sync.Mutex
	running, most int
}

func (a *atOnce) change(by int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running += by
	a.most = max(a.most, a.running)
}

func (a *atOnce) Task(string) (atom.Body, error) {
	return atom.Func("t", func(context.Context, json.RawMessage) (struct{}, error) {
		a.change(1)
		time.Sleep(time.Minute) // virtual
		a.change(-1)
		return struct{}{}, nil
	}, atom.From("in")).Body(), nil
}

// TestParallelismOfGrowingFlows: the limit also holds for nodes that a language adds.
func TestParallelismOfGrowingFlows(t *testing.T) {
	t.Parallel()
	var branches []string
	for _, name := range []string{"A", "B", "C", "D", "E"} {
		branches = append(branches, fmt.Sprintf(`{"StartAt":%q,"States":{%q:{"Type":"Task","Resource":"do:t","End":true}}}`, name, name))
	}
	text := `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[` + strings.Join(branches, ",") + `]}}}`
	for _, limit := range []int{1, 2, 5} {
		m, err := asl.Parse("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a := &atOnce{}
		if _, err := run(t, m.Flow(), engine.WithTasks(a), engine.WithParallelism(limit)); err != nil {
			t.Fatal(err)
		}
		if a.most != limit {
			t.Errorf("limit %d: %d ran at once", limit, a.most)
		}
	}
}
