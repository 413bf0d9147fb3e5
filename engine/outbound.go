package engine

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/backend"
)

// An outbound contains the messages that [Engine.Dispatch] is sending. A message that takes long does not count
// toward the capacity, so a slow receiver does not delay the others.
type outbound struct {
	store backend.Store
	log   hclog.Logger
	all   sync.WaitGroup
	ended chan struct{} // closed when half of the capacity is free again, or only slow messages are being sent

	mu      sync.Mutex
	sending map[int64]bool // by number of the message: whether it is slow
	slow    int
}

func newOutbound(store backend.Store, log hclog.Logger) *outbound {
	return &outbound{store: store, log: log, ended: make(chan struct{}, 1), sending: map[int64]bool{}}
}

// look returns how many more messages may be sent, and the numbers of those that are being sent.
func (o *outbound) look() (capacity int, sending map[int64]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sending = make(map[int64]bool, len(o.sending))
	for n := range o.sending {
		sending[n] = true
	}
	return o.capacity(), sending
}

func (o *outbound) capacity() int {
	return sendAtOnce - (len(o.sending) - min(o.slow, slowAtOnce))
}

// send starts to send a message.
func (o *outbound) send(n int64, send func()) {
	o.mu.Lock()
	o.sending[n] = false
	o.mu.Unlock()
	slow := time.AfterFunc(slowSend, func() {
		o.mu.Lock()
		if _, still := o.sending[n]; still {
			o.sending[n] = true
			o.slow++
			o.changed()
		}
		o.mu.Unlock()
	})
	o.all.Go(func() {
		send()
		slow.Stop()
		o.mu.Lock()
		if o.sending[n] {
			o.slow--
		}
		delete(o.sending, n)
		o.changed()
		o.mu.Unlock()
	})
}

// changed makes Dispatch ask the store again. It does so only after several of many quick messages.
func (o *outbound) changed() {
	if len(o.sending) > o.slow && o.capacity() < sendAtOnce/2 {
		return
	}
	select {
	case o.ended <- struct{}{}:
	default:
	}
}
