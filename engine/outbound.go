package engine

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
)

// An outbound has the messages that [Engine.Dispatch] is sending. A message that takes long does not count toward the
// capacity, so that a receiver that answers slowly, or never, does not hold up the others.
type outbound struct {
	store storage.Store
	log   hclog.Logger
	all   sync.WaitGroup
	ended chan struct{} // half of the capacity is free again, or only slow messages are being sent

	mu      sync.Mutex
	sending map[int64]bool // by the message's number: whether it is slow
	slow    int
}

func newOutbound(store storage.Store, log hclog.Logger) *outbound {
	return &outbound{store: store, log: log, ended: make(chan struct{}, 1), sending: map[int64]bool{}}
}

// look returns how many more may be sent, and which are being sent.
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

// send begins to send a message.
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

// changed has the store asked again. It is not asked after each of many quick messages.
func (o *outbound) changed() {
	if len(o.sending) > o.slow && o.capacity() < sendAtOnce/2 {
		return
	}
	select {
	case o.ended <- struct{}{}:
	default:
	}
}
