package bootserver_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Cloud stands for the outside world, which is not part of any transaction: a request has its effect, whether or not
// its answer arrives.
type Cloud struct {
	Full     bool          // no host has capacity for a server
	Mute     bool          // answers about new volumes get lost
	Patience time.Duration // how long to wait for one; 0 is for ever
	OnBoot   func()        // called while a server boots

	volumes map[string]string // by idempotency key
}

// NewVolume makes a volume, or returns the one that was made under the same key.
func (c *Cloud) NewVolume(ctx context.Context, sizeGB int) (string, error) {
	key := atom.IdempotencyKey(ctx)
	if id, ok := c.volumes[key]; ok {
		return id, nil
	}
	id := fmt.Sprintf("vol-%d", len(c.volumes)+1)
	c.volumes = map[string]string{key: id}
	fmt.Printf("created %s of %d GB\n", id, sizeGB)
	if c.Mute {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return id, nil
}

// DeleteVolume deletes a volume. A missing volume is not an error, because a revert may be called twice.
func (c *Cloud) DeleteVolume(_ context.Context, id string) error {
	fmt.Println("deleted", id)
	return nil
}

// DeleteVolumeByKey deletes the volume that was made under the key, if there is
// one.
func (c *Cloud) DeleteVolumeByKey(_ context.Context, key string) error {
	if id, ok := c.volumes[key]; ok {
		fmt.Printf("deleted %s, found by %s\n", id, key)
	}
	return nil
}

// Boot boots a server from a volume.
func (c *Cloud) Boot(ctx context.Context, volume string) (string, error) {
	if c.OnBoot != nil {
		c.OnBoot()
		<-ctx.Done()
		return "", ctx.Err()
	}
	if c.Full {
		return "", errors.New("no valid host")
	}
	fmt.Println("booted from", volume)
	return "srv-1", nil
}
