package inspect

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// variables has the variables of the levels that a run is in, by path of the level. A state sees the variables of its
// level and of all levels around it.
type variables map[string]*scope

// A scope has the variables of a level.
type scope struct {
	set    map[string]json.RawMessage
	inside []string // levels inside the open visit of the level
}

// level returns the scope of a level, which it adds if need be to the level around.
func (vs variables) level(path string) *scope {
	s := vs[path]
	if s == nil {
		s = &scope{set: map[string]json.RawMessage{}}
		if vs[path] = s; path != "" {
			outer := vs.level(around(path))
			outer.inside = append(outer.inside, path)
		}
	}
	return s
}

// around returns the path of the level around a level.
func around(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// follow applies an event of a visit. A level has one open visit at a time, so the levels inside end with it, and with
// each of its attempts.
func (vs variables) follow(v *grow.Visit, e *storage.Entry) {
	switch v.Stage {
	case grow.VisitLeft:
		vs.assign(v.Level, e)
		vs.drop(v.Level)
	case grow.VisitTried, grow.VisitFailed, grow.VisitAborted:
		vs.drop(v.Level)
	default:
	}
}

// assign sets what a state assigned as the run left it.
func (vs variables) assign(level string, e *storage.Entry) {
	var set map[string]json.RawMessage
	if v, ok := e.Details.Field("assignedVariables"); ok && v.Decode(&set) == nil {
		maps.Copy(vs.level(level).set, set)
	}
}

// drop forgets the levels inside a level.
func (vs variables) drop(level string) {
	s := vs[level]
	if s == nil {
		return
	}
	for _, path := range s.inside {
		vs.drop(path)
		delete(vs, path)
	}
	s.inside = nil
}

// seen returns the variables that a state of a level sees, a JSON object; nil if there are none.
func (vs variables) seen(level string) atom.Value {
	all := map[string]json.RawMessage{}
	for {
		if s := vs[level]; s != nil {
			for name, value := range s.set {
				if _, hidden := all[name]; !hidden {
					all[name] = value
				}
			}
		}
		if level == "" {
			break
		}
		level = around(level)
	}
	if len(all) == 0 {
		return nil
	}
	return atom.MustEncode(all)
}
