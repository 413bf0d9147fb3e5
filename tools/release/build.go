package main

import (
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A platform is a system that Ebb is released for, and what others call it.
type platform struct {
	os, arch  string
	npm       [2]string // Node's process.platform and process.arch
	wheel     string    // tags of wheels
	deb, rpm  string    // names of the processor
	exe, form string    // ending of programs, kind of archive
}

const (
	wheelIntel = "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
	wheelARM   = "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"
)

var platforms = []platform{
	{"linux", "amd64", [2]string{"linux", "x64"}, wheelIntel, "amd64", "x86_64", "", "tar.gz"},
	{"linux", "arm64", [2]string{"linux", "arm64"}, wheelARM, "arm64", "aarch64", "", "tar.gz"},
	{"darwin", "amd64", [2]string{"darwin", "x64"}, "macosx_11_0_x86_64", "", "", "", "tar.gz"},
	{"darwin", "arm64", [2]string{"darwin", "arm64"}, "macosx_11_0_arm64", "", "", "", "tar.gz"},
	{"windows", "amd64", [2]string{"win32", "x64"}, "win_amd64", "", "", ".exe", "zip"},
}

// A binary is the command for a platform.
type binary struct {
	platform
	body []byte
}

// program returns the binary as a file in a folder.
func (b *binary) program(folder string) file {
	return file{name: folder + "ebb" + b.exe, body: b.body, mode: 0o755}
}

// build compiles the command for each platform, and lets the one of this machine write manuals and completions.
func (r *release) build() error {
	scratch, err := os.MkdirTemp("", "ebb-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	const stamps = "-s -w -X %[1]s.version=v%[2]s -X %[1]s.revision=%[3]s -X %[1]s.date=%[4]s"
	ldflags := fmt.Sprintf(stamps, "github.com/ebbflow/ebb/internal/buildinfo",
		r.version, r.revision, r.date.Format(time.RFC3339))
	var here string
	for _, p := range platforms {
		if !strings.HasPrefix(p.os+"/"+p.arch, r.only) {
			continue
		}
		log.Printf("building %s/%s", p.os, p.arch)
		to := filepath.Join(scratch, p.os+"_"+p.arch)
		goBuild := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", to, "./cmd/ebb")
		goBuild.Dir, goBuild.Stderr = r.root, os.Stderr
		goBuild.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=",
			"GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
		if err := goBuild.Run(); err != nil {
			return fmt.Errorf("cannot build %s/%s: %w", p.os, p.arch, err)
		}
		body, err := os.ReadFile(to)
		if err != nil {
			return err
		}
		r.binaries = append(r.binaries, binary{p, body})
		if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
			here = to
		}
	}
	if here == "" {
		return fmt.Errorf("only the ebb of %s/%s runs here and writes manuals: release it", runtime.GOOS, runtime.GOARCH)
	}
	return r.generate(here, scratch)
}

// generate gets the manual pages and completions from the command.
func (r *release) generate(ebb, scratch string) error {
	for shell, name := range map[string]string{
		"bash": "bash-completion/completions/ebb", "zsh": "zsh/site-functions/_ebb",
		"fish": "fish/vendor_completions.d/ebb.fish",
	} {
		script, err := exec.Command(ebb, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("cannot get the completion for %s: %w", shell, err)
		}
		r.manuals = append(r.manuals, text(name, script))
	}
	dir := filepath.Join(scratch, "man")
	man := exec.Command(ebb, "man", dir)
	man.Env = append(os.Environ(), fmt.Sprint("SOURCE_DATE_EPOCH=", r.date.Unix()))
	if said, err := man.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot get the manual pages: %w: %s", err, said)
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		page, err := os.ReadFile(filepath.Join(dir, name))
		r.manuals = append(r.manuals, text("man/man1/"+name, page))
		return err
	})
	slices.SortFunc(r.manuals, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return err
}

// archives writes an archive for each platform.
func (r *release) archives() error {
	for _, b := range r.binaries {
		name := fmt.Sprintf("ebb_%s_%s_%s", r.version, b.os, b.arch)
		files := append(below("share", r.manuals), b.program(""), text("LICENSE", r.read("LICENSE")),
			text("README.md", r.read("README.md")))
		files = below(name, files)
		form := func() ([]byte, error) { return tgzOf("", files, r.date) }
		if b.form == "zip" {
			form = func() ([]byte, error) { return zipOf(files, r.date) }
		}
		body, err := form()
		if err != nil {
			return err
		}
		if err := r.write(name+"."+b.form, body); err != nil {
			return err
		}
	}
	return nil
}
