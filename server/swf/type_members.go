package swf

import (
	"encoding/json"

	"github.com/ebbflow/ebb/flow/swf"
)

// typeMembers are what types of both kinds have when they are registered.
type typeMembers struct {
	ofDomain

	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

func (m typeMembers) members() typeMembers { return m }

// registration returns the record of the type.
func (m typeMembers) registration(defaults any) (*registration, error) {
	text, err := json.Marshal(defaults)
	return &registration{Type: swf.Type{Name: m.Name, Version: m.Version}, Description: m.Description, Defaults: text}, err
}
