package tasks

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// sent records a request of a tested HTTP task.
func sent(e *teststate.Exchange, req *http.Request) {
	if e == nil {
		return
	}
	out := &teststate.HTTPRequest{
		Protocol: req.URL.Scheme, Method: req.Method, URL: req.URL.String(), Headers: headersAsText(req.Header),
	}
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, atom.MaxValue)) // it is in memory
			out.Body = string(text)
		}
	}
	*e = teststate.Exchange{Request: out}
}

// received records the response to a tested HTTP task.
func received(e *teststate.Exchange, answer *http.Response, body []byte) {
	if e == nil {
		return
	}
	protocol := "http"
	if answer.TLS != nil {
		protocol = "https"
	}
	e.Response = &teststate.HTTPResponse{
		Protocol: protocol, StatusCode: strconv.Itoa(answer.StatusCode), StatusMessage: http.StatusText(answer.StatusCode),
		Headers: headersAsText(answer.Header), Body: string(body[:min(len(body), atom.MaxValue)]),
	}
}

// headersAsText returns headers as AWS shows them: [name: value, name: value].
func headersAsText(h http.Header) string {
	var all []string
	for name, values := range h {
		for _, value := range values {
			all = append(all, name+": "+value)
		}
	}
	slices.Sort(all)
	return "[" + strings.Join(all, ", ") + "]"
}
