package sfn

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type getActivityTaskInput struct {
	ActivityARN string `json:"activityArn"`
	WorkerName  string `json:"workerName"`
}

type getActivityTaskOutput struct {
	Token string  `json:"taskToken,omitempty"`
	Input *string `json:"input,omitempty"`
}

const (
	// pollTime is how long a worker waits for a task.
	pollTime = time.Minute
	// handOver is how long a worker has for reading the answer. If it has disconnected, or if this process dies, the
	// task is given to the next worker afterwards.
	handOver = 10 * time.Second
)

// getActivityTask gives a worker a task, under a lease that ends when the answer is written: from then on, only the
// limits of the task reveal the death of the worker, as at AWS.
func (s *Server) getActivityTask(ctx context.Context, caller *aws.Caller, in *getActivityTaskInput,
) (*getActivityTaskOutput, error) {
	if _, err := s.activityAt(ctx, in.ActivityARN); err != nil {
		return nil, err
	}
	end, err := s.pollers.begin(ctx, s.quotas, in.ActivityARN)
	if err != nil {
		return nil, err
	}
	defer end()
	taking := storage.WorkRequest{Queues: []string{in.ActivityARN}, Worker: in.WorkerName, Lease: handOver}
	work, err := engine.LeaseWork(ctx, s.store, taking, pollTime, s.config.Stopping)
	if errors.Is(err, storage.ErrNotFound) {
		return &getActivityTaskOutput{}, nil
	}
	if err != nil {
		return nil, err
	}
	caller.Answered = func(sent bool) { s.handedOver(work, sent) } //nolint:contextcheck // the request may have ended
	if server.Found(ctx, false) != nil {                           // the task goes to the next worker
		return nil, aws.Errorf("ActivityWorkerLimitExceeded", "Too many answers are not read yet.")
	}
	input := work.Input.String()
	return &getActivityTaskOutput{Token: takenToken(work.Token, work.Take), Input: &input}, nil
}

// handedOver makes a task that a worker has received the worker's own, and gives a task that no worker has received to
// the next one. While the store does not answer, it tries again, as long as the lease lasts.
func (s *Server) handedOver(work *engine.Work, sent bool) {
	ctx, stop := context.WithTimeout(context.Background(), handOver)
	defer stop()
	pause := time.NewTicker(handOver / 20)
	defer pause.Stop()
	for {
		_, err := s.store.KeepToken(ctx, work.Token, storage.Heartbeat{Take: work.Take, GiveBack: !sent})
		if err == nil || errors.Is(err, storage.ErrGone) || errors.Is(err, storage.ErrTaken) ||
			errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrClosed) {
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return // the lease is over
		}
	}
}
