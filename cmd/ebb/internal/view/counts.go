package view

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// Counts returns how many runs of each state a database has.
func Counts(st *sqlstore.Status) string {
	var parts []string
	for state := states.FlowPending; state <= states.FlowResuming; state++ {
		if n := st.Runs[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, state))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s; %d driven now", strings.Join(parts, ", "), st.Driven)
}
