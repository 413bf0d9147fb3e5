package lambda

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// Prefix is that of the paths of [Server.Handler]. Clients also ask for it without its last slash.
const Prefix = "/2015-03-31/functions/"

// maxContext is the maximum size of the context of a client, in Base64, as on AWS.
const maxContext = 3583

// Types of invocations.
const (
	requestResponse = "RequestResponse"
	event           = "Event"
	dryRun          = "DryRun"
)

// Handler returns the operations Invoke, ListFunctions, GetFunction and GetFunctionConfiguration of AWS Lambda's API.
// It verifies no signature: the program decides who reaches it. Requests can only call functions that the server was
// given.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) newHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Prefix+"{name}/invocations", s.invoke)
	mux.HandleFunc("GET "+Prefix+"{$}", s.list)
	mux.HandleFunc("GET "+strings.TrimSuffix(Prefix, "/"), s.list)
	mux.HandleFunc("GET "+Prefix+"{name}", s.describe)
	mux.HandleFunc("GET "+Prefix+"{name}/configuration", s.describe)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "UnknownOperationException",
			"Of Lambda's API, this server has Invoke, ListFunctions, GetFunction and GetFunctionConfiguration.")
	})
	return mux
}

// named returns the function of a request, or refuses the request.
func (s *Server) named(w http.ResponseWriter, r *http.Request) (f *hosted, qualifier string) {
	name := r.PathValue("name")
	f, qualifier = s.find(name)
	if asked := r.URL.Query().Get("Qualifier"); asked != "" {
		qualifier = asked
	}
	if f == nil {
		arn := name
		if !strings.HasPrefix(name, "arn:") {
			arn = s.account.ARN("lambda", "function", strings.TrimPrefix(name, "function:"))
		}
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", fmt.Sprintf("Function not found: %.300s", arn))
	}
	return f, qualifier
}

// invoke calls a function.
func (s *Server) invoke(w http.ResponseWriter, r *http.Request) {
	f, qualifier := s.named(w, r)
	if f == nil {
		return
	}
	payload, context, ok := readInvocation(w, r)
	if !ok {
		return
	}
	header := w.Header()
	in := newInvocation(f, qualifier, payload, context)
	header.Set("X-Amzn-Requestid", in.id)
	kind := r.Header.Get("X-Amz-Invocation-Type")
	if kind == dryRun {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	in.async = kind == event
	j, err := s.begin(f, in)
	if err == nil && in.async {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var out *outcome
	if err == nil {
		out, err = j.wait(r.Context())
	}
	switch {
	case errors.Is(err, errBusy):
		refuse(w, http.StatusTooManyRequests, "TooManyRequestsException", "Rate Exceeded.")
		return
	case err != nil:
		refuse(w, http.StatusInternalServerError, "ServiceException", err.Error())
		return
	}
	header.Set("X-Amz-Executed-Version", out.version)
	header.Set("Content-Type", "application/json")
	if out.failed {
		header.Set("X-Amz-Function-Error", "Unhandled")
	}
	if r.Header.Get("X-Amz-Log-Type") == "Tail" {
		header.Set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(out.log))
	}
	_, _ = w.Write(out.payload) // the client may have disconnected
}

// readInvocation reads the payload and the context of a request to Invoke, or refuses the request.
func readInvocation(w http.ResponseWriter, r *http.Request) (payload []byte, context string, ok bool) {
	switch kind := r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", requestResponse, event, dryRun:
	default:
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException",
			"InvocationType must be RequestResponse, Event or DryRun")
		return nil, "", false
	}
	given := r.Header.Get("X-Amz-Client-Context")
	decoded, err := base64.StdEncoding.DecodeString(given)
	if err != nil || len(given) > maxContext || len(decoded) > 0 && !isHeaderJSON(decoded) {
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException", "Client context must be a valid JSON object.")
		return nil, "", false
	}
	payload, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxPayload))
	large, isLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case isLarge:
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException",
			fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", large.Limit))
	case err != nil:
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException", "Could not read the request body: "+err.Error())
	case len(payload) == 0:
		return []byte("{}"), string(decoded), true
	case !json.Valid(payload):
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException",
			"Could not parse request body into json: "+problemOf(payload))
	default:
		return payload, string(decoded), true
	}
	return nil, "", false
}

// isHeaderJSON reports whether a text is an object of JSON that a header can contain.
func isHeaderJSON(text []byte) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) != nil {
		return false
	}
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// problemOf returns why a text is not JSON.
func problemOf(text []byte) string {
	var value any
	return json.Unmarshal(text, &value).Error()
}

// A description is what ListFunctions and GetFunction say of a function, under AWS's names.
type description struct {
	FunctionName string
	FunctionArn  string
	Runtime      string
	Handler      string
	Timeout      int
	MemorySize   int
	Version      string
	PackageType  string
	State        string
	LastModified string
}

func describe(f *hosted) description {
	return description{
		FunctionName: f.Name, FunctionArn: f.arn, Runtime: f.Runtime, Handler: f.Handler,
		Timeout: int(f.timeout().Seconds()), MemorySize: f.memoryMB(), Version: latest, PackageType: "Zip",
		State: "Active", LastModified: "2000-01-01T00:00:00.000+0000",
	}
}

// list answers ListFunctions. All functions are on one page.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	all := []description{}
	for _, name := range s.Names() {
		if f, _ := s.find(name); f != nil { // it may be gone by now
			all = append(all, describe(f))
		}
	}
	answerJSON(w, http.StatusOK, map[string]any{"Functions": all})
}

// describe answers GetFunction, and GetFunctionConfiguration.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	f, _ := s.named(w, r)
	switch {
	case f == nil:
	case strings.HasSuffix(r.URL.Path, "/configuration"):
		answerJSON(w, http.StatusOK, describe(f))
	default:
		answerJSON(w, http.StatusOK, map[string]any{"Configuration": describe(f)})
	}
}

// refuse answers with an error of the service.
func refuse(w http.ResponseWriter, status int, code, message string) {
	header := w.Header()
	if header.Get("X-Amzn-Requestid") == "" {
		header.Set("X-Amzn-Requestid", uuid.NewString())
	}
	header.Set("X-Amzn-Errortype", code)
	kind := "User"
	if status >= http.StatusInternalServerError {
		kind = "Service"
	}
	answerJSON(w, status, map[string]string{"Type": kind, "Message": message, "message": message})
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}
