package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// An object is a JSON object.
type object = map[string]any

// A refusal is an error that the server answered with.
type refusal struct {
	status int
	body   string
}

// Error returns the status and the body.
func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.body) }

// The services, as signatures name them.
const (
	stepFunctions = "states"
	workflows     = "swf"
)

var targets = map[string]string{stepFunctions: "AWSStepFunctions.", workflows: "SimpleWorkflowService."}

// call sends a signed request, and decodes the answer into out. An SDK would take more CPU time than the server.
func (s *server) call(ctx context.Context, service, operation string, in, out any) error {
	body, isText := in.(string)
	text := []byte(body)
	if !isText {
		var err error
		if text, err = json.Marshal(in); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", targets[service]+operation)
	credentials.Sign(r, text, region, service, time.Now())
	answer, err := s.http.Do(r)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", operation, &refusal{answer.StatusCode, string(got)})
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(got, out)
}

func (s *server) sfn(ctx context.Context, operation string, in, out any) error {
	return s.call(ctx, stepFunctions, operation, in, out)
}

func (s *server) swf(ctx context.Context, operation string, in, out any) error {
	return s.call(ctx, workflows, operation, in, out)
}
