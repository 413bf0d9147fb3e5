package sfn

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type updateMapRunInput struct {
	MapRunARN string `json:"mapRunArn"`
	asl.MapRunUpdate
}

// updateMapRun sends the map run a signal, which is durable before the answer. It waits until the map run has received
// it, so that a description has the new values. If the process that drives the execution is busy, it waits no longer
// than for a redrive.
func (s *Server) updateMapRun(ctx context.Context, _ *aws.Caller, in *updateMapRunInput) (*struct{}, error) {
	m, err := s.mapRunAt(ctx, in.MapRunARN)
	if err != nil {
		return nil, err
	}
	if m.status != statusRunning {
		return nil, invalid("", "Map Run is %s and cannot be updated", m.status)
	}
	signal := storage.Message{
		Run: m.execution.run.ID, Kind: grow.MessageSignal, Path: m.flow, Name: asl.UpdateMapRun, Key: rand.Text(),
		Body: atom.MustEncode(in.MapRunUpdate),
	}
	if err := s.store.Send(ctx, signal); err != nil {
		return nil, err
	}
	s.received(ctx, &signal)
	return &struct{}{}, nil
}

// received waits until a run has taken a message from its inbox, as long as that can be seen.
func (s *Server) received(ctx context.Context, message *storage.Message) {
	over := time.NewTimer(redriveTime)
	defer over.Stop()
	look := time.NewTicker(lookForEnd)
	defer look.Stop()
	for {
		_, waiting, err := s.store.Messages(ctx, message.Run, 0)
		if err != nil || !slices.ContainsFunc(waiting, func(m storage.Message) bool { return m.Key == message.Key }) {
			return
		}
		select {
		case <-look.C:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
