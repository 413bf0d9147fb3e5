// Hello is the smallest program that runs a flow. Its size is what the library weighs in a user's program.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

func main() {
	greet := atom.Func("greet", func(context.Context, struct{}) (struct{}, error) {
		fmt.Println("hello")
		return struct{}{}, nil
	})
	eng, err := engine.New(flow.Linear("hello", greet), memstore.New())
	if err == nil {
		_, err = eng.Run(context.Background(), "hello-1")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
