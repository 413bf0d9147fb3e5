package aws

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"maps"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/logevent"
)

// MaxBody is the maximum size of the body of a request in bytes.
//
//limit:protocol body of a request (`aws.MaxBody`) | {B} | `RequestEntityTooLargeException`
const MaxBody = 1 << 20

// Types of the errors that are the protocol's, not a service's.
const (
	common               = "com.amazon.coral.service#"
	codeSerialization    = common + "SerializationException"
	codeValidation       = "com.amazon.coral.validate#ValidationException"
	codeUnknownOperation = common + "UnknownOperationException"
	codeTooLarge         = common + "RequestEntityTooLargeException"
	codeTimeout          = common + "RequestTimeoutException"
	codeInternal         = common + "InternalFailure"
)

// Options are settings of a handler.
type Options struct {
	Region string // of the services, which signatures name
	// AnyAccount says that clients choose the account and the region of a request, as with an emulator: the account is
	// the access key, if that has twelve digits, and the region is the one that the request was signed for. The handler
	// verifies no signature.
	AnyAccount bool
	Log        hclog.Logger // nil means no log
}

// A Handler answers requests in the JSON protocol of AWS. It checks a request, calls the operation of the [Service]
// that the request names, and writes the result or the error as AWS does. [New] creates a Handler.
type Handler struct {
	Options

	services map[string]*Service // by Target
	secret   func(accessKey string) (secret string, ok bool)
}

// New returns a handler that serves requests of services. Until [Handler.RequireSignatures] is called, requests need no
// signature, and any signature is accepted: only clients that may do everything must reach the handler.
func New(o Options, services ...*Service) *Handler {
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Log = o.Log.Named("aws")
	h := &Handler{Options: o, services: map[string]*Service{}}
	for _, s := range services {
		h.services[s.Target] = s
		if s.Package != "" {
			h.services[s.Package+"."+s.Target] = s
		}
	}
	return h
}

// RequireSignatures makes the handler serve only requests with a signature (Signature Version 4) of an access key. The
// function returns the secret of the key with an ID, and whether there is such a key. Call it before the first request.
func (h *Handler) RequireSignatures(secret func(accessKey string) (secret string, ok bool)) {
	h.secret = secret
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller, sent := &Caller{Request: uuid.NewString()}, false
	defer func() {
		if caller.Answered != nil {
			caller.Answered(sent)
		}
	}()
	service, out, err := h.serve(w, r, caller)
	var text []byte
	small := true
	if err == nil && (out != nil || !service.EmptyAnswers) {
		text, small, err = encode(out)
	}
	if err != nil {
		refuse(w, r, caller.Request, h.errorOf(r, service, err))
		return
	}
	// A client that has the answer may disconnect at once. Only one that disconnected before does not get it.
	gone := errors.Is(r.Context().Err(), context.Canceled)
	err = answer(w, r, caller.Request, http.StatusOK, out, text, small)
	if caller.Answered != nil {
		if late := http.NewResponseController(w).Flush(); !errors.Is(late, http.ErrNotSupported) {
			err = errors.Join(err, late)
		}
	}
	sent = err == nil && !gone
}

// serve routes a request, and does its operation.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, caller *Caller) (s *Service, out any, err error) {
	w.Header().Set("Connection", "close") // else the server would wait for a body that is not read
	target := r.Header.Get("X-Amz-Target")
	dot := max(strings.LastIndexByte(target, '.'), 0)
	s = h.services[target[:dot]]
	kind, old := mediaType(r), s != nil && s.Package != ""
	if r.Method != http.MethodPost || kind != json10 && kind != json11 && (!old || kind != plainJSON) {
		return nil, nil, &Error{Code: codeUnknownOperation, Status: http.StatusNotFound}
	}
	if s == nil {
		return nil, nil, &Error{Code: codeUnknownOperation}
	}
	op, ok := s.Operations[target[dot+1:]]
	if !ok {
		return s, nil, &Error{Code: codeUnknownOperation}
	}
	body, err := h.read(w, r, s, caller)
	if err != nil {
		return s, nil, err
	}
	w.Header().Del("Connection")
	defer func() {
		if fault := recover(); fault != nil {
			h.Log.Error(logevent.RequestPanicked, "url", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	out, err = op.do(r.Context(), caller, body)
	return s, out, err
}

// read reads the body, and verifies the signature. It refuses what it can before the body has arrived.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, s *Service, caller *Caller) ([]byte, error) {
	if h.secret == nil {
		if a, ok := r.Context().Value(accountKey{}).(Account); ok {
			caller.Account, caller.Region = a.ID, a.Region
		} else if h.AnyAccount {
			caller.choose(r.Header.Get("Authorization"))
		}
		return readBody(w, r)
	}
	signed, err := h.claim(r, s)
	if err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	caller.AccessKey = signed.accessKey
	return body, signed.verify(r, body)
}

var errPanicked = errors.New("aws: the operation panicked")

// errorOf returns the error that a client receives: an error of the service with its prefix, else InternalFailure.
func (h *Handler) errorOf(r *http.Request, s *Service, err error) *Error {
	e, known := errors.AsType[*Error](err)
	switch {
	case known && s != nil && !strings.Contains(e.Code, "#"):
		prefixed := *e
		prefixed.Code = s.ErrorPrefix + e.Code
		return &prefixed
	case known:
		return e
	case !errors.Is(err, context.Canceled) && !errors.Is(err, errPanicked): // else the client has gone, or it is logged
		h.Log.Error(logevent.RequestFailed, "operation", r.Header.Get("X-Amz-Target"), "error", err)
	}
	return &Error{Code: codeInternal, Status: http.StatusServiceUnavailable}
}

// refusals are the codes of AWS for what is refused before a handler has the request.
var refusals = map[int]string{
	http.StatusForbidden:             common + "AccessDeniedException",
	http.StatusRequestEntityTooLarge: codeTooLarge,
	http.StatusServiceUnavailable:    common + "ServiceUnavailableException",
}

// Refuse answers a request that the program does not pass to the handler, with a status of HTTP and the reason.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	code := cmp.Or(refusals[status], codeUnknownOperation)
	refuse(w, r, uuid.NewString(), &Error{Code: code, Message: reason, Status: status})
}

func refuse(w http.ResponseWriter, r *http.Request, id string, e *Error) {
	body := map[string]any{"__type": e.Code}
	maps.Copy(body, e.Fields)
	if e.Message != "" {
		body["message"] = e.Message
	}
	status := cmp.Or(e.Status, http.StatusBadRequest)
	text, small, err := encode(body)
	if err != nil { // of Fields
		text, small, status = []byte(`{"__type":"`+codeInternal+`"}`), true, http.StatusServiceUnavailable
	}
	w.Header().Set("X-Amzn-Errortype", e.Code[strings.Index(e.Code, "#")+1:])
	_ = answer(w, r, id, status, body, text, small) // the client may have disconnected
}

// answer writes an answer: its text if it is small, or what it is made of.
func answer(w http.ResponseWriter, r *http.Request, id string, status int, out any, text []byte, small bool) error {
	w.Header().Set("X-Amzn-Requestid", id)
	w.Header().Set("Content-Type", contentType(r))
	if small {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(status)
		_, err := w.Write(text)
		return err
	}
	w.WriteHeader(status)
	buffer := bufio.NewWriterSize(w, smallAnswer)
	return errors.Join(jsontext.Stream(buffer, out), buffer.Flush())
}

// contentType returns the type of the answer: the version of the protocol that the client speaks.
func contentType(r *http.Request) string {
	if kind := mediaType(r); kind == json11 || kind == plainJSON {
		return kind
	}
	return json10
}

func mediaType(r *http.Request) string {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid type is not the protocol's
	return kind
}

const (
	json10    = "application/x-amz-json-1.0"
	json11    = "application/x-amz-json-1.1"
	plainJSON = "application/json"
)

// smallAnswer is up to how many bytes an answer is whole before it is sent. A larger one is sent while it is written.
const smallAnswer = 64 << 10

// encode returns a value as JSON; {} for nil. It does not escape what only HTML needs escaped. It returns nothing for
// what is not small.
func encode(value any) (text []byte, small bool, err error) {
	if value == nil {
		return []byte("{}"), true, nil
	}
	return jsontext.StreamSmall(value, smallAnswer)
}
