package scheduler

import "strings"

// ScopeAt returns the open flow at a path; nil if there is none.
func (s *Scheduler) ScopeAt(path string) *Scope {
	scope := s.root
	for scope != nil && scope.Path != path {
		scope = scope.towards(path)
	}
	return scope
}

// towards returns the open flow inside a scope that is at a path, or that the path leads through; nil if there is none.
func (s *Scope) towards(path string) *Scope {
	for _, n := range s.open {
		if !strings.HasPrefix(path, n.Path) {
			continue
		}
		for _, c := range n.children {
			if rest, ok := strings.CutPrefix(path, c.Path); ok && (rest == "" || rest[0] == '/') {
				return c
			}
		}
	}
	return nil
}

// Open yields the open nodes of a growing flow.
func (s *Scheduler) Open(yield func(*Node) bool) {
	if s.root == nil {
		return
	}
	for scopes := []*Scope{s.root}; len(scopes) > 0; {
		scope := scopes[len(scopes)-1]
		scopes = scopes[:len(scopes)-1]
		for _, n := range scope.open {
			if !yield(n) {
				return
			}
			scopes = append(scopes, n.children...)
		}
	}
}
