// Package fromtaskflow has the Go side of the page "Move a flow from TaskFlow".
//
// You learn what each part of a program with OpenStack TaskFlow becomes: tasks, flows, retries, engines, the logbook,
// the job board and notifications.
//
// The scenario: a cloud creates a volume and boots a server from it, in the first zone that has capacity.
package fromtaskflow_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

type createVolume struct{ cloud *Cloud }

type volumeSpec struct {
	SizeGB int    `json:"size_gb"`
	Zone   string `json:"zone"`
}

type volume struct {
	ID string `json:"volume_id"`
}

func (t createVolume) Execute(_ context.Context, in volumeSpec) (volume, error) {
	id, err := t.cloud.CreateVolume(in.SizeGB, in.Zone)
	return volume{ID: id}, err
}

func (t createVolume) Revert(_ context.Context, _ volumeSpec, did atom.Outcome[volume]) error {
	if vol, ok := did.Done(); ok {
		return t.cloud.DeleteVolume(vol.ID)
	}
	return nil // this cloud creates all or nothing; otherwise, look for the volume by atom.IdempotencyKey(ctx)
}

type address struct {
	IP string `json:"ip"`
}

type image struct {
	Image string `json:"image"`
}

type serverSpec struct {
	Volume string `json:"volume_id"`
	IP     string `json:"ip"`
	Image  string `json:"image"`
}

type server struct {
	ID string `json:"server_id"`
}

func bootFlow(cloud *Cloud) flow.Node {
	return flow.Linear("boot",
		atom.Task("create-volume", createVolume{cloud}),
		flow.Unordered("prepare",
			atom.Func("allocate-ip", cloud.AllocateIP),
			atom.Func("fetch-image", cloud.FetchImage)),
		atom.Func("boot-server", cloud.Boot),
	).WithRetry(atom.ForEachOf("zones").As("zone"))
}

var (
	sizeGB   = atom.NewKey[int]("size_gb")
	zones    = atom.NewKey[[]string]("zones")
	serverID = atom.NewKey[string]("server_id")
)

// TestEngine boots in the second zone, because the first one is full.
func TestEngine(t *testing.T) {
	t.Parallel()
	ctx, cloud := t.Context(), &Cloud{Full: "z1"}
	store, err := sqlstore.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "work.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()

	var changed []string
	eng, err := engine.New(bootFlow(cloud), store, engine.WithInputs(sizeGB, zones),
		engine.WithParallelism(4),
		engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.AtomChanged && ev.To == "REVERTED" {
				changed = append(changed, ev.Path)
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(ctx, "boot-17", engine.Input(map[string]any{"size_gb": 20, "zones": []string{"z1", "z2"}}))
	if err != nil {
		t.Fatal(err)
	}
	id, err := engine.Get(res, serverID)
	if err != nil || id != "server of volume-2" || !slices.Contains(changed, "create-volume") {
		t.Errorf("server %q after %v, %v", id, changed, err)
	}
	if all := res.Values(); all["zone"].String() != `"z2"` || all["size_gb"].String() != "20" {
		t.Errorf("values %v", all)
	}

	for run, err := range storage.EachRun(ctx, store, storage.RunQuery{}) {
		fmt.Println(run.ID, run.Flow, run.State, err)
	}
}

// TestGraph resizes an image only if it is too small.
func TestGraph(t *testing.T) {
	t.Parallel()
	small := atom.NewKey[bool]("small")
	for want, size := range map[string]int{"resized": 1, "": 100} {
		did := ""
		check := atom.Func("check", func(_ context.Context, in volumeSpec) (bool, error) { return in.SizeGB < 10, nil },
			atom.As("small"))
		resize := atom.Func("resize", func(context.Context, struct{}) (struct{}, error) {
			did = "resized"
			return struct{}{}, nil
		})
		root := flow.Graph("image", check, resize)
		root.Link(check, resize, flow.When(small, func(is bool) bool { return is }))

		eng, err := engine.New(root, memstore.New(), engine.WithInputs(engine.AnyInput))
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]any{"size_gb": size, "zone": "z1"}
		if _, err := eng.Run(t.Context(), "r", engine.Input(in)); err != nil || did != want {
			t.Errorf("%d GB: %q, %v", size, did, err)
		}
	}
}

// TestRetries undoes and repeats a flow three times.
func TestRetries(t *testing.T) {
	t.Parallel()
	tries := 0
	flaky := atom.Func("call", func(context.Context, struct{}) (struct{}, error) {
		if tries++; tries < 3 {
			return struct{}{}, errors.New("not yet")
		}
		return struct{}{}, nil
	})
	root := flow.Linear("calls", flaky).WithRetry(atom.Times(3, atom.Constant(time.Millisecond)))
	eng, err := engine.New(root, memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

type fleet struct {
	Hosts []string `json:"hosts"`
}

// provision makes a flow from the arguments of a job, and makes it again when the run is resumed.
func provision(cloud *Cloud) conductor.Factory {
	return func(input atom.Value) (flow.Node, error) {
		var args fleet
		if err := input.Decode(&args); err != nil {
			return nil, err
		}
		root := flow.Unordered("provision")
		for _, host := range args.Hosts {
			root.Add(atom.Func("provision "+host, cloud.Provision))
		}
		return root, nil
	}
}

// TestBoard posts jobs, conducts them and waits for their ends.
func TestBoard(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	cloud := &Cloud{}
	store, err := sqlstore.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "work.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()

	board := jobs.New(store, jobs.Policy{})
	boot := jobs.Job{ID: "boot-17", Flow: "boot", Input: map[string]any{"size_gb": 20, "zones": []string{"z1"}}}
	_, isNew, err := board.PostNew(ctx, boot)
	if err != nil || !isNew {
		t.Fatal(isNew, err)
	}

	hosts := jobs.Job{ID: "hosts", Flow: "provision", Input: fleet{[]string{"a", "b"}}}
	if _, err := board.Post(ctx, hosts); err != nil {
		t.Fatal(err)
	}

	catalog := conductor.NewCatalog().Add(1, bootFlow(cloud)).Factory("provision", provision(cloud))
	c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- c.Run(ctx) }()
	for _, id := range []string{"boot-17", "hosts"} {
		job, err := board.Await(ctx, id)
		if err != nil || job.Failure != nil {
			t.Errorf("%s: %v, %v", id, job.Failure, err)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A Cloud has volumes and servers.
type Cloud struct {
	Full    string // a zone without capacity for servers
	volumes int
	zone    string
}

// CreateVolume creates a volume in a zone.
func (c *Cloud) CreateVolume(_ int, zone string) (string, error) {
	c.volumes++
	c.zone = zone
	return fmt.Sprint("volume-", c.volumes), nil
}

// DeleteVolume deletes it.
func (*Cloud) DeleteVolume(string) error { return nil }

// AllocateIP allocates an address.
func (*Cloud) AllocateIP(context.Context, struct{}) (address, error) {
	return address{"10.0.0.1"}, nil
}

// FetchImage fetches an image.
func (*Cloud) FetchImage(context.Context, struct{}) (image, error) { return image{"debian"}, nil }

// Boot boots a server.
func (c *Cloud) Boot(_ context.Context, in serverSpec) (server, error) {
	if c.zone == c.Full {
		return server{}, errors.New("the zone is full")
	}
	return server{"server of " + in.Volume}, nil
}

// Provision provisions a host.
func (*Cloud) Provision(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
