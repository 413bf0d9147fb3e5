package sfn_test

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

const resource = "arn:aws:states:us-east-1:000000000000:"

// commented returns a definition of one state with a comment.
func commented(comment string) string {
	return fmt.Sprintf(`{"Comment":%q,"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`, comment)
}

// A made is what operations on machines answer.
type made struct {
	StateMachineArn          string
	StateMachineVersionArn   string
	StateMachineAliasArn     string
	RevisionID               string `json:"revisionId"`
	RoleArn                  string
	CreationDate, UpdateDate float64
	Status                   string
	Definition               string
	Description              string
	StateMachines            []struct{ Name string }
	StateMachineVersions     []struct{ StateMachineVersionArn string }
	StateMachineAliases      []struct{ StateMachineAliasArn string }
	RoutingConfiguration     []struct{ Weight int }
	Tags                     []struct{ Key, Value string }
	NextToken                string
}

func (w *world) make(t *testing.T, op string, params object) made {
	t.Helper()
	var out made
	w.must(t, op, params, &out)
	return out
}

// machine creates a machine, and returns its ARN.
func (w *world) machine(t *testing.T, name string) string {
	t.Helper()
	return w.make(t, "CreateStateMachine", object{"name": name, "definition": commented(""), "roleArn": role}).StateMachineArn
}

// TestCreateIsIdempotent repeats the call that created a machine, and calls that differ in one parameter.
//
// Guarantee (AWS's protocol): A repeated call that creates a machine, alias or activity has the same answer. A version
// number is never used twice.
// Also: `TestVersions`, `TestAliases`, `TestConcurrentUpdates`.
func TestCreateIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{LogGroups: map[string]io.Writer{"g": nil}})
	first := object{"name": "m", "definition": commented(""), "roleArn": role, "publish": true, "versionDescription": "d"}
	created := w.make(t, "CreateStateMachine", first)
	with := func(name string, value any) object {
		other := maps.Clone(first)
		other[name] = value
		return other
	}
	for _, same := range []object{
		first, with("type", "STANDARD"), with("loggingConfiguration", object{"level": "OFF"}), with("roleArn", role+"2"),
		with("tracingConfiguration", object{}), with("tags", []any{object{"key": "a", "value": "b"}}),
	} {
		if diff := cmp.Diff(created, w.make(t, "CreateStateMachine", same)); diff != "" {
			t.Errorf("%v: %s", same, diff)
		}
	}
	if got := w.make(t, "DescribeStateMachine", object{"stateMachineArn": created.StateMachineArn}); got.RoleArn != role {
		t.Errorf("the repeated calls change the machine: %+v", got)
	}
	for _, other := range []object{
		with("definition", commented("other")), with("type", "EXPRESS"), with("publish", false),
		with("versionDescription", "e"), with("tracingConfiguration", object{"enabled": true}),
	} {
		want := "StateMachineAlreadyExists"
		if other["publish"] == false {
			delete(other, "versionDescription")
		}
		w.refuses(t, "CreateStateMachine", other, want)
	}
}

// TestDescribeMachine describes a machine as it was given, and without its definition.
func TestDescribeMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	arn := w.make(t, "CreateStateMachine", object{
		"name": "m", "definition": commented(""), "roleArn": role, "loggingConfiguration": object{"level": "OFF", "destinations": []any{}},
	}).StateMachineArn
	for _, c := range []struct{ included, want string }{
		{"ALL_DATA", `"destinations":[]`}, {"METADATA_ONLY", `"definition":"{}"`},
	} {
		got := string(w.call(t, "DescribeStateMachine", object{"stateMachineArn": arn, "includedData": c.included}).Body)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: no %s in %s", c.included, c.want, got)
		}
	}
}

// TestVersions publishes, deletes and publishes again: no number is used twice, and a revision has one version for each
// description of an update.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	arn := w.machine(t, "m")
	publish := object{"stateMachineArn": arn}
	if got := w.make(t, "PublishStateMachineVersion", publish); got.StateMachineVersionArn != arn+":1" {
		t.Errorf("the first version is %s", got.StateMachineVersionArn)
	}
	if got := w.make(t, "PublishStateMachineVersion", publish); got.StateMachineVersionArn != arn+":1" {
		t.Errorf("the revision is published again, as %s", got.StateMachineVersionArn)
	}
	w.must(t, "DeleteStateMachineVersion", object{"stateMachineVersionArn": arn + ":1"}, nil)
	if got := w.make(t, "PublishStateMachineVersion", publish); got.StateMachineVersionArn != arn+":2" {
		t.Errorf("the version after a deleted one is %s", got.StateMachineVersionArn)
	}
	w.refuses(t, "PublishStateMachineVersion", object{"stateMachineArn": arn, "revisionId": "other"}, "ConflictException")
	updated := w.make(t, "UpdateStateMachine", object{"stateMachineArn": arn, "definition": commented("two"), "publish": true})
	if updated.StateMachineVersionArn != arn+":3" || updated.RevisionID == "" {
		t.Errorf("an update gives %+v", updated)
	}
	w.refuses(t, "PublishStateMachineVersion", object{"stateMachineArn": arn, "revisionId": "INITIAL"}, "ConflictException")
	w.must(t, "PublishStateMachineVersion", object{"stateMachineArn": arn, "revisionId": updated.RevisionID}, nil)
	if got := w.make(t, "DescribeStateMachine", object{"stateMachineArn": arn + ":2"}); got.Definition != commented("") {
		t.Errorf("the version has the definition %s", got.Definition)
	}
	again := object{"stateMachineArn": arn, "definition": commented("two"), "publish": true}
	if got := w.make(t, "UpdateStateMachine", again); got.StateMachineVersionArn != arn+":3" {
		t.Errorf("the same revision is published as %+v", got)
	}
	again["versionDescription"] = "described"
	for range 2 {
		got := w.make(t, "UpdateStateMachine", again)
		if v := w.make(t, "DescribeStateMachine", object{"stateMachineArn": got.StateMachineVersionArn}); got.StateMachineVersionArn != arn+":4" ||
			v.Description != "described" {
			t.Errorf("another description is published as %+v, %+v", got, v)
		}
	}
	var listed []string
	for _, v := range w.make(t, "ListStateMachineVersions", object{"stateMachineArn": arn}).StateMachineVersions {
		listed = append(listed, strings.TrimPrefix(v.StateMachineVersionArn, arn))
	}
	if want := []string{":4", ":3", ":2"}; !slices.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
	w.refuses(t, "DescribeStateMachine", object{"stateMachineArn": arn + ":1"}, "StateMachineDoesNotExist")
}

// TestAliases creates, changes and deletes aliases. A version that an alias uses stays.
func TestAliases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	arn := w.machine(t, "m")
	w.must(t, "PublishStateMachineVersion", object{"stateMachineArn": arn}, nil)
	w.must(t, "UpdateStateMachine", object{"stateMachineArn": arn, "definition": commented("two"), "publish": true}, nil)
	routes := func(weights ...int) []object {
		var out []object
		for i, weight := range weights {
			out = append(out, object{"stateMachineVersionArn": fmt.Sprintf("%s:%d", arn, i+1), "weight": weight})
		}
		return out
	}
	live := object{"name": "live", "routingConfiguration": routes(100)}
	created := w.make(t, "CreateStateMachineAlias", live)
	if created.StateMachineAliasArn != arn+":live" {
		t.Errorf("the alias is %s", created.StateMachineAliasArn)
	}
	if again := w.make(t, "CreateStateMachineAlias", live); !cmp.Equal(again, created) {
		t.Errorf("the same call gives %+v, then %+v", created, again)
	}
	alias := object{"stateMachineAliasArn": arn + ":live"}
	if d := w.make(t, "DescribeStateMachineAlias", alias); d.UpdateDate != d.CreationDate || d.CreationDate == 0 {
		t.Errorf("created %v, updated %v", d.CreationDate, d.UpdateDate)
	}
	for _, c := range []struct {
		op, code string
		params   object
	}{
		{"CreateStateMachineAlias", "ConflictException", object{"name": "live", "routingConfiguration": routes(90, 10)}},
		{"CreateStateMachineAlias", "ValidationException", object{"name": "x", "routingConfiguration": routes(90, 11)}},
		{"CreateStateMachineAlias", "ValidationException", object{"name": "123", "routingConfiguration": routes(100)}},
		{"CreateStateMachineAlias", "ValidationException", object{"name": "x", "routingConfiguration": routes(50, 40, 10)}},
		{"CreateStateMachineAlias", "ResourceNotFound", object{"name": "x", "routingConfiguration": []object{
			{"stateMachineVersionArn": arn + ":9", "weight": 100},
		}}},
		{"DeleteStateMachineVersion", "ConflictException", object{"stateMachineVersionArn": arn + ":1"}},
		{"UpdateStateMachineAlias", "ValidationException", alias},
		{"DescribeStateMachineAlias", "ResourceNotFound", object{"stateMachineAliasArn": arn + ":other"}},
		{"DescribeStateMachineAlias", "InvalidArn", object{"stateMachineAliasArn": arn}},
	} {
		w.refuses(t, c.op, c.params, c.code)
	}
	w.must(t, "UpdateStateMachineAlias", object{
		"stateMachineAliasArn": arn + ":live", "description": "d", "routingConfiguration": routes(20, 80),
	}, nil)
	if got := w.make(t, "DescribeStateMachineAlias", alias); len(got.RoutingConfiguration) != 2 || got.Description != "d" {
		t.Errorf("described as %+v", got)
	}
	w.must(t, "CreateStateMachineAlias", object{"name": "next", "routingConfiguration": routes(100)}, nil)
	var listed []string
	token := any(nil)
	for range 3 {
		page := w.make(t, "ListStateMachineAliases", object{"stateMachineArn": arn, "maxResults": 1, "nextToken": token})
		for _, a := range page.StateMachineAliases {
			listed = append(listed, strings.TrimPrefix(a.StateMachineAliasArn, arn))
		}
		if page.NextToken == "" {
			break
		}
		token = page.NextToken
	}
	if want := []string{":live", ":next"}; !slices.Equal(listed, want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
	of2 := w.make(t, "ListStateMachineAliases", object{"stateMachineArn": arn + ":2"}).StateMachineAliases
	if len(of2) != 1 || of2[0].StateMachineAliasArn != arn+":live" {
		t.Errorf("version 2 has the aliases %v", of2)
	}
	w.must(t, "DeleteStateMachineAlias", object{"stateMachineAliasArn": arn + ":next"}, nil)
	w.must(t, "DeleteStateMachineAlias", alias, nil)
	w.must(t, "DeleteStateMachineVersion", object{"stateMachineVersionArn": arn + ":1"}, nil)
}

// TestDeleteMachine deletes a machine with its versions and aliases. A new machine with its name starts without them.
func TestDeleteMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	arn := w.machine(t, "m")
	w.must(t, "PublishStateMachineVersion", object{"stateMachineArn": arn}, nil)
	w.must(t, "CreateStateMachineAlias", object{
		"name": "live", "routingConfiguration": []object{{"stateMachineVersionArn": arn + ":1", "weight": 100}},
	}, nil)
	w.must(t, "DeleteStateMachine", object{"stateMachineArn": arn}, nil)
	w.must(t, "DeleteStateMachine", object{"stateMachineArn": arn}, nil)
	for _, gone := range []string{arn, arn + ":1"} {
		w.refuses(t, "DescribeStateMachine", object{"stateMachineArn": gone}, "StateMachineDoesNotExist")
	}
	w.refuses(t, "DescribeStateMachineAlias", object{"stateMachineAliasArn": arn + ":live"}, "ResourceNotFound")
	w.machine(t, "m")
	if got := w.make(t, "ListStateMachineVersions", object{"stateMachineArn": arn}); len(got.StateMachineVersions) > 0 {
		t.Errorf("the new machine has versions: %v", got.StateMachineVersions)
	}
}

// TestPages lists machines in pages. A token belongs to the arguments of its list, except the size of the page, and also
// to other servers of the database.
func TestPages(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, sfn.Config{Store: store})
	other := newWorld(t, sfn.Config{Store: open{store}})
	for _, name := range []string{"b", "a", "ü", "c"} {
		w.machine(t, name)
	}
	var names []string
	params := object{"maxResults": 3}
	page := w.make(t, "ListStateMachines", params)
	for _, m := range page.StateMachines {
		names = append(names, m.Name)
	}
	if next := w.make(t, "ListStateMachines", object{"maxResults": 2, "nextToken": page.NextToken}); len(next.StateMachines) != 1 {
		t.Errorf("a page of another size has %v", next.StateMachines)
	}
	w.must(t, "DeleteStateMachine", object{"stateMachineArn": resource + "stateMachine:c"}, nil)
	params["nextToken"] = page.NextToken
	for _, m := range other.make(t, "ListStateMachines", params).StateMachines {
		names = append(names, m.Name)
	}
	if want := []string{"a", "b", "c", "ü"}; !slices.Equal(names, want) {
		t.Errorf("listed %q, want %q", names, want)
	}
	w.refuses(t, "ListActivities", params, "InvalidToken")
	w.refuses(t, "ListStateMachines", object{"maxResults": 3, "nextToken": page.NextToken[1:]}, "InvalidToken")
	w.refuses(t, "ListStateMachines", object{"maxResults": 1001}, "ValidationException")
}

// An open store is closed by another test helper.
type open struct{ *sqlstore.Store }

func (open) Close() error { return nil }

// TestConcurrentUpdates updates and publishes one machine from many clients: every version has a number of its own.
func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	arn := w.machine(t, "m")
	const clients = 8
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			w.must(t, "UpdateStateMachine", object{
				"stateMachineArn": arn, "definition": commented(fmt.Sprint(i)), "publish": true,
			}, nil)
		})
	}
	all.Wait()
	if got := w.make(t, "ListStateMachineVersions", object{"stateMachineArn": arn}); len(got.StateMachineVersions) != clients {
		t.Errorf("%d updates made %d versions", clients, len(got.StateMachineVersions))
	}
}

// TestDeleteWhileRunning deletes a machine with an execution that waits, and one that has a task. The machine is DELETING
// until both have come to their next transition.
//
// Guarantee (AWS's protocol): After DeleteStateMachine is answered, no execution of the machine starts. Its executions
// end at their next transition; then it is gone.
// Also: `TestDeleteMachine`.
func TestDeleteWhileRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sfn.Config{})
		w.must(t, "CreateActivity", object{"name": "a"}, nil)
		const definition = `{"StartAt":"P","States":{"P":{"Type":"Parallel","Next":"After","Branches":[
			{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"Next":"W2"},"W2":{"Type":"Wait","Seconds":3600,"End":true}}},
			{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"arn:aws:states:us-east-1:000000000000:activity:a","End":true}}}
			]},"After":{"Type":"Pass","End":true}}}`
		arn := w.make(t, "CreateStateMachine", object{"name": "m", "definition": definition, "roleArn": role}).StateMachineArn
		machine := object{"stateMachineArn": arn}
		var execution struct{ ExecutionArn string }
		w.must(t, "StartExecution", machine, &execution)
		synctest.Wait()
		w.must(t, "DeleteStateMachine", machine, nil)
		w.must(t, "DeleteStateMachine", machine, nil)
		time.Sleep(59 * time.Second)
		if got := w.make(t, "DescribeStateMachine", machine); got.Status != "DELETING" {
			t.Errorf("the machine is %s", got.Status)
		}
		for op, params := range map[string]object{
			"StartExecution": machine, "UpdateStateMachine": {"stateMachineArn": arn, "definition": commented("")},
			"CreateStateMachine": {"name": "m", "definition": definition, "roleArn": role}, "PublishStateMachineVersion": machine,
		} {
			w.refuses(t, op, params, "StateMachineDeleting")
		}
		var described struct{ Status string }
		w.must(t, "DescribeExecution", object{"executionArn": execution.ExecutionArn}, &described)
		if described.Status != "RUNNING" {
			t.Errorf("before the transition the execution is %s", described.Status)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		w.must(t, "DescribeExecution", object{"executionArn": execution.ExecutionArn}, &described)
		if described.Status != "ABORTED" {
			t.Errorf("after the transition the execution is %s", described.Status)
		}
		w.refuses(t, "DescribeStateMachine", machine, "StateMachineDoesNotExist")
	})
}
