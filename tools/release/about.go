package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"slices"
	"strings"
	texttemplate "text/template"
	"time"
)

// bom writes the modules that the binaries link, as CycloneDX.
func (r *release) bom() error {
	modules := map[string]string{}
	for _, b := range r.binaries {
		info, err := buildinfo.Read(bytes.NewReader(b.body))
		if err != nil {
			return err
		}
		modules["std"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if modules[m.Path] = m.Version; m.Version == "(devel)" || strings.HasPrefix(m.Path, "github.com/ebbflow/") {
				modules[m.Path] = "v" + r.version
			}
		}
	}
	var components []object
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		purl := fmt.Sprintf("pkg:golang/%s@%s", m, modules[m])
		components = append(components, object{
			"type": "library", "name": m, "version": modules[m], "purl": purl, "bom-ref": purl,
		})
	}
	return r.write(fmt.Sprintf("ebb_%s_sbom.cdx.json", r.version), jsonOf(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components,
		"metadata": object{"timestamp": r.date.Format(time.RFC3339), "component": object{
			"type": "application", "name": "ebb", "version": "v" + r.version,
			"purl": "pkg:golang/github.com/ebbflow/ebb/cmd/ebb@v" + r.version, "bom-ref": "ebb",
			"licenses": []object{{"license": object{"id": "Apache-2.0"}}},
		}},
	}))
}

// formula writes the formula for Homebrew, which belongs into the repository homebrew-tap.
func (r *release) formula() error {
	t, err := texttemplate.New("").Parse(string(template("ebb.rb")))
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for line := range strings.Lines(r.sums.String()) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[strings.TrimPrefix(name, "ebb_"+r.version+"_")] = sum
	}
	var b strings.Builder
	err = t.Execute(&b, object{
		"Summary": summary, "Repository": repository, "Version": r.version, "Sum": sums,
		"Systems":    map[string]string{"darwin": "macos", "linux": "linux"},
		"Processors": map[string]string{"amd64": "intel", "arm64": "arm"},
	})
	if err != nil {
		return err
	}
	return r.write("ebb.rb", []byte(b.String()))
}
