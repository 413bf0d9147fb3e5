package main

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/awsshape"
)

// metadata is what an api-2.json says about the service.
type metadata struct {
	APIVersion      string `json:"apiVersion"`
	EndpointPrefix  string `json:"endpointPrefix"`
	JSONVersion     string `json:"jsonVersion"`
	Protocol        string `json:"protocol"`
	ServiceID       string `json:"serviceId"`
	ServiceFullName string `json:"serviceFullName"`
	SigningName     string `json:"signingName"`
	TargetPrefix    string `json:"targetPrefix"`
}

func (m metadata) id() string { return cmp.Or(m.ServiceID, m.ServiceFullName) }

// newest reads the models in a folder into values of a type. It returns the newest version of each service, by its key.
func newest[M any](models string, about func(M) metadata) (map[string]M, error) {
	files, err := filepath.Glob(filepath.Join(models, "*", "*", "api-2.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no api-2.json below %s", models)
	}
	if err != nil {
		return nil, err
	}
	found := map[string]M{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var m M
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		key := awsshape.ServiceKey(about(m).id())
		if old, ok := found[key]; !ok || about(old).APIVersion < about(m).APIVersion {
			found[key] = m
		}
	}
	return found, nil
}

// archive writes a file with an entry for each service.
func archive[M any](file string, services map[string]M, text func(M) string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	for _, key := range slices.Sorted(maps.Keys(services)) {
		w, err := z.Create(key)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text(services[key])); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// operationName returns the name of an operation in integrations.
func operationName(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// withShapes returns the lines, and one for each shape that they need. Writing a shape may need others.
func withShapes(lines []string, needed map[string]bool, body func(name string) string) string {
	written := map[string]bool{}
	for len(needed) > len(written) {
		for _, name := range slices.Sorted(maps.Keys(needed)) {
			if !written[name] {
				written[name] = true
				lines = append(lines, "@"+name+" "+body(name))
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
