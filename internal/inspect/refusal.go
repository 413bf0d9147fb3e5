package inspect

import (
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Refusal returns why the record of a run already excludes a command, such as "cancel"; "" if it does not. Whether the
// run allows the command is then for the process that drives it to decide.
func Refusal(run *storage.Run, command string) string {
	ended := run.State.Ended()
	switch command {
	case "cancel", "suspend":
		switch {
		case ended:
			return "it has ended, and revert undoes what it did"
		case command == "suspend" && run.Hold:
			return "it is suspended already"
		}
	case "retry":
		if run.State == states.FlowSuccess && run.Definition != "" {
			return "it has succeeded"
		}
	case "signal":
		if ended {
			return "it waits for nothing"
		}
	case "resume":
		switch {
		case ended:
			return "it has ended: retry continues it where it failed"
		case !run.Hold:
			return "it is not suspended"
		}
	case "revert":
		switch {
		case ended && run.Undo == storage.UndoFailed:
			return "it could not be undone: use retry-revert or skip"
		case ended && run.Undo == storage.UndoneAll:
			return "it was undone"
		case run.State == states.FlowSuccess && run.Definition != "" && run.Undos == 0:
			return "nothing that it did can be undone"
		}
	case "retry-revert", "skip":
		if ended && run.Undo != storage.UndoFailed {
			return "no revert of it has failed"
		}
	}
	return ""
}
