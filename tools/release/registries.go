package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	npmScope  = "@ebbflow/"
	wheelName = "ebbflow"
)

// npm writes a package for each platform, which has the binary, and one that depends on all of them and starts the one
// of the machine. Nothing is downloaded when it is installed.
func (r *release) npm() error {
	pack := func(name string, manifest object, files ...file) error {
		manifest["name"], manifest["version"], manifest["license"] = npmScope+name, r.version, "Apache-2.0"
		manifest["description"], manifest["homepage"] = summary, repository
		manifest["repository"] = object{"type": "git", "url": "git+" + repository + ".git"}
		files = append(files, text("package.json", jsonOf(manifest)), text("LICENSE", r.read("LICENSE")))
		body, err := tgzOf("package/", files, r.date)
		if err != nil {
			return err
		}
		return r.write(fmt.Sprintf("ebbflow-%s-%s.tgz", name, r.version), body)
	}
	all := object{}
	for _, b := range r.binaries {
		name := "ebb-" + b.npm[0] + "-" + b.npm[1]
		all[npmScope+name] = r.version
		if err := pack(name, object{"os": b.npm[:1], "cpu": b.npm[1:]}, b.program("")); err != nil {
			return err
		}
	}
	manifest := object{"bin": object{"ebb": "ebb.js"}, "optionalDependencies": all, "engines": object{"node": ">=18"}}
	return pack("ebb", manifest,
		file{name: "ebb.js", body: template("ebb.js"), mode: 0o755}, text("README.md", r.read("README.md")))
}

// wheels writes a package of Python for each platform. pip puts the binary beside python.
func (r *release) wheels() error {
	version := strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(r.version)
	info := fmt.Sprintf("%s-%s.dist-info/", wheelName, version)
	for _, b := range r.binaries {
		about := fmt.Sprintf("Metadata-Version: 2.3\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\n"+
			"Project-URL: Source, %s\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s",
			wheelName, version, summary, repository, r.read("README.md"))
		var tags strings.Builder
		for tag := range strings.SplitSeq(b.wheel, ".") {
			fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
		}
		files := []file{
			b.program(fmt.Sprintf("%s-%s.data/scripts/", wheelName, version)),
			text(info+"licenses/LICENSE", r.read("LICENSE")),
			text(info+"METADATA", []byte(about)),
			text(info+"WHEEL", []byte("Wheel-Version: 1.0\nGenerator: ebb\nRoot-Is-Purelib: false\n"+tags.String())),
		}
		var record strings.Builder
		for _, f := range files {
			sum := sha256.Sum256(f.body)
			fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.body))
		}
		record.WriteString(info + "RECORD,,\n")
		body, err := zipOf(append(files, text(info+"RECORD", []byte(record.String()))), r.date)
		if err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("%s-%s-py3-none-%s.whl", wheelName, version, b.wheel), body); err != nil {
			return err
		}
	}
	return nil
}
