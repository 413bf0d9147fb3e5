package engine

import (
	"sync"
	"time"
)

// An outbound has the messages that [Engine.Dispatch] is sending. One that takes long makes room for others, so that a
// receiver who answers slowly, or never, does not hold up the others.
type outbound struct {
	all   sync.WaitGroup
	ended chan struct{} // there is room for half of them again, or nothing but slow ones is being sent

	mu      sync.Mutex
	sending map[int64]bool // by the message's number: whether it is slow
	slow    int
}

func newOutbound() *outbound {
	return &outbound{ended: make(chan struct{}, 1), sending: map[int64]bool{}}
}

// look returns how many more may be sent, and which are being sent.
func (o *outbound) look() (room int, sending map[int64]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sending = make(map[int64]bool, len(o.sending))
	for n := range o.sending {
		sending[n] = true
	}
	return o.emptyCheckpoint(), sending
}

func (o *outbound) emptyCheckpoint() int {
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
	if len(o.sending) > o.slow && o.emptyCheckpoint() < sendAtOnce/2 {
		return
	}
	select {
	case o.ended <- struct{}{}:
	default:
	}
}
