// Command release makes everything that a release of Ebb consists of, from the commit that is checked out:
//
//	go run . -version v0.1.0 -out ../../dist
//
// The same commit and the same version of Go give the same bytes on every machine.
package main

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	repository  = "https://github.com/ebbflow/ebb"
	summary     = "Durable workflows with built-in undo, in one binary"
	description = summary + `.
Ebb drives flows written in Go, Amazon States Language or SM4C. It commits each
step, resumes after a crash, and reverts what a failed run did.`
)

func main() {
	version := flag.String("version", "", "version to release, such as v0.1.0")
	out := flag.String("out", "../../dist", "folder to write to; what it holds is deleted")
	only := flag.String("only", "", "release for the systems whose names begin so, such as linux/amd64; for trials")
	flag.Parse()
	log.SetFlags(0)
	r, err := newRelease("../..", *version, *out, *only)
	if err == nil {
		err = r.make()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A release is a version of Ebb that is being made.
type release struct {
	root, out string
	only      string // systems
	version   string // without v, as in names of files
	revision  string
	date      time.Time // of the commit, also of every file
	binaries  []binary
	manuals   []file // manual pages and completions, below usr/share
	sums      strings.Builder
}

// newRelease reads what is checked out at root.
func newRelease(root, version, out, only string) (*release, error) {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`).MatchString(version) {
		return nil, fmt.Errorf("version %q is not like v0.1.0 or v0.1.0-rc.1", version)
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	said, err := exec.Command("git", "-C", root, "log", "-1", "--format=%H %ct").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot read the commit of %s: %w", root, err)
	}
	revision, seconds, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	epoch, err := strconv.ParseInt(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), seconds), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	return &release{
		root: root, out: out, only: only,
		version: strings.TrimPrefix(version, "v"), revision: revision, date: time.Unix(epoch, 0).UTC(),
	}, nil
}

// make writes all files of the release, and their sums.
func (r *release) make() error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{
		r.build, r.archives, r.debs, r.rpms, r.image, r.npm, r.wheels, r.bom, r.formula,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(r.sums.String()), 0o644)
}

// write writes a file of the release and notes its sum.
func (r *release) write(name string, body []byte) error {
	fmt.Fprintf(&r.sums, "%x  %s\n", sha256.Sum256(body), name)
	return os.WriteFile(filepath.Join(r.out, name), body, 0o644)
}

// read returns a file of the checkout.
func (r *release) read(name string) []byte {
	body, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		log.Fatal(err)
	}
	return body
}
