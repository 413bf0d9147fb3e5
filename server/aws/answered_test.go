package aws

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A hasty client disconnects when it has the answer.
type hasty struct {
	*httptest.ResponseRecorder

	leaves context.CancelFunc
}

func (h hasty) Flush() { h.leaves() }

// TestAnswered: a client that disconnects once it has the answer was answered; one that disconnects before was not.
func TestAnswered(t *testing.T) {
	t.Parallel()
	for waits, want := range map[bool]bool{true: true, false: false} {
		var told []bool
		ctx, leaves := context.WithCancel(t.Context())
		h := New(Options{}, &Service{Target: "T", Operations: map[string]Operation{
			"Create": Op(createShape, func(_ context.Context, caller *Caller, in *create) (*create, error) {
				caller.Answered = func(sent bool) { told = append(told, sent) }
				if !waits {
					leaves()
				}
				return in, nil
			}),
		}})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(`{"definition":"x","name":"n"}`))
		r.Header.Set("Content-Type", json10)
		r.Header.Set("X-Amz-Target", "T.Create")
		h.ServeHTTP(hasty{httptest.NewRecorder(), leaves}, r)
		if len(told) != 1 || told[0] != want || ctx.Err() == nil {
			t.Errorf("a client that waits (%v) was answered: %v", waits, told)
		}
	}
}
