package codec

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// EncodeProcess returns the record of a process.
func EncodeProcess(p storage.Process) []byte {
	if p.Owner == "" {
		return nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and a number
	}
	return text
}

// DecodeProcess decodes the output of EncodeProcess.
func DecodeProcess(text []byte) (p storage.Process, err error) {
	if len(text) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("%w: a process: %w", storage.ErrCorrupt, err)
	}
	return p, nil
}
