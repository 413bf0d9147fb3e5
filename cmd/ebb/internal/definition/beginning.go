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

// A Beginning has the options that a run was begun with, besides its definition and
// input. It is stored with the run, so that any process can resume the run.
type Beginning struct {
	Dir     string            `json:"dir"`              // from where programs are looked up, absolute
	Tasks   map[string]string `json:"tasks,omitzero"`   // what names are mapped to
	Buckets map[string]string `json:"buckets,omitzero"` // which folders buckets are, absolute
	Mock    string            `json:"mock,omitzero"`    // FILE#case, the file absolute
	Flows   map[string]string `json:"flows,omitzero"`   // hashes of the definitions of subflows, by their names
}

// attributes are what is told to the language of a run. Members that it does
// not know it leaves alone.
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

// Attributes returns the form in which b is kept.
func (b Beginning) Attributes() atom.Value { return atom.MustEncode(attributes{Ebb: b}) }

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
