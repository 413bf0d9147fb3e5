package definition

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/storage"
)

// A Beginning contains the options with which a run was started, besides its definition and input. It is stored
// with the run, so that any process can resume the run.
type Beginning struct {
	Dir     string            `json:"dir"`              // folder in which programs are looked up; absolute
	Tasks   map[string]string `json:"tasks,omitzero"`   // mappings of task names
	Buckets map[string]string `json:"buckets,omitzero"` // folders of buckets; absolute
	Mock    string            `json:"mock,omitzero"`    // FILE#case, with an absolute path
	Flows   map[string]string `json:"flows,omitzero"`   // hashes of the definitions of subflows, by name
}

// attributes are the attributes of a run for its language. A language ignores members that it does not know.
type attributes struct {
	asl.Attributes

	Ebb Beginning `json:"ebb"`
}

// BeginningOf returns the Beginning of a stored run.
func BeginningOf(run *storage.Run) (Beginning, error) {
	var a attributes
	if err := run.Attrs.Decode(&a); err != nil {
		return a.Ebb, fmt.Errorf("%w: run %s: attributes: %w", storage.ErrCorrupt, run.ID, err)
	}
	return a.Ebb, nil
}

// Attributes returns the stored form of b, and of the names that a run has on AWS.
func (b Beginning) Attributes(names asl.Attributes) atom.Value {
	return atom.MustEncode(attributes{Attributes: names, Ebb: b})
}

// Registry returns the tasks of a run of the flow. The files that they write in buckets
// are private to the user or, if shared is set, have the permissions of their folder.
func (b Beginning) Registry(flow string, shared bool) (*tasks.Registry, error) {
	r := &tasks.Registry{Dir: b.Dir}
	for name, resource := range b.Tasks {
		r.Map(name, resource)
	}
	for name, folder := range b.Buckets {
		bucket := tasks.Folder(folder)
		if shared {
			bucket = tasks.SharedFolder(folder)
		}
		r.AddBucket(name, bucket)
	}
	if b.Mock == "" {
		return r, nil
	}
	file, testCase := cutCase(b.Mock)
	text, err := limitedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	r.Mocks, err = tasks.ParseMocks(file, text, flow, testCase)
	return r, err
}

// cutCase splits FILE#case.
func cutCase(mock string) (file, testCase string) {
	if i := strings.LastIndexByte(mock, '#'); i >= 0 {
		return mock[:i], mock[i+1:]
	}
	return mock, ""
}
