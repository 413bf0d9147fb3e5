package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// requestKind is the kind of the records of requests with an Idempotency-Key.
const requestKind = "api.request"

// remembered is how long at least the record of a request stays.
//
//limit:http time for which an `Idempotency-Key` is remembered | {} | may be forgotten
const remembered = 24 * time.Hour

// maxRemembered is the number of requests that are remembered.
//
//limit:http requests with an `Idempotency-Key` that are remembered | {} | `full`
const maxRemembered = 100_000

// A request is the record of a request with an Idempotency-Key, which is committed with what the request changes.
type request struct {
	Sum     []byte `json:"sum"`     // of its method, path and body
	Subject string `json:"subject"` // what it changed, as in the audit
}

// once is what is known of the Idempotency-Key of a call.
type once struct {
	key   string // of its record; "" if the request has no key
	sum   []byte
	again bool   // the request repeats one that was applied
	did   string // what that one changed
}

// recall finds out whether the request repeats an earlier one. It refuses another request under the same key.
func (c *call) recall(a *api) error {
	key, err := c.key()
	if key == "" || err != nil {
		return err
	}
	body, err := server.ReadBody(nil, c.Request)
	if err != nil {
		return err
	}
	c.Body = io.NopCloser(bytes.NewReader(body))
	sum := sha256.Sum256([]byte(c.Method + " " + c.URL.RequestURI() + "\n" + string(bytes.TrimSpace(body))))
	name := sha256.Sum256([]byte(c.caller.Name + "\x00" + key))
	c.once.key, c.once.sum = hex.EncodeToString(name[:]), sum[:]
	return c.compare(a)
}

// compare compares the request, whose body is perhaps read already, with the earlier one under its key.
func (c *call) compare(a *api) error {
	record, err := a.store.NamedRecord(c.Context(), requestKind, c.once.key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	var was request
	if err == nil {
		err = record.Body.Decode(&was)
	}
	if err == nil && !bytes.Equal(was.Sum, c.once.sum) {
		return problem(http.StatusUnprocessableEntity, "key_reused",
			"Idempotency-Key %.50q was sent with another request: use a new one",
			c.Header.Get("Idempotency-Key"))
	}
	c.once.again, c.once.did = err == nil, was.Subject
	return err
}

// records returns what to write with the change of a request, so that it counts once. Requests that nobody repeats any
// more are forgotten, two for each new one.
func (c *call) records(a *api, subject string) ([]storage.RecordWrite, error) {
	if c.once.key == "" {
		return nil, nil
	}
	body, err := atom.Encode(request{c.once.sum, subject})
	if err != nil {
		return nil, err
	}
	writes := []storage.RecordWrite{{Kind: requestKind, Key: c.once.key, Body: body}}
	old, err := a.store.NamedRecords(c.Context(), storage.RecordQuery{Kind: requestKind, ByTime: true, Limit: 2})
	for i := range old {
		if a.store.Now().Sub(old[i].Created) > remembered {
			writes = append(writes, storage.RecordWrite{
				Kind: requestKind, Key: old[i].Key, Was: storage.AnyRevision, Delete: true,
			})
		}
	}
	if err != nil || len(writes) > 1 { // one is forgotten for this one
		return writes, err
	}
	n, err := a.store.CountRecords(c.Context(), requestKind, "")
	if err == nil && n >= maxRemembered {
		err = problem(http.StatusTooManyRequests, "full",
			"%d requests with an Idempotency-Key came within %v: send this one without, or later", n, remembered)
	}
	return writes, err
}

// claim records a request to a run before it is sent. If the process dies in between, a repetition sends it.
func (c *call) claim(a *api) error {
	if c.once.again {
		return nil
	}
	writes, err := c.records(a, "")
	if err != nil || len(writes) == 0 {
		return err
	}
	if _, err = a.store.WriteRecords(c.Context(), writes...); errors.Is(err, storage.ErrConflict) {
		return c.compare(a)
	}
	return err
}

// audited returns the context for the change of a request. The line that says who changed what is committed with the
// change.
func (c *call) audited(a *api, verb, subject string) (context.Context, error) {
	line := backend.Audited(c.issuer(), verb, subject, a.store.Now())
	writes, err := c.records(a, subject)
	return backend.Beside(c.Context(), &line, writes...), err
}
