// Command function is a Lambda function in Go, as its authors write it for AWS.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// An order is what the function gets.
type order struct {
	Item string `json:"item"`
	How  string `json:"how"`
}

// A receipt is what it returns.
type receipt struct {
	Item     string `json:"item"`
	Table    string `json:"table"`
	Function string `json:"function"`
	ARN      string `json:"arn"`
	InTime   bool   `json:"inTime"`
}

// A stockError is an error with a type.
type stockError struct{ item string }

func (e *stockError) Error() string { return "no " + e.item }

func handle(ctx context.Context, in order) (*receipt, error) {
	fmt.Fprintln(os.Stdout, "selling", in.Item)
	switch in.How {
	case "fails":
		return nil, &stockError{in.Item}
	case "says":
		return nil, errors.New("said")
	case "panics":
		panic("panicked")
	case "exits":
		os.Exit(4)
	case "sleeps":
		time.Sleep(time.Minute)
	}
	lc, ok := lambdacontext.FromContext(ctx)
	if !ok {
		return nil, errors.New("there is no context")
	}
	deadline, _ := ctx.Deadline()
	return &receipt{
		Item: in.Item, Table: os.Getenv("TABLE"), Function: lambdacontext.FunctionName, ARN: lc.InvokedFunctionArn,
		InTime: time.Until(deadline) > 0,
	}, nil
}

func main() { lambda.Start(handle) }
