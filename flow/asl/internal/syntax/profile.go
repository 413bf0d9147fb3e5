package syntax

import (
	"fmt"

	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
)

// A Profile is the edition of the language by which definitions are read and run.
// Profiles differ only in the entries of the table of profiles.
type Profile uint8

// The profiles.
const (
	AWS      Profile = iota // the language of AWS Step Functions, as it is today
	Spec2016                // the language as it was first published, with all later fields still legal
)

// String returns the name by which flags and settings call the profile.
func (p Profile) String() string { return profiles[p].name }

// Profiles returns all profiles.
func Profiles() []Profile {
	all := make([]Profile, len(profiles))
	for p := range profiles {
		all[p] = Profile(p)
	}
	return all
}

// ParseProfile returns the profile of a name.
func ParseProfile(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("profile %q is not known (use aws or spec2016)", name)
}

// Rules are where the editions differ (asl.md, a.12).
type Rules struct {
	name          string
	NameLength    int    // characters of a state's name
	TaskTimeout   int64  // seconds that a Task state without TimeoutSeconds has; 0: no end
	FailNeedsBoth bool   // a Fail state without Error or Cause is warned of
	PathFailure   string // what a path in a payload template that names nothing makes a state fail with
	ChoiceFailure string // what a Choice state fails with when no rule holds and there is no Default
	BranchFailure string // what a failed branch makes a Parallel state fail with; "": the branch's own error
	AllMatchesAll bool   // States.ALL matches States.Runtime and States.DataLimitExceeded, too
}

// Rules returns the rules of the edition.
func (p Profile) Rules() *Rules { return &profiles[p] }

var profiles = [...]Rules{
	AWS: {
		name: "aws", NameLength: 80,
		PathFailure: stateerror.Runtime, ChoiceFailure: stateerror.Runtime,
	},
	Spec2016: {
		name: "spec2016", NameLength: 128, TaskTimeout: 60, FailNeedsBoth: true,
		PathFailure: stateerror.ParameterPath, ChoiceFailure: stateerror.NoChoiceMatched, BranchFailure: stateerror.BranchFailed, AllMatchesAll: true,
	},
}
