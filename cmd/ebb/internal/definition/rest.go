package definition

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/openapi"
	"github.com/ebbflow/ebb/engine/tasks"
)

// CallREST lets functions of type rest be called, by the OpenAPI documents that are
// stored with the definitions.
func CallREST(r *tasks.Registry, machines []Machine) {
	caller := &openapi.Caller{Documents: func(uri string) ([]byte, error) {
		for _, m := range machines {
			if m, ok := m.(*sm4cMachine); ok {
				if doc, ok := m.Document(uri); ok {
					return doc, nil
				}
			}
		}
		return nil, errors.New("the document is not stored with the definition")
	}}
	r.Schemes = map[string]func(string) (atom.Body, error){openapi.Scheme: caller.Task}
}
