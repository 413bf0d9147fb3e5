package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// commandPage is the name of the page with the form of a command.
const commandPage = "command"

// A form sends what the REST API takes, through the API itself. So a page can do what a program can, and is refused for
// the same reasons.

var errAnswer = errors.New("the API did not answer as it should")

// A problem is an error answer of the API.
type problem struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// ask sends a request to the API for the caller of the visit, and reads the answer into a value. It returns the problem
// with which the API answers; nil if there is none.
func (c *console) ask(ctx context.Context, v *visit, method, path, key string, body []byte, into any) *problem {
	caller := v.caller
	caller.Via = storage.ViaConsole
	//nolint:gosec // the request goes to a handler in this process
	r, err := http.NewRequestWithContext(server.WithCaller(ctx, caller), method, path, bytes.NewReader(body))
	if err != nil {
		return &problem{Status: http.StatusBadRequest, Detail: fmt.Errorf("this cannot be an address: %w", err).Error()}
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := &answer{header: http.Header{}}
	c.o.Commands.ServeHTTP(w, r)
	if w.status >= http.StatusOK && w.status < http.StatusMultipleChoices { // a redirect does nothing
		if into == nil {
			return nil
		}
		err = json.Unmarshal(w.body.Bytes(), into)
	} else {
		var p problem
		if err = json.Unmarshal(w.body.Bytes(), &p); err == nil {
			return &p
		}
	}
	if err != nil {
		return &problem{Status: http.StatusInternalServerError, Detail: errAnswer.Error()}
	}
	return nil
}

// An answer is what the API answers.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *answer) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *answer) WriteHeader(status int) { w.status = status }

// Write implements [io.Writer].
func (w *answer) Write(b []byte) (int, error) { return w.body.Write(b) }

// maxForm is the maximum size of a form in bytes.
const maxForm = server.MaxBody

// operation returns the command that the address of a visit names; nil if there is none.
func (c *console) operation(v *visit) *server.Operation {
	at := slices.IndexFunc(c.operations, func(o server.Operation) bool {
		return o.Name == v.query.Get("do") && o.Of == v.query.Get("of")
	})
	if at < 0 {
		return nil
	}
	return &c.operations[at]
}

// posted does what a form says. It returns the page to go to; "" if there is a problem, which the form then shows.
func (c *console) posted(ctx context.Context, v *visit, w http.ResponseWriter, r *http.Request, page string) address {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		v.problem, v.status = say("The form cannot be read, or is too large."), http.StatusBadRequest
		return ""
	}
	for name, values := range r.PostForm {
		if slices.ContainsFunc(values, func(text string) bool { return !utf8.ValidString(text) }) {
			v.problem, v.status = say("{0}: this is not UTF-8", words(strings.TrimPrefix(name, "f."))), http.StatusBadRequest
			return ""
		}
	}
	v.form = r.PostForm
	if page == editPage {
		return c.keep(ctx, v)
	}
	return c.give(ctx, v)
}

// give gives the command of a form, as posted does.
func (c *console) give(ctx context.Context, v *visit) address {
	o := c.operation(v)
	if o == nil {
		return ""
	}
	if isStart(o) {
		input, wrong := inputOf(v.form)
		if wrong != nil {
			v.problem, v.status = wrong, http.StatusBadRequest
			return ""
		}
		if input != "" {
			v.form.Set("f.input", input)
		}
	}
	body, wrong := bodyOf(o, v.filled)
	if wrong != nil {
		v.problem, v.status = wrong, http.StatusBadRequest
		return ""
	}
	id := v.query.Get("id")
	var done struct{ Run, Job string }
	var into any
	if o.Of == "" || o.Of == "token" {
		into = &done
	}
	if p := c.ask(ctx, v, http.MethodPost, pathOf(o, id), v.form.Get("once"), body, into); p != nil {
		v.problem, v.status = words(p.Detail), p.Status
		return ""
	}
	return landing(o, id, done.Run, done.Job, c.sign(ctx, v, o.Of+" "+o.Name))
}

// pathOf returns the path of a command to what has the id.
func pathOf(o *server.Operation, id string) string {
	return strings.Replace(o.Path, "{"+o.Of+"}", url.PathEscape(id), 1)
}

// landing returns the page that shows what a command has done.
func landing(o *server.Operation, id, run, job, did string) address {
	switch {
	case o.Of == "run":
		return link("run", "id", id, "did", did)
	case o.Of == "token":
		return link("run", "id", run, "did", did)
	case o.Of != "":
		return link(o.Of+"s", "did", did)
	case o.Name == "bulk":
		return link("runs", "filter", "flow:ebb.bulk")
	case job != "":
		return link("jobs", "did", did)
	default:
		return link(o.Name, "did", did)
	}
}

// filled returns the value of a field of the form that was sent.
func (v *visit) filled(name string) string { return v.form.Get("f." + name) }

// bodyOf returns the body of a command, with what a form has filled in. It returns what is wrong with a field; nil if
// nothing is.
func bodyOf(o *server.Operation, filled func(name string) string) (body []byte, wrong node) {
	members := map[string]json.RawMessage{}
	for _, f := range o.Fields {
		text := filled(f.Name)
		if f.Kind != server.FieldText && f.Kind != server.FieldLines {
			text = strings.TrimSpace(text)
		}
		if text == "" {
			continue
		}
		switch f.Kind {
		case server.FieldBool:
			members[f.Name] = json.RawMessage("true")
		case server.FieldNumber:
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return nil, say("{0}: want a number", words(f.Name))
			}
			members[f.Name] = json.RawMessage(text)
		case server.FieldText, server.FieldLines:
			if f.Kind == server.FieldLines {
				text = withoutReturns(text)
			}
			members[f.Name], _ = json.Marshal(text) // a text is always JSON
		case server.FieldValue, server.FieldObject, server.FieldStrings:
			if !json.Valid([]byte(text)) {
				return nil, say("{0}: this is not JSON, such as {1} or {2}", words(f.Name), code(`{"a": 1}`), code(`"text"`))
			}
			members[f.Name] = json.RawMessage(text)
		}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, say("The form cannot be sent.")
	}
	return body, nil
}

// once returns a key that makes a repeated form count once.
func (v *visit) once() string {
	if key := v.form.Get("once"); key != "" {
		return key
	}
	return rand.Text()
}
