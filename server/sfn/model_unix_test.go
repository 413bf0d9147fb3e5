//go:build unix

package sfn_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// modelVariable sets for how long TestModel calls a server on each database, such as 10m.
const modelVariable = "EBB_MODEL_TIME"

// TestModel sends random calls of several clients, and compares the answers and what the server then reports with a
// small model. The server is killed at random moments. A client that gets no answer repeats its call.
//
// Guarantee (G2): While the server is killed, the AWS API answers several clients' random calls as a small model does.
// Also: ; for longer, `EBB_MODEL_TIME=10m`.
func TestModel(t *testing.T) {
	t.Parallel()
	length := 4 * time.Second
	if set := os.Getenv(modelVariable); set != "" {
		var err error
		if length, err = time.ParseDuration(set); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testModel(t, filepath.Join(t.TempDir(), "ebb.db"), length)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		testModel(t, dsn, length)
	})
}

func testModel(t *testing.T, dsn string, length time.Duration) {
	t.Helper()
	var url atomic.Value
	child := childtest.Start(t, servedVariable+"="+dsn)
	url.Store(child.Line())
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	ended, answered := ctx.Done(), make(chan struct{})
	clients := make([]*modeled, 4)
	var running sync.WaitGroup
	for i := range clients {
		m := &modeled{
			t: t, url: &url, name: fmt.Sprint("machine", i), tags: map[string]string{}, executions: map[string]string{},
			rand: rand.New(rand.NewPCG(rand.Uint64(), uint64(i))),
		}
		clients[i] = m
		running.Go(func() {
			for !t.Failed() {
				m.step()
				select {
				case answered <- struct{}{}:
				case <-ended:
					return
				}
			}
		})
	}
	kills := 0
	for ctx.Err() == nil {
		for range 10 + rand.IntN(100) {
			select {
			case <-answered:
			case <-ctx.Done():
			}
		}
		if ctx.Err() == nil { // while the other clients wait for answers
			child.Kill()
			child = childtest.Start(t, servedVariable+"="+dsn)
			url.Store(child.Line())
			kills++
		}
	}
	running.Wait()
	calls := 0
	for _, m := range clients {
		m.check()
		m.checkExecutions()
		calls += m.calls
	}
	t.Logf("%d calls, %d kills", calls, kills)
	if calls < 20 {
		t.Error("the clients have done almost nothing")
	}
}

// A modeled is a client with the model of its machine, which no other client changes.
type modeled struct {
	t     *testing.T
	url   *atomic.Value // of the server that runs now
	rand  *rand.Rand
	name  string
	calls int

	arn        string
	comment    int               // in the definition; 0 if there is no machine
	versions   map[int]int       // comments of the versions, by their numbers
	last       int               // the highest number that a version has had
	published  int               // the version that has the present definition; 0 if none has
	alias      int               // the version of the alias; 0 if there is no alias
	tags       map[string]string // of the machine
	executions map[string]string // ARNs of versions that executions were started with, by their ARNs
}

// call sends a call until it is answered, and reports whether it was repeated.
func (m *modeled) call(operation string, params object) (out object, repeated bool, err error) {
	m.calls++
	for end := time.Now().Add(time.Minute); ; repeated = true {
		s := &served{tb: m.t, url: m.url.Load().(string)}
		out, err = s.try(context.WithoutCancel(m.t.Context()), operation, params)
		if _, refused := errors.AsType[*apiError](err); err == nil || refused {
			return out, repeated, err
		}
		if time.Now().After(end) {
			m.t.Errorf("%s: %v", operation, err)
			return nil, true, err
		}
	}
}

// expect makes a call that must succeed, or be refused with a code. A repeated one may also be refused, because the
// first one has had its effect.
func (m *modeled) expect(operation string, params object, code string) (out object, ok bool) {
	out, repeated, err := m.call(operation, params)
	refused, _ := errors.AsType[*apiError](err)
	switch {
	case err == nil && code == "":
		return out, true
	case refused != nil && code != "" && refused.Code == errorPrefix+code, repeated:
		return out, code == ""
	}
	m.t.Errorf("%s %v: %v, %v; want %q", operation, params, out, err, code)
	return out, false
}

func (m *modeled) version(n int) string { return m.arn + ":" + strconv.Itoa(n) }

func (m *modeled) routes(n int) []object {
	return []object{{"stateMachineVersionArn": m.version(n), "weight": 100}}
}

// anyVersion returns a version that exists; 0 if there is none.
func (m *modeled) anyVersion() int {
	if len(m.versions) == 0 {
		return 0
	}
	all := slices.Sorted(maps.Keys(m.versions))
	return all[m.rand.IntN(len(all))]
}

// step makes a random call.
func (m *modeled) step() {
	if m.comment == 0 {
		out, ok := m.expect("CreateStateMachine", object{"name": m.name, "definition": commented("1"), "roleArn": role}, "")
		if ok {
			m.arn, m.comment, m.versions = out["stateMachineArn"].(string), 1, map[int]int{}
		}
		return
	}
	n := m.anyVersion()
	switch m.rand.IntN(11) {
	case 0:
		m.expect("CreateStateMachine", object{"name": m.name, "definition": commented("another"), "roleArn": role},
			"StateMachineAlreadyExists")
	case 1, 2:
		m.comment++
		m.expect("UpdateStateMachine", object{"stateMachineArn": m.arn, "definition": commented(strconv.Itoa(m.comment))}, "")
		m.published = 0
	case 3, 4:
		m.publish()
	case 5:
		if n == 0 {
			return
		}
		if n == m.alias {
			m.expect("DeleteStateMachineVersion", object{"stateMachineVersionArn": m.version(n)}, "ConflictException")
			return
		}
		m.expect("DeleteStateMachineVersion", object{"stateMachineVersionArn": m.version(n)}, "")
		if delete(m.versions, n); n == m.published {
			m.published = 0
		}
	case 6:
		m.route(n)
	case 7:
		key, value := strconv.Itoa(m.rand.IntN(5)), strconv.Itoa(m.rand.IntN(100))
		m.expect("TagResource", object{"resourceArn": m.arn, "tags": []object{{"key": key, "value": value}}}, "")
		m.tags[key] = value
	case 8:
		key := strconv.Itoa(m.rand.IntN(5))
		m.expect("UntagResource", object{"resourceArn": m.arn, "tagKeys": []string{key}}, "")
		delete(m.tags, key)
	case 9:
		m.start(n)
	default:
		m.check()
	}
}

func (m *modeled) publish() {
	out, ok := m.expect("PublishStateMachineVersion", object{"stateMachineArn": m.arn}, "")
	if !ok {
		return
	}
	arn, _ := out["stateMachineVersionArn"].(string)
	n, err := strconv.Atoi(strings.TrimPrefix(arn, m.arn+":"))
	switch {
	case err != nil:
		m.t.Errorf("PublishStateMachineVersion: %v", out)
	case m.published > 0 && n != m.published:
		m.t.Errorf("published version %d again, as %d", m.published, n)
	case m.published == 0 && n <= m.last:
		m.t.Errorf("published version %d after %d", n, m.last)
	}
	m.published, m.versions[n], m.last = n, m.comment, max(n, m.last)
}

// route creates, changes or deletes the alias.
func (m *modeled) route(n int) {
	arn := m.arn + ":live"
	switch {
	case m.alias > 0 && m.rand.IntN(3) == 0:
		m.expect("DeleteStateMachineAlias", object{"stateMachineAliasArn": arn}, "")
		m.alias = 0
	case n == 0:
	case m.alias > 0:
		m.expect("UpdateStateMachineAlias", object{"stateMachineAliasArn": arn, "routingConfiguration": m.routes(n)}, "")
		m.alias = n
	default:
		m.expect("CreateStateMachineAlias", object{"name": "live", "routingConfiguration": m.routes(n)}, "")
		m.alias = n
	}
}

// start begins an execution of the alias, or of a version.
func (m *modeled) start(n int) {
	target := m.version(n)
	if m.alias > 0 {
		n, target = m.alias, m.arn+":live"
	}
	if n == 0 {
		return
	}
	name := strconv.Itoa(len(m.executions))
	out, repeated, err := m.call("StartExecution", object{"stateMachineArn": target, "name": name, "input": `{}`})
	if refused, _ := errors.AsType[*apiError](err); repeated && refused != nil &&
		refused.Code == errorPrefix+"ExecutionAlreadyExists" { // it has ended meanwhile
		m.executions[strings.Replace(m.arn, ":stateMachine:", ":execution:", 1)+":"+name] = m.version(n)
		return
	}
	if err != nil {
		m.t.Errorf("StartExecution: %v", err)
		return
	}
	m.executions[out["executionArn"].(string)] = m.version(n)
}

// check compares what the server reports with the model.
func (m *modeled) check() {
	if m.comment == 0 {
		return
	}
	out, _ := m.expect("DescribeStateMachine", object{"stateMachineArn": m.arn}, "")
	if out["definition"] != commented(strconv.Itoa(m.comment)) {
		m.t.Errorf("%s: %v; want comment %d", m.name, out["definition"], m.comment)
	}
	var versions []int
	out, _ = m.expect("ListStateMachineVersions", object{"stateMachineArn": m.arn, "maxResults": 1000}, "")
	list, _ := out["stateMachineVersions"].([]any)
	for _, v := range list {
		n, _ := strconv.Atoi(strings.TrimPrefix(v.(object)["stateMachineVersionArn"].(string), m.arn+":"))
		versions = append(versions, n)
	}
	if slices.Sort(versions); !slices.Equal(versions, slices.Sorted(maps.Keys(m.versions))) {
		m.t.Errorf("%s has the versions %v; want %v", m.name, versions, m.versions)
	}
	if n := m.anyVersion(); n > 0 {
		out, _ := m.expect("DescribeStateMachine", object{"stateMachineArn": m.version(n)}, "")
		if out["definition"] != commented(strconv.Itoa(m.versions[n])) {
			m.t.Errorf("%s: version %d is %v; want comment %d", m.name, n, out["definition"], m.versions[n])
		}
	}
	if m.alias > 0 {
		out, _ := m.expect("DescribeStateMachineAlias", object{"stateMachineAliasArn": m.arn + ":live"}, "")
		routes, _ := out["routingConfiguration"].([]any)
		if len(routes) != 1 || routes[0].(object)["stateMachineVersionArn"] != m.version(m.alias) {
			m.t.Errorf("%s: the alias routes to %v; want version %d", m.name, routes, m.alias)
		}
	} else {
		m.expect("DescribeStateMachineAlias", object{"stateMachineAliasArn": m.arn + ":live"}, "ResourceNotFound")
	}
	tags := map[string]string{}
	out, _ = m.expect("ListTagsForResource", object{"resourceArn": m.arn}, "")
	listed, _ := out["tags"].([]any)
	for _, tag := range listed {
		tags[tag.(object)["key"].(string)], _ = tag.(object)["value"].(string)
	}
	if !maps.Equal(tags, m.tags) {
		m.t.Errorf("%s has the tags %v; want %v", m.name, tags, m.tags)
	}
}

// checkExecutions compares lists and descriptions of the executions with the started ones.
func (m *modeled) checkExecutions() {
	s := &served{tb: m.t, url: m.url.Load().(string)}
	for arn, version := range m.executions {
		if x := s.execution(arn); x["status"] != "SUCCEEDED" || x["stateMachineVersionArn"] != version {
			m.t.Errorf("%v; want version %s", x, version)
		}
	}
	if m.arn == "" {
		return
	}
	listed := map[string]bool{}
	all, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": m.arn, "maxResults": 7})
	for _, x := range all {
		listed[x["executionArn"].(string)] = true
	}
	for arn := range m.executions {
		if !listed[arn] || len(listed) != len(m.executions) {
			m.t.Fatalf("%s: %d executions are listed; want %d, with %s", m.name, len(listed), len(m.executions), arn)
		}
	}
}
