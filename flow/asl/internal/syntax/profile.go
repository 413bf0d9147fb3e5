package syntax

import (
	"fmt"

	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
)

// A Profile is an edition of the language. Its rules determine how definitions are read and run. Profiles differ
// only in the entries of the table of profiles.
type Profile uint8

// The profiles.
const (
	AWS      Profile = iota // the current language of AWS Step Functions
	Spec2016                // the first published language, with all later fields still legal
)

// String returns the profile's name in flags and settings.
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

// Rules are the differences between the editions (asl.md, a.12).
type Rules struct {
	name          string
	NameLength    int    // maximum number of characters of a state's name
	TaskTimeout   int64  // seconds for a Task state without TimeoutSeconds; 0: no limit
	FailNeedsBoth bool   // warn of a Fail state without Error or Cause
	PathFailure   string // error of a path in a payload template that names no value
	ChoiceFailure string // error of a Choice state if no rule holds and there is no Default
	BranchFailure string // error of a Parallel state whose branch failed; "": the branch's own error
	AllMatchesAll bool   // States.ALL also matches States.Runtime and States.DataLimitExceeded
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
		PathFailure: stateerror.ParameterPath, ChoiceFailure: stateerror.NoChoiceMatched,
		BranchFailure: stateerror.BranchFailed, AllMatchesAll: true,
	},
}
