package api

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

const (
	defaultLimit = 50 // objects of a page
	maxLimit     = 500
)

// A call is a request to a route.
type call struct {
	*http.Request

	query  url.Values
	caller server.Caller
	once   once
}

// run reads the run that the path names.
func (c *call) run(a *api) (storage.Run, error) {
	id := c.PathValue("run")
	run, err := a.store.Run(c.Context(), id)
	return run, there(err, "run", id)
}

// page reads the run that the path names, and how many objects of it the page has.
func (c *call) page(a *api) (run storage.Run, limit int, err error) {
	if run, err = c.run(a); err == nil {
		limit, err = c.limit()
	}
	return run, limit, err
}

// there names what is not there.
func there(err error, what, id string) error {
	if p := problemOf(err); err != nil && p.Status == http.StatusNotFound {
		return problem(http.StatusNotFound, "not_found", "there is no %s %.300q", what, id)
	}
	return err
}

// limit returns how many objects the page has.
func (c *call) limit() (int, error) {
	n, err := c.number("limit", defaultLimit)
	if err == nil && (n < 1 || n > maxLimit) {
		err = problem(http.StatusBadRequest, "invalid", "limit is %d: want 1 to %d", n, maxLimit)
	}
	return int(n), err
}

// number returns a parameter that is a number.
func (c *call) number(name string, otherwise int64) (int64, error) {
	text := c.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, problem(http.StatusBadRequest, "invalid", "%s is %.50q: want a number, 0 or more", name, text)
	}
	return n, nil
}

// decode reads the body, which may be left out.
func (c *call) decode(into any) error {
	body, err := server.ReadBody(nil, c.Request)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	media, _, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return problem(http.StatusUnsupportedMediaType, "media_type", "send JSON, with Content-Type: application/json")
	}
	if err := server.DecodeBody(body, into); err != nil {
		return err
	}
	return refuseBlank(reflect.ValueOf(into).Elem())
}

// refuseBlank refuses members that are only blanks, as the command line does. Nobody sees such a name, and a filter of
// blanks would select everything. An empty text means that the member is left out.
func refuseBlank(body reflect.Value) error {
	if body.Kind() != reflect.Struct {
		return nil
	}
	for field, value := range body.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var texts []string
		switch {
		case name == "reason" || name == "cause" || name == "text": // people read it, or it is a definition
		case field.Anonymous:
			if err := refuseBlank(value); err != nil {
				return err
			}
		case value.Kind() == reflect.String:
			texts = []string{value.String()}
		case value.Type() == reflect.TypeFor[map[string]string]():
			if members, is := reflect.TypeAssert[map[string]string](value); is {
				texts = slices.Collect(maps.Keys(members))
			}
		}
		if slices.ContainsFunc(texts, isBlank) {
			return problem(http.StatusBadRequest, "invalid", "%s is blank: leave it out, or say what is meant", name)
		}
	}
	return nil
}

// refuseBlankQuery does so for the parameters of the query.
func (c *call) refuseBlankQuery() error {
	for name, texts := range c.query {
		if slices.ContainsFunc(texts, isBlank) {
			return problem(http.StatusBadRequest, "invalid", "%s is blank: leave it out, or say what is meant", name)
		}
	}
	return nil
}

func isBlank(text string) bool { return text != "" && strings.TrimSpace(text) == "" }

// maxIdempotencyKey leaves space for keyPrefix.
const maxIdempotencyKey = 200

// keyPrefix separates the keys of requests from those of signals.
const keyPrefix = "api/"

// key returns the key of the message that the request becomes; "" if it may count twice.
func (c *call) key() (string, error) {
	key := c.Header.Get("Idempotency-Key")
	switch {
	case key == "":
		return "", nil
	case len(key) > maxIdempotencyKey:
		return "", problem(http.StatusBadRequest, "invalid", "Idempotency-Key has %d bytes: at most %d", len(key),
			maxIdempotencyKey)
	}
	return fmt.Sprint(keyPrefix, key), nil
}

// issuer returns who sends the request, for the audit.
func (c *call) issuer() storage.Issuer {
	return storage.Issuer{Via: cmp.Or(c.caller.Via, storage.ViaAPI), Name: c.caller.Name}
}
