package sfn

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

// tokenChars are the characters of a token of a task; after them may be a dot and the number of the take by which a
// worker received the task.
const tokenChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// takenToken returns the token with which the worker that received a task ends it.
func takenToken(id string, take int64) string { return id + "." + strconv.FormatInt(take, 10) }

// taskToken returns the token of a task and the number of the take; 0 if the task calls its worker itself.
func taskToken(text string) (id string, take int64, err error) {
	id, number, taken := strings.Cut(text, ".")
	if taken {
		if take, err = strconv.ParseInt(number, 10, 64); err != nil || take < 1 || takenToken(id, take) != text {
			return "", 0, errBadToken
		}
	}
	if len(id) > backend.MaxID || strings.Trim(id, tokenChars) != "" {
		return "", 0, errBadToken
	}
	return id, take, nil
}

type sendTaskSuccessInput struct {
	Token  string `json:"taskToken"`
	Output string `json:"output"`
}

type sendTaskFailureInput struct {
	Token string  `json:"taskToken"`
	Error *string `json:"error"`
	Cause string  `json:"cause"`
}

type sendTaskHeartbeatInput struct {
	Token string `json:"taskToken"`
}

func (s *Server) sendTaskSuccess(ctx context.Context, _ *aws.Caller, in *sendTaskSuccessInput) (*struct{}, error) {
	id, take, err := taskToken(in.Token)
	if err != nil {
		return nil, err
	}
	output, err := parseData("InvalidOutput", "Invalid Output", in.Output)
	if err != nil {
		return nil, err
	}
	_, err = s.store.EndToken(ctx, id, storage.TokenEnd{Take: take, Result: output})
	if errors.Is(err, storage.ErrInvalid) { // the type of an atom of Go code
		return nil, aws.Errorf("InvalidOutput", "Invalid Output: '%v'", err)
	}
	return nil, taskError(err)
}

func (s *Server) sendTaskFailure(ctx context.Context, _ *aws.Caller, in *sendTaskFailureInput) (*struct{}, error) {
	id, take, err := taskToken(in.Token)
	if err != nil {
		return nil, err
	}
	t, err := s.store.Token(ctx, id)
	if err != nil {
		return nil, taskError(err)
	}
	why := &atom.Failure{Atom: t.Path, Attempt: t.Attempt, Message: in.Cause, Bare: in.Error == nil}
	if in.Error != nil {
		why.Code = *in.Error
	}
	_, err = s.store.EndToken(ctx, id, storage.TokenEnd{Take: take, Failure: why})
	return nil, taskError(err)
}

func (s *Server) sendTaskHeartbeat(ctx context.Context, _ *aws.Caller, in *sendTaskHeartbeatInput) (*struct{}, error) {
	id, take, err := taskToken(in.Token)
	if err != nil {
		return nil, err
	}
	_, err = s.store.KeepToken(ctx, id, storage.Heartbeat{Take: take})
	return nil, taskError(err)
}

// taskError returns the answer to the holder of a task's token for an error of the store.
func taskError(err error) error {
	switch {
	case errors.Is(err, storage.ErrGone), errors.Is(err, storage.ErrTaken):
		return aws.Errorf("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
	case errors.Is(err, storage.ErrNotFound):
		return aws.Errorf("TaskDoesNotExist", "Task Does Not Exist: 'Provided task does not exist'")
	default:
		return err
	}
}
