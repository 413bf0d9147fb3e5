package main

import (
	"strings"

	"github.com/ebbflow/ebb/storage"
)

// parseLabels returns the labels that KEY=VALUE flags give.
func parseLabels(given []string) (map[string]string, error) {
	if len(given) == 0 {
		return nil, nil //nolint:nilnil // no labels
	}
	labels := make(map[string]string, len(given))
	for _, text := range given {
		key, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || key == "":
			return nil, usagef("--label %s: want KEY=VALUE, such as team=billing", text)
		case len(key) > storage.MaxLabel || len(value) > storage.MaxLabel:
			return nil, usagef("--label %.20s…: a key and a value have at most %d bytes", text, storage.MaxLabel)
		}
		if other, twice := labels[key]; twice && other != value {
			return nil, usagef("--label %s: %s is %s already, and has one value", text, key, other)
		}
		labels[key] = value
	}
	return labels, nil
}
