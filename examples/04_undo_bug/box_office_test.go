package undobug_test

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
)

// BoxOffice stands for the outside world: seats, cards and tickets, each at a
// company of its own, which recognizes a repeated request by its key.
type BoxOffice struct {
	Held    map[string]string // seat: the person who holds it
	Charged map[string]int    // card: cents
	Tickets map[string]string // seat: the person it was issued to

	charges map[string]int // cents by idempotency key
}

// NewBoxOffice returns a box office before the first customer.
func NewBoxOffice() *BoxOffice {
	return &BoxOffice{
		Held: map[string]string{}, Charged: map[string]int{"ann": 0}, Tickets: map[string]string{},
		charges: map[string]int{},
	}
}

// Hold keeps a seat for a person. If the person holds the seat already, Hold returns nil.
func (b *BoxOffice) Hold(seat, who string) error {
	if by, taken := b.Held[seat]; taken && by != who {
		return fmt.Errorf("%s is held by %s", seat, by)
	}
	b.Held[seat] = who
	return nil
}

// Release gives a seat back; it may be free already.
func (b *BoxOffice) Release(seat string) { delete(b.Held, seat) }

// Charge charges a card, once for each idempotency key, and returns the key as
// the receipt.
func (b *BoxOffice) Charge(ctx context.Context, card string, cents int) (receipt string) {
	receipt = atom.IdempotencyKey(ctx)
	if _, done := b.charges[receipt]; !done {
		b.charges[receipt] = cents
		b.Charged[card] += cents
	}
	return receipt
}

// Refund takes back what was charged under a receipt, if anything was.
func (b *BoxOffice) Refund(card, receipt string) {
	b.Charged[card] -= b.charges[receipt]
	delete(b.charges, receipt)
}

// Issue issues a ticket.
func (b *BoxOffice) Issue(seat, who string) { b.Tickets[seat] = who }

// Void makes a ticket worthless; it may never have been issued.
func (b *BoxOffice) Void(seat string) { delete(b.Tickets, seat) }
