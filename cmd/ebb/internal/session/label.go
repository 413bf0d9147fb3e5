package session

import (
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
)

// ParseLabels returns the labels that a flag of KEY=VALUE gives.
func ParseLabels(flag string, given []string) (map[string]string, error) {
	if len(given) == 0 {
		return nil, nil //nolint:nilnil // no labels
	}
	labels := make(map[string]string, len(given))
	for _, text := range given {
		key, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || isBlank(key):
			return nil, exit.Usagef("--%s %s: want KEY=VALUE, such as team=billing", flag, text)
		case len(key) > backend.MaxLabel || len(value) > backend.MaxLabel:
			return nil, exit.Usagef("--%s %.20s…: a key and a value have at most %d bytes", flag, text, backend.MaxLabel)
		}
		if other, twice := labels[key]; twice && other != value {
			return nil, exit.Usagef("--%s %s: %s is %s already, and has one value", flag, text, key, other)
		}
		labels[key] = value
	}
	return labels, nil
}
