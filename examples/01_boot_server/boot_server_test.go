// Package bootserver shows a flow that either finishes or is undone.
//
// You learn to write a task that can be reverted, to arrange tasks in a flow, and to run the flow. You see what
// happens if the run fails, if an outcome is not known, if the process stops, and if the flow has wiring mistakes.
//
// The scenario: a server needs a volume. If the server does not boot, the
// customer should not pay for the volume.
//
//	create-volume  ──►  boot
//	   size_gb          volume_id
//	   → volume_id      → server_id
package bootserver_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// What a task requires and provides are the fields of two structs. Their json
// tags are the names under which values travel from task to task.

type volumeSpec struct {
	SizeGB int `json:"size_gb"`
}

type volume struct {
	ID string `json:"volume_id"`
}

type server struct {
	ID string `json:"server_id"`
}

// Keys are the same names with a type, for values that go in and come out.
var (
	sizeGB   = atom.NewKey[int]("size_gb")
	serverID = atom.NewKey[string]("server_id")
)

type createVolume struct{ cloud *Cloud }

func (t createVolume) Execute(ctx context.Context, in volumeSpec) (volume, error) {
	id, err := t.cloud.NewVolume(ctx, in.SizeGB)
	return volume{ID: id}, err
}

// Revert runs when a later atom fails, or when Execute itself did.
func (t createVolume) Revert(ctx context.Context, _ volumeSpec, did atom.Outcome[volume]) error {
	if vol, ok := did.Done(); ok {
		return t.cloud.DeleteVolume(ctx, vol.ID)
	}
	// Failed, or Unknown (a crash, a timeout): the volume may exist.
	return t.cloud.DeleteVolumeByKey(ctx, atom.IdempotencyKey(ctx))
}

type bootServer struct{ cloud *Cloud }

func (t bootServer) Execute(ctx context.Context, in volume) (server, error) {
	id, err := t.cloud.Boot(ctx, in.ID)
	return server{ID: id}, err
}

// bootFlow is the flow. The types of input and output are inferred from Execute.
func bootFlow(cloud *Cloud) flow.Node {
	return flow.Linear("boot-server",
		atom.Task("create-volume", createVolume{cloud}, atom.Timeout(cloud.Patience)),
		atom.Task("boot", bootServer{cloud}, atom.Attempts(3, atom.Exponential(time.Second, time.Minute), "Cloud.Busy")),
	)
}

func Example() {
	if err := boot(context.Background(), &Cloud{}, memstore.New()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// created vol-1 of 20 GB
	// booted from vol-1
	// the server is srv-1
}

// boot is how a program uses the flow.
func boot(ctx context.Context, cloud *Cloud, store storage.Store) error {
	eng, err := engine.New(bootFlow(cloud), store, engine.WithInputs(sizeGB))
	if err != nil {
		return err // every wiring mistake shows up here, before anything runs
	}
	res, err := eng.Run(ctx, "boot-4711", engine.With(sizeGB, 20)) // starts this run, or resumes it
	if reverted, ok := errors.AsType[*engine.RevertedError](err); ok {
		return fmt.Errorf("undone because %w", reverted.Failures[0])
	}
	if err != nil {
		return err
	}
	id, err := engine.Get(res, serverID)
	if err != nil {
		return err
	}
	fmt.Println("the server is", id)
	return nil
}

// When boot fails, what was done before it is undone, in the opposite order.
// boot has no Revert: there is nothing of it to undo.
func Example_undone() {
	cloud := &Cloud{Full: true}
	fmt.Println(boot(context.Background(), cloud, memstore.New()))
	// Output:
	// created vol-1 of 20 GB
	// deleted vol-1
	// undone because boot: Error: no valid host
}

// If the answer of the cloud is lost, the program does not know whether there is
// a volume. The outcome is Unknown, and Revert asks by the key that Execute used.
func Example_unknown() {
	cloud := &Cloud{Mute: true, Patience: 10 * time.Millisecond}
	err := boot(context.Background(), cloud, memstore.New())
	reason, _ := errors.AsType[*atom.Failure](err)
	fmt.Println("undone because of a", reason.Code)
	// Output:
	// created vol-1 of 20 GB
	// deleted vol-1, found by boot-4711/create-volume/0
	// undone because of a Timeout
}

// When the process stops, nothing is undone: the run stays where it is. A process that runs it again, under the same id
// and on the same store, resumes it. Recorded work is not repeated.
func Example_goesOn() {
	store := memstore.New() // a database, if it is to outlive the process
	ctx, stop := context.WithCancel(context.Background())
	cloud := &Cloud{OnBoot: stop}
	fmt.Println("stopped:", errors.Is(boot(ctx, cloud, store), engine.ErrStopped))

	cloud.OnBoot = nil
	for range 2 { // the second time it has ended: the answer is read from the store
		if err := boot(context.Background(), cloud, store); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// created vol-1 of 20 GB
	// stopped: true
	// booted from vol-1
	// the server is srv-1
	// the server is srv-1
}

// A service starts runs and serves them: it drives each run that it, or another process, has started, and those of a
// process that died.
func Example_serve() {
	ctx, stop := context.WithCancel(context.Background())
	store := memstore.New()
	eng, err := engine.New(bootFlow(&Cloud{}), store, engine.WithInputs(sizeGB))
	if err != nil {
		fmt.Println(err)
	}
	served := make(chan error, 1)
	go func() { served <- eng.Serve(ctx) }()
	err = eng.Start(ctx, "boot-4712", engine.With(sizeGB, 40))
	if err != nil {
		fmt.Println(err)
	}
	run, err := engine.Await(ctx, store, "boot-4712")
	fmt.Println(run.State, err)
	stop()
	fmt.Println(<-served)
	// Output:
	// created vol-1 of 40 GB
	// booted from vol-1
	// SUCCESS <nil>
	// <nil>
}

// All mistakes in a flow are reported at once, before anything runs.
//
// Guarantee (G8): Mistakes in a Go flow are reported together, with names and types.
func Example_mistakes() {
	type attachment struct {
		Volume string `json:"volumeid"` // misspelled
		Size   string `json:"size_gb"`  // a number, says its key
	}
	attach := func(context.Context, attachment) (struct{}, error) { return struct{}{}, nil }
	cloud := &Cloud{}
	_, err := engine.New(flow.Linear("boot-server",
		atom.Task("boot", bootServer{cloud}), // before there is a volume
		atom.Task("create-volume", createVolume{cloud}),
		atom.Func("attach", attach),
	), memstore.New(), engine.With(sizeGB, 20))
	problems, _ := errors.AsType[flow.Problems](err)
	for _, p := range problems {
		fmt.Println(p)
	}
	// Output:
	// flow: atom "boot" requires "volume_id", which atom "create-volume" provides, but not before it; link or reorder them
	// flow: atom "attach" requires "volumeid", which nothing before it provides (did you mean "volume_id"?)
	// flow: atom "attach" requires "size_gb" as string, but the input has it as int
}
