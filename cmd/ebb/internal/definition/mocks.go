package definition

import (
	"fmt"

	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

// ReadMocks reads a mock file of Step Functions Local, and checks all its test cases.
func ReadMocks(file string) (*tasks.MockFile, error) {
	text, err := limitedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	mocks, err := tasks.ReadMockFile(file, text)
	if err != nil {
		return nil, err
	}
	if err := mocks.Check(); err != nil {
		return nil, fmt.Errorf("%s cannot be used:\n%w", file, err)
	}
	return mocks, nil
}
