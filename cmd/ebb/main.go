package main

import (
	"context"
	"os"
	_ "time/tzdata" // schedules name time zones, also where the system has none
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
