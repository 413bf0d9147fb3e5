package atom_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
)

type note struct {
	Author string  `json:"author"`
	Text   string  `json:"text"`
	Thread *string `json:"thread"` // may be missing
}

type posted struct {
	ID string `json:"note_id"`
}

// What a task requires and provides are the fields of its input and output.
func ExampleFunc() {
	post := atom.Func("post", func(_ context.Context, n note) (posted, error) {
		return posted{ID: n.Author + "-1"}, nil
	})
	for _, arg := range post.Args() {
		fmt.Println("requires", arg.Symbol, arg.Type, arg.Optional)
	}
	for _, p := range post.Provides() {
		fmt.Println("provides", p.Symbol, p.Type)
	}
	// Output:
	// requires author string false
	// requires text string false
	// requires thread *string true
	// provides note_id string
}

// A code tells failures apart, also after the process that failed is gone.
func ExampleErrorf() {
	err := fmt.Errorf("charge the card: %w", atom.Errorf("CardNetwork.Timeout", "no answer"))
	stored := atom.NewFailure("charge", 1, err)
	fmt.Println(stored.Code)
	fmt.Println(stored)

	fmt.Println(atom.NewFailure("charge", 1, errors.New("no answer")))
	// Output:
	// CardNetwork.Timeout
	// charge: CardNetwork.Timeout: charge the card: no answer
	// charge: Error: no answer
}

func ExampleExponential() {
	backoff := atom.Exponential(time.Second, 5*time.Second)
	for tries := range 4 {
		fmt.Println(backoff.After(tries + 1))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 5s
}

// Reduce combines several symbols into one; Map does something with each.
func ExampleReduce() {
	add := func(_ context.Context, a, b int) (int, error) { return a + b, nil }
	total := atom.Reduce("total", add, atom.Requires("net", "tax", "shipping"), atom.As("total"))

	in := atom.NewValues(total.Args(), []atom.Value{atom.MustEncode(100), atom.MustEncode(19), atom.MustEncode(5)})
	result, err := total.Body().Execute(context.Background(), in)
	fmt.Println(total.Provides()[0].Symbol, result, err)
	// Output: total 124 <nil>
}

// A task that takes a list one element at a time is tested with a list that is at hand.
func ExampleListOf() {
	picks := atom.ListOf("apples", "pears")
	for pick, err := range picks.All(context.Background()) {
		fmt.Println(pick, err)
	}
	// Output:
	// apples <nil>
	// pears <nil>
}
