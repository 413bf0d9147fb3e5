package backend

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// Limits of the values that a store accepts. A store refuses a larger value with [storage.ErrInvalid].
const (
	//limit:values run ID, key of a run, name of its flow, receipt of a message (`backend.MaxID`); name or key of a
	//limit:and signal (`ebb signal`) | {B}
	MaxID = 256 // bytes of the id of a run, job or token, of the name of a flow, and of the key of a message
	// MaxScheduleID is the limit of a schedule's id, in bytes. The id of a job of the schedule is the schedule's id
	// and a time, which together fit in MaxID.
	//
	//limit:values schedule ID (`backend.MaxScheduleID`) | {B}
	MaxScheduleID = 200

	//limit:values key or value of a label (`backend.MaxLabel`) | {B}
	MaxLabel = 256 // bytes of a label's key, and of its value
	//limit:values labels of a new run or a job; needs of a job (`backend.MaxLabels`) | {} each
	MaxLabels = 50 // labels of a run when it is created, and needs; its language may add labels of its own
	//limit:values key of a transaction with a user's SQL (`backend.MaxKey`) | {B}
	MaxKey = 4096 // bytes of the key under which [Transactor.Transact] records a transaction

	//limit:values names of secrets of a run (`backend.MaxSecrets`, `backend.MaxSecret`) | {} of {MaxSecret B}
	MaxSecrets = 1000 // names of secrets of one run
	MaxSecret  = 4096 // bytes of one name of a secret
)

// CheckRun returns an error that wraps ErrInvalid and names the problem if a store cannot create the run on these
// conditions.
func CheckRun(r *storage.Run, checks ...storage.RecordCheck) error {
	switch {
	case len(checks) > MaxRecordChecks:
		return fmt.Errorf("%w: run %.20q: it starts on %d conditions; at most %d are possible",
			storage.ErrInvalid, r.ID, len(checks),
			MaxRecordChecks)
	case r.ID == "":
		return fmt.Errorf("%w: a run needs an id", storage.ErrInvalid)
	case len(r.ID) > MaxID:
		return fmt.Errorf("%w: the run's id %.20q… is longer than %d bytes", storage.ErrInvalid, r.ID, MaxID)
	case len(r.Flow) > MaxID:
		return longFlow(r.Flow)
	case r.Input.Ref != 0:
		return fmt.Errorf("%w: run %q: its input refers to payload %d, but a new run has none",
			storage.ErrInvalid, r.ID, r.Input.Ref)
	}
	for i := range checks {
		if err := CheckCondition(&checks[i]); err != nil {
			return err
		}
	}
	if err := checkSecrets(r.Secrets); err != nil {
		return fmt.Errorf("%w (run %q)", err, r.ID)
	}
	if err := checkTexts(r.ID, r.Flow); err != nil {
		return err
	}
	if err := checkKey(r.Key); err != nil {
		return err
	}
	if err := checkValue("input of run "+r.ID, r.Input.Data); err != nil {
		return err
	}
	if r.Continues != "" { // its labels are those of a run that was checked
		return checkEach(r.Labels)
	}
	return checkLabels(r.Labels)
}

func longFlow(name string) error {
	return fmt.Errorf("%w: the name %.20q… of a flow is longer than %d bytes", storage.ErrInvalid, name, MaxID)
}

// checkTexts returns ErrInvalid for a text that some database would change or refuse.
func checkTexts(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%w: %.40q is not valid text: not UTF-8, or contains a NUL byte", storage.ErrInvalid, text)
		}
	}
	return nil
}

// checkValue returns ErrInvalid for a value from outside that a view could not show: it is not JSON in UTF-8.
func checkValue(what string, v atom.Value) error {
	if v != nil && (v[0] != atom.CodecJSON || !utf8.Valid(v) || !json.Valid(v.JSON())) {
		return fmt.Errorf("%w: the %s is not JSON in UTF-8", storage.ErrInvalid, what)
	}
	return nil
}

// CheckPlan returns an error that wraps ErrInvalid if the name of the flow, or of a signal that one of its atoms
// awaits, breaks the rule of CheckID: nobody could send the signal.
func CheckPlan(p *flow.Plan) error {
	if err := CheckID("flow", p.Flow); err != nil {
		return err
	}
	for i := range p.Atoms {
		a := &p.Atoms[i]
		if name := a.Signal(); name != "" {
			if err := CheckID("signal", name); err != nil {
				return fmt.Errorf("%w (atom %q)", err, a.Name())
			}
		}
	}
	return nil
}

// CheckID returns an error that wraps ErrInvalid if no new run, job, schedule, flow or signal of a program can have the
// id or name. The rule is the same at every door: a reader sees all of it, no header or form cuts blanks off its ends,
// and a path of a URL can contain it. A store itself takes more, because the ids of child runs have names of nodes, and
// AWS's names have AWS's rules.
//
//limit:values new ID of a run, job or schedule; name of a flow or signal in Go, a new definition, or a limit, or that
//limit:and a job names
//limit:and | {MaxID B} of visible characters but U+FFFD, no blanks at its ends, not `.`, `..` or `/`
func CheckID(what, id string) error {
	var problem string
	switch {
	case id == "":
		problem = "is empty"
	case !utf8.ValidString(id):
		problem = "is not UTF-8"
	case len(id) > MaxID:
		problem = fmt.Sprintf("has more than %d bytes", MaxID)
	case id == "." || id == ".." || id == "/":
		problem = "cannot stand in a path: choose another one"
	case strings.TrimSpace(id) != id:
		problem = "begins or ends with a blank: leave it out"
	case !visible.All(id):
		problem = "has control characters, or others that cannot be seen"
	case strings.ContainsRune(id, utf8.RuneError):
		problem = "has U+FFFD, which decoders put in place of what is no character: no two ids must become one"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s %.80q %s", storage.ErrInvalid, what, id, problem)
}

// IsOwnFlow reports whether the name of a flow is that of Ebb's own flows, which ebb serve has without a definition.
func IsOwnFlow(name string) bool { return name == "swf" || strings.HasPrefix(name, "ebb.") }

// CheckFlow is [CheckID] for the name of a new definition.
func CheckFlow(what, name string) error {
	if IsOwnFlow(name) {
		return fmt.Errorf("%w: %s %.80q: swf, and names that begin with ebb., are those of Ebb's own flows",
			storage.ErrInvalid, what, name)
	}
	return CheckID(what, name)
}

// Reason returns the text of an error for people who use no package of Go: without that of [storage.ErrInvalid].
func Reason(err error) string {
	return strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", "")
}

// CheckLabel returns an error that wraps ErrInvalid and names the problem if a run cannot have the label.
func CheckLabel(key, value string) error {
	if key == "" || len(key) > MaxLabel || len(value) > MaxLabel {
		return fmt.Errorf("%w: label %.20q: keys have 1 to %d bytes, values up to %d",
			storage.ErrInvalid, key, MaxLabel, MaxLabel)
	}
	return checkTexts(key, value)
}

// checkLabels checks labels that somebody gives. Those of a run include the needs of its job.
func checkLabels(labels map[string]string) error {
	needs := 0
	for key := range labels {
		if strings.HasPrefix(key, NeedLabel) {
			needs++
		}
	}
	if most := max(needs, len(labels)-needs); most > MaxLabels {
		return fmt.Errorf("%w: %d labels or needs; at most %d are possible", storage.ErrInvalid, most, MaxLabels)
	}
	return checkEach(labels)
}

func checkEach(labels map[string]string) error {
	for key, value := range labels {
		if err := CheckLabel(key, value); err != nil {
			return err
		}
	}
	return nil
}
