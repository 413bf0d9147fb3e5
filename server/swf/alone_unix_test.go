//go:build unix

package swf_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// echo is a lambda function that returns its input.
const echo = "echo"

// serveAlone serves a database until the process is killed. It prints its address.
func serveAlone(dsn string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		fail(err)
	}
	api, err := swf.New(swf.Config{Store: store})
	if err != nil {
		fail(err)
	}
	registry := &tasks.Registry{}
	registry.Map(echo, "exec:cat")
	c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, api.Flow()), engine.WithDrain(0),
		engine.WithEngine(engine.WithTasks(registry)))
	if err != nil {
		fail(err)
	}
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv(addressVariable), "127.0.0.1:0"))
	if err != nil {
		fail(err)
	}
	go func() { fail(c.Run(ctx)) }()
	fmt.Fprintln(os.Stdout, "http://"+listener.Addr().String())
	fail(http.Serve(listener, aws.New(aws.Options{Region: api.Region()}, api.Service(c))))
}

// addressVariable names the address at which the child process listens; without it, the system chooses one.
const addressVariable = "EBB_TEST_SWF_ADDRESS"
