package server

import (
	"mime"
	"net/http"
	"strings"
	"time"
)

// awsTime is the time for the work of a request of AWS. The longest waits five minutes for the end of a run.
//
//limit:http time for the work of a request of AWS's protocol | {} | 503
const awsTime = 5*time.Minute + workTime

// invocationTime is the time for a request that calls a Lambda function, which may take 15 minutes.
//
//limit:http time for the invocation of a Lambda function | {} | 503
const invocationTime = 15*time.Minute + workTime

// isInvocation reports whether a request calls a Lambda function.
func isInvocation(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/2015-03-31/functions/") && r.Method == http.MethodPost
}

// An AWSHandler serves requests of AWS's protocol. Package server/aws has one.
type AWSHandler interface {
	http.Handler
	// RequireSignatures makes the handler serve only requests that are signed with the secret of an access key.
	RequireSignatures(secret func(accessKey string) (secret string, ok bool))
	// Refuse answers a request that is not served, with a status of HTTP and the reason.
	Refuse(w http.ResponseWriter, r *http.Request, status int, reason string)
}

// ServeAWS makes the server pass on requests of AWS's clients: POST to / with X-Amz-Target. If the server requires
// keys, such a request must be signed with a key for aws, and no other key opens the handler. Call ServeAWS before
// [Server.Start], and before the first request to [Server.Guard].
//
// AWS's clients put "sync-" before the name of the host for some operations. The server's names with this prefix count
// as its names for these requests.
func (s *Server) ServeAWS(h AWSHandler) {
	if s.keys != nil {
		h.RequireSignatures(s.keys.secret)
	}
	s.aws = h
}

// isForAWS reports whether a request is one of AWS's protocol. A page in a browser cannot send such a request to
// another origin, because it cannot set these headers there.
func (s *Server) isForAWS(r *http.Request) bool {
	if s.aws == nil || r.Method != http.MethodPost || r.URL.Path != "/" {
		return false
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid type is not the protocol's
	return r.Header.Get("X-Amz-Target") != "" || strings.HasPrefix(kind, "application/x-amz-json-")
}

// refuseFor refuses a request in the form that its client expects.
func (s *Server) refuseFor(w http.ResponseWriter, r *http.Request, why *Problem) {
	if !s.isForAWS(r) {
		refuse(w, why)
		return
	}
	w.Header().Set("Connection", "close")
	s.aws.Refuse(w, r, why.Status, why.Text)
}
