package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // what dpkg --verify compares
	"embed"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/google/rpmpack"
)

//go:embed files
var templates embed.FS

// template returns a file of this folder.
func template(name string) []byte {
	body, err := templates.ReadFile("files/" + name)
	if err != nil {
		log.Fatal(err)
	}
	return body
}

const configuration = "etc/ebb/ebb.yaml" // kept by both package managers when its user has changed it

// installed returns what deb and rpm put onto a machine.
func (r *release) installed(b *binary) []file {
	files := append(below("usr/share", r.manuals),
		b.program("usr/bin/"),
		text(configuration, r.read("deploy/ebb.yaml")),
		text("usr/lib/systemd/system/ebb.service", r.read("deploy/ebb.service")),
		text("usr/lib/sysusers.d/ebb.conf", r.read("deploy/sysusers.conf")),
		text("usr/lib/tmpfiles.d/ebb.conf", r.read("deploy/tmpfiles.conf")),
		text("usr/share/doc/ebb/copyright", r.read("LICENSE")),
	)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

// packageVersion returns the version for dpkg and rpm, where ~ sorts before the end.
func (r *release) packageVersion() string { return strings.Replace(r.version, "-", "~", 1) }

// debs writes the packages for Debian and Ubuntu.
func (r *release) debs() error {
	for _, b := range r.binaries {
		if b.deb == "" {
			continue
		}
		var size int
		var sums strings.Builder
		files := r.installed(&b)
		for _, f := range files {
			size += len(f.body)
			fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.body), f.name) //nolint:gosec // as above
		}
		control := fmt.Sprintf("Package: ebb\nVersion: %s\nArchitecture: %s\nMaintainer: Ebb <%s>\nInstalled-Size: %d\n"+
			"Section: utils\nPriority: optional\nHomepage: %s\nDescription: %s\n",
			r.packageVersion(), b.deb, repository, size>>10, repository, strings.ReplaceAll(description, "\n", "\n "))
		script := func(name string) file { return file{name: name, body: template(name), mode: 0o755} }
		inner, err := tgzOf("./", []file{
			text("conffiles", []byte("/"+configuration+"\n")), text("control", []byte(control)),
			text("md5sums", []byte(sums.String())), script("postinst"), script("prerm"),
		}, r.date)
		if err != nil {
			return err
		}
		data, err := tgzOf("./", withFolders(files), r.date)
		if err != nil {
			return err
		}
		// The format is ar(5).
		deb := bytes.NewBufferString("!<arch>\n")
		for _, f := range []file{
			text("debian-binary", []byte("2.0\n")), text("control.tar.gz", inner), text("data.tar.gz", data),
		} {
			fmt.Fprintf(deb, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, r.date.Unix(), 0, 0, 0o100644, len(f.body))
			deb.Write(f.body)
			if len(f.body)%2 == 1 {
				deb.WriteByte('\n')
			}
		}
		if err := r.write(fmt.Sprintf("ebb_%s_%s.deb", r.packageVersion(), b.deb), deb.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// rpms writes the packages for Fedora, RHEL and SUSE.
func (r *release) rpms() error {
	date := uint32(r.date.Unix())
	for _, b := range r.binaries {
		if b.rpm == "" {
			continue
		}
		rpm, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
			Name: "ebb", Version: r.packageVersion(), Release: "1", Arch: b.rpm, Summary: summary, Description: description,
			URL: repository, Licence: "Apache-2.0", Packager: "Ebb", BuildHost: "localhost", BuildTime: r.date,
			Epoch: rpmpack.NoEpoch, Compressor: "zstd",
		})
		if err != nil {
			return err
		}
		for _, f := range r.installed(&b) {
			kind := rpmpack.GenericFile
			if f.name == configuration {
				kind = rpmpack.ConfigFile | rpmpack.NoReplaceFile
			}
			rpm.AddFile(rpmpack.RPMFile{
				Name: "/" + f.name, Body: f.body, Mode: uint(f.mode), Owner: "root", Group: "root", Type: kind, MTime: date,
			})
		}
		rpm.AddFile(rpmpack.RPMFile{Name: "/etc/ebb", Mode: 0o40755, Owner: "root", Group: "root", MTime: date})
		rpm.AddPostin(string(template("postinst")))
		rpm.AddPreun(string(template("prerm")))
		var body bytes.Buffer
		if err := rpm.Write(&body); err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("ebb-%s-1.%s.rpm", r.packageVersion(), b.rpm), body.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
