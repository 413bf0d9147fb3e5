package asl

import "github.com/ebbflow/ebb/flow/asl/internal/syntax"

// A Profile says by which edition of the language definitions are read and run.
type Profile = syntax.Profile

// The profiles.
const (
	AWS      = syntax.AWS      // the language of AWS Step Functions, as it is today
	Spec2016 = syntax.Spec2016 // the language as it was first published, with all later fields still legal
)

// Profiles returns all profiles.
func Profiles() []Profile { return syntax.Profiles() }

// ParseProfile returns the profile of a name.
func ParseProfile(name string) (Profile, error) { return syntax.ParseProfile(name) }
