//go:build unix && !linux

package tasks

import (
	"context"
	"os"
)

// takeName returns no name: only Linux has names that are free once no process holds them.
func takeName(context.Context) (*os.File, error) { return nil, nil } //nolint:nilnil // see above
