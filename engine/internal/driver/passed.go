package driver

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/storage"
)

// messageCall is the kind of the message that passes a request to the process that drives the run, from a process that
// cannot load it. Name is the id of the token that receives the answer, and Body the request.
//
// The answer is a token that has ended from the start. The commit with the language's answer creates the token and
// deletes the message, so the request is carried out once, and the answer is there as soon as it is true.
const messageCall grow.MessageKind = "call"

// A passedRequest is a request as its message holds it.
type passedRequest struct {
	Kind    RequestKind         `json:"kind"`
	Name    string              `json:"name,omitempty"`
	Body    atom.Value          `json:"body,omitempty"`
	Token   string              `json:"token,omitempty"`
	Path    string              `json:"path,omitempty"`
	Take    int64               `json:"take,omitempty"`
	Taking  storage.WorkRequest `json:"taking"`
	Result  atom.Value          `json:"result,omitempty"`
	Failure *atom.Failure       `json:"failure,omitempty"`
}

// A passedAnswer is the answer to a request as its token holds it.
type passedAnswer struct {
	Reply   atom.Value    `json:"reply,omitempty"`
	Refused atom.Value    `json:"refused,omitempty"`
	Take    int64         `json:"take,omitempty"`
	Input   atom.Value    `json:"input,omitempty"`
	Note    atom.Value    `json:"note,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Error   string        `json:"error,omitempty"`
	Failure *atom.Failure `json:"failure,omitempty"`
}

// passedErrors are the errors of requests that callers distinguish.
var passedErrors = []error{ErrEnded, ErrHeld, ErrNoLanguage, storage.ErrGone, storage.ErrTaken}

// Pass returns the message that passes the request to the process that drives its run.
func (r *Request) Pass() (storage.Message, error) {
	r.receipt = tasktoken.New()
	body, err := atom.Encode(passedRequest{
		Kind: r.Kind, Name: r.Name, Body: r.Body, Token: r.Token.ID, Path: r.Token.Path, Take: r.Take, Taking: r.Taking,
		Result: r.Result, Failure: r.Failure,
	})
	return storage.Message{Run: r.Run, Kind: messageCall, Name: r.receipt, Body: body}, err
}

// Receipt is the id of the token that holds the answer to a request that was passed on.
func (r *Request) Receipt() string { return r.receipt }

// Answer ends a request that was passed on, with the token that holds its answer.
func (r *Request) Answer(t *storage.Token) {
	var a passedAnswer
	if err := t.Result.Decode(&a); err != nil {
		r.End(err)
		return
	}
	r.Reply, r.Refused, r.Input, r.Note, r.Attempt, r.Token.Take = a.Reply, a.Refused, a.Input, a.Note, a.Attempt, a.Take
	err := error(nil)
	switch {
	case a.Failure != nil:
		err = a.Failure
	case a.Error != "":
		err = errors.New(a.Error)
		for _, known := range passedErrors {
			if known.Error() == a.Error {
				err = known
			}
		}
	}
	r.End(err)
}

// answer returns the token that holds the answer to a request.
func (r *Request) answer() storage.Token {
	a := passedAnswer{
		Reply: r.Reply, Refused: r.Refused, Take: r.Token.Take, Input: r.Input, Note: r.Note, Attempt: r.Attempt,
	}
	if f, is := errors.AsType[*atom.Failure](r.Err); is {
		a.Failure = f
	} else if r.Err != nil {
		a.Error = r.Err.Error()
		for _, known := range passedErrors {
			if errors.Is(r.Err, known) {
				a.Error = known.Error()
			}
		}
	}
	result, err := atom.Encode(a)
	if err != nil {
		result = atom.MustEncode(passedAnswer{Error: "engine: the answer: " + err.Error()})
	}
	return storage.Token{ID: r.receipt, State: storage.TokenCompleted, Result: result}
}

// receive takes in a request that another process has passed on. The message stays until the request is answered.
func (d *Driver) receive(l *storage.Message) {
	var p passedRequest
	if err := l.Body.Decode(&p); err != nil {
		d.Log().Warn(logevent.CommandRefused, "run", d.Claim.Run, "command", l.Kind, "error", err)
		d.Draft.Take(l.N)
		return
	}
	d.requests.passed = append(d.requests.passed, &Request{
		Kind: p.Kind, Run: d.Claim.Run, Name: p.Name, Body: p.Body, Token: storage.Token{ID: p.Token, Path: p.Path},
		Take: p.Take, Taking: p.Taking, Result: p.Result, Failure: p.Failure,
		receipt: l.Name, message: l.N, done: make(chan struct{}),
	})
}

// acknowledge adds the answer to a request that was passed on to the pending checkpoint.
func (d *Driver) acknowledge(r *Request) {
	if r.message > 0 {
		d.Draft.Take(r.message)
		d.Draft.Token(r.answer())
	}
}
