package swf

import (
	"sync"
	"time"

	"github.com/ebbflow/ebb/server/aws"
)

// QuotaRequests is how many requests that name a domain a server serves in a second. By default there is no limit: Ebb
// does not throttle requests as AWS does.
const QuotaRequests aws.Quota = "swf-requests-per-second"

const throttling = "com.amazon.coral.service#ThrottlingException"

// maxBuckets is how many buckets a throttle keeps before it drops those that are full.
const maxBuckets = 1000

// A throttle has a bucket of tokens for each domain. A request takes one. A bucket holds at most the tokens of
// one second.
type throttle struct {
	mu      sync.Mutex
	buckets map[string]*bucket
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
	if t.buckets == nil {
		t.buckets = map[string]*bucket{}
	}
	b := t.buckets[domain]
	if b == nil {
		if len(t.buckets) >= maxBuckets {
			t.sweep(rate, now)
		}
		b = &bucket{tokens: max(rate, 1), at: now}
		t.buckets[domain] = b
	}
	b.fill(rate, now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// sweep drops the buckets that are full, which are as if they were new.
func (t *throttle) sweep(rate float64, now time.Time) {
	for domain, b := range t.buckets {
		if b.fill(rate, now); b.tokens >= max(rate, 1) {
			delete(t.buckets, domain)
		}
	}
}

// throttled returns an error if a domain has used up its requests.
func (s *Server) throttled(domain string) error {
	rate, limited := s.quotas.Value(QuotaRequests)
	if !limited || domain == "" || rate > 0 && s.throttle.take(domain, float64(rate), s.config.Now()) {
		return nil
	}
	return aws.Errorf(throttling, "Rate exceeded")
}
