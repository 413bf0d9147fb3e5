package swf

import (
	"sync"
	"time"

	"github.com/ebbflow/ebb/server/aws"
)

// QuotaRequests is how many requests about a domain a server serves in a second. By default there is no limit: Ebb does
// not throttle requests as AWS does.
const QuotaRequests aws.Quota = "swf-requests-per-second"

const throttling = "com.amazon.coral.service#ThrottlingException"

// fillTime is how long an empty bucket takes to be full again.
const fillTime = time.Second

// A throttle has a bucket of tokens for each domain. A request takes one. A bucket holds at most the tokens of
// fillTime. So one that was not asked for in that time is full, and need not be kept: it is as if it were new.
type throttle struct {
	mu          sync.Mutex
	young, aged map[string]*bucket // those asked for since the time, and those asked for before it
	since       time.Time
}

type bucket struct {
	tokens float64
	at     time.Time // when it had so many
}

// fill adds the tokens of the time that has passed.
func (b *bucket) fill(rate float64, now time.Time) {
	b.tokens = min(b.tokens+max(now.Sub(b.at).Seconds(), 0)*rate, max(rate, 1))
	b.at = now
}

// take takes a token of a domain. If there is none, it returns false.
func (t *throttle) take(domain string, rate float64, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.young == nil || now.Sub(t.since) >= fillTime {
		t.young, t.aged, t.since = map[string]*bucket{}, t.young, now
	}
	b := t.young[domain]
	if b == nil {
		if b = t.aged[domain]; b == nil {
			b = &bucket{tokens: max(rate, 1), at: now}
		}
		t.young[domain] = b
	}
	b.fill(rate, now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// throttled returns an error if a domain has used up its requests.
func (s *Server) throttled(domain string) error {
	rate, limited := s.quotas.Value(QuotaRequests)
	if !limited || domain == "" || rate > 0 && s.throttle.take(domain, float64(rate), s.config.Now()) {
		return nil
	}
	return aws.Errorf(throttling, "Rate exceeded")
}
