package checkout_test

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
)

// Bank stands for the outside world.
type Bank struct {
	Risk float64 // of fraud, as the bank sees it
	Lost int     // how many answers get lost
	Poor bool    // the card has no money

	receipts map[string]string // by idempotency key
}

// Charge charges the card, once for each idempotency key.
func (b *Bank) Charge(ctx context.Context, _ string) (receipt string, risk float64, err error) {
	if b.Poor {
		return "", 0, atom.Errorf("Card.Declined", "there is no money on it")
	}
	key := atom.IdempotencyKey(ctx)
	if receipt, ok := b.receipts[key]; ok {
		return receipt, b.Risk, nil
	}
	if b.receipts == nil {
		b.receipts = map[string]string{}
	}
	receipt = fmt.Sprintf("receipt-%d", len(b.receipts)+1)
	b.receipts[key] = receipt
	fmt.Println("charged,", receipt)
	if b.Lost > 0 {
		b.Lost--
		return "", 0, atom.Errorf("CardNetwork.Timeout", "no answer")
	}
	return receipt, b.Risk, nil
}

// Refund takes a charge back.
func (b *Bank) Refund(_ context.Context, receipt string) error {
	fmt.Println("refunded", receipt)
	return nil
}

// RefundByKey takes back the charge that was made under the key, if there is one.
func (b *Bank) RefundByKey(_ context.Context, key string) error {
	if receipt, ok := b.receipts[key]; ok {
		fmt.Printf("refunded %s, found by %s\n", receipt, key)
	}
	return nil
}
