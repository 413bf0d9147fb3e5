package command

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// byProgram says which program lets a run without a definition continue.
func byProgram(run *storage.Run) string {
	if isExecution(run) {
		return "ebb serve continues it"
	}
	return fmt.Sprintf("it continues when the program that has the flow %s runs it", visible.Line(run.Flow))
}
