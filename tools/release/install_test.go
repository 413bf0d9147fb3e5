package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

var only = flag.String("only", "", "test a release for the systems whose names begin so, such as linux/amd64")

// Two releases of the commit that is checked out: 0.1.0, and 0.1.1 of this machine's system alone.
var first, second *release

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "ebb-dist")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		first = released("../..", filepath.Join(dir, "first"), "v0.1.0", *only)
		second = released("../..", filepath.Join(dir, "second"), "v0.1.1", runtime.GOOS+"/"+runtime.GOARCH)
		return m.Run()
	}())
}

func released(root, out, version, only string) *release {
	r, err := newRelease(root, version, out, only)
	if err == nil {
		err = r.make()
	}
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// asset returns the name of the only file of a release that matches a pattern.
func asset(t *testing.T, r *release, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(r.out, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s matches %d files (%v)", pattern, len(names), err)
	}
	return names[0]
}

// command returns a command without the environment of this test.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}
	return cmd
}

// said runs a command and returns its output.
func said(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// needs skips a test if this machine lacks a program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s: it is not on this machine", program)
	}
}

// works fails unless the ebb that was installed says what it is, and runs a machine on a database.
func works(t *testing.T, r *release, ebb func(args ...string) *exec.Cmd) {
	t.Helper()
	var is struct{ Version, Revision, Date string }
	out, err := ebb("version", "-o", "json").Output()
	if err != nil || json.Unmarshal(out, &is) != nil {
		t.Fatalf("ebb version: %v %s", err, out)
	}
	if is.Version != "v"+r.version || is.Revision != r.revision || is.Date != r.date.Format(time.RFC3339) {
		t.Errorf("it is %+v, not %s of %s, %s", is, r.version, r.revision, r.date)
	}
	const machine = `{"StartAt": "P", "States": {"P": {"Type": "Pass", "Result": "passed", "End": true}}}`
	run := ebb("run", "pass.asl.json")
	dir := run.Dir
	if run.SysProcAttr != nil {
		dir = filepath.Join(run.SysProcAttr.Chroot, dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "pass.asl.json"), []byte(machine), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := said(t, run); !strings.Contains(got, "passed") {
		t.Errorf("%s: %s", run, got)
	}
}

// at returns commands of a program in one folder.
func at(t *testing.T, program string) func(args ...string) *exec.Cmd {
	dir := t.TempDir()
	return func(args ...string) *exec.Cmd {
		cmd := command(t, program, args...)
		cmd.Dir = dir
		return cmd
	}
}

// unpack unpacks a tar archive, compressed or not.
func unpack(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else {
			var body []byte
			if body, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, body, fs.FileMode(h.Mode))
			}
		}
		if err == nil {
			err = errors.Join(os.Lchown(to, h.Uid, h.Gid), os.Chmod(to, fs.FileMode(h.Mode)))
		}
		if err != nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
	}
}

// TestTwice: one commit gives the same bytes again, in another folder.
func TestTwice(t *testing.T) {
	again := released(cloned(t), t.TempDir(), "v0.1.1", second.only)
	if again.sums.String() != second.sums.String() {
		t.Errorf("the clone of this commit gives, if there are no changes that are not committed,\n%s\nand this folder\n%s", &again.sums, &second.sums)
	}
}

// cloned returns a clone of the repository.
func cloned(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "ebb")
	said(t, command(t, "git", "clone", "-q", root, clone))
	return clone
}

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	said(t, command(t, "tar", "-xzf", asset(t, first, "*_linux_amd64.tar.gz"), "-C", dir))
	dir = filepath.Join(dir, "ebb_0.1.0_linux_amd64")
	works(t, first, at(t, filepath.Join(dir, "ebb")))
	for _, name := range []string{
		"LICENSE", "README.md", "share/man/man1/ebb.1", "share/man/man1/ebb-run.1", "share/bash-completion/completions/ebb",
		"share/zsh/site-functions/_ebb", "share/fish/vendor_completions.d/ebb.fish",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	said(t, command(t, "bash", "-c", "source "+filepath.Join(dir, "share/bash-completion/completions/ebb")))
	sums := command(t, "sha256sum", "--check", "--strict", "checksums.txt")
	sums.Dir = first.out
	said(t, sums)
}

// TestCross: what this machine cannot run is a program for its system.
func TestCross(t *testing.T) {
	if *only != "" {
		t.Skip("-only: there are no releases for other systems")
	}
	for name, magic := range map[string]string{
		"*_darwin_arm64.tar.gz": "\xcf\xfa\xed\xfe\x0c", "*_darwin_amd64.tar.gz": "\xcf\xfa\xed\xfe\x07", "*_windows_amd64.zip": "MZ",
	} {
		var body []byte
		if name := asset(t, first, name); strings.HasSuffix(name, ".zip") {
			r, err := zip.OpenReader(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := r.Open("ebb_0.1.0_windows_amd64/ebb.exe")
			if err != nil {
				t.Fatal(err)
			}
			body, _ = io.ReadAll(f)
		} else {
			body = []byte(said(t, command(t, "tar", "-xzOf", name, strings.TrimSuffix(filepath.Base(name), ".tar.gz")+"/ebb")))
		}
		if !bytes.HasPrefix(body, []byte(magic)) {
			t.Errorf("%s has no program: %q", name, body[:min(len(body), 8)])
		}
	}
}

func TestRPM(t *testing.T) {
	needs(t, "rpm")
	root := t.TempDir()
	name := asset(t, first, "*.x86_64.rpm")
	rpm := func(args ...string) {
		t.Helper()
		said(t, command(t, "rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm", "--nodeps"}, args...)...))
	}
	rpm("--install", "--noscripts", name)
	rpm("--verify", "ebb")
	works(t, first, at(t, filepath.Join(root, "usr/bin/ebb")))
	if configs := said(t, command(t, "rpm", "--query", "--configfiles", "--package", name)); configs != "/etc/ebb/ebb.yaml\n" {
		t.Errorf("configuration files are %q", configs)
	}
	if scripts := said(t, command(t, "rpm", "--query", "--scripts", "--package", name)); !strings.Contains(scripts, "systemd-sysusers --root") {
		t.Errorf("scripts are %s", scripts)
	}
	rpm("--upgrade", "--noscripts", asset(t, second, "*.x86_64.rpm"))
	works(t, second, at(t, filepath.Join(root, "usr/bin/ebb")))
}

// TestImage starts the image's command in its own files, as its own user, as a container's runtime does.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: to change the root folder")
	}
	layout, root := t.TempDir(), t.TempDir()
	archive, err := os.Open(asset(t, first, "*_image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	unpack(t, archive, layout)
	type descriptor struct {
		Digest   string
		Platform struct{ OS, Architecture string }
	}
	var doc struct {
		Manifests []descriptor
		Layers    []descriptor
		Config    descriptor
	}
	read := func(name string, to any) {
		t.Helper()
		body, err := os.ReadFile(filepath.Join(layout, name))
		if err == nil {
			err = json.Unmarshal(body, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	blob := func(d descriptor) string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }
	read("index.json", &doc)
	read(blob(doc.Manifests[0]), &doc)
	if *only == "" && len(doc.Manifests) != 2 {
		t.Errorf("the image is for %v", doc.Manifests)
	}
	read(blob(doc.Manifests[0]), &doc)
	for _, layer := range doc.Layers {
		f, err := os.Open(filepath.Join(layout, blob(layer)))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		unpack(t, z, root)
	}
	var config struct {
		Config struct {
			Env, Entrypoint, Cmd         []string
			User, WorkingDir, StopSignal string
		}
	}
	read(blob(doc.Config), &config)
	// The image with interpreters, which is built from this one, is started likewise.
	functions, err := os.ReadFile(filepath.Join("..", "..", "deploy", "functions.Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for instruction, value := range map[string]any{
		"USER": config.Config.User, "WORKDIR": config.Config.WorkingDir, "STOPSIGNAL": config.Config.StopSignal,
		"ENTRYPOINT": config.Config.Entrypoint, "CMD": config.Config.Cmd,
	} {
		want, is := value.(string)
		if !is {
			list, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			want = strings.ReplaceAll(string(list), ",", ", ")
		}
		if !strings.Contains(string(functions), "\n"+instruction+" "+want+"\n") {
			t.Errorf("deploy/functions.Dockerfile has another %s than %s", instruction, want)
		}
	}
	in := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), config.Config.Entrypoint[0], args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: nonroot, Gid: nonroot}}
		cmd.Dir, cmd.Env = "/data", config.Config.Env
		return cmd
	}
	works(t, first, in)
	said(t, in(append(config.Config.Cmd, "--check")...))
	said(t, in("schedule", "add", "nightly", "TZ=Europe/Rome 30 2 * * *", "pass"))
	authorities, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(authorities) {
		t.Errorf("no certificate authorities: %v", err)
	}
}

func TestNPM(t *testing.T) {
	needs(t, "npm")
	install := command(t, "npm", "install", "--no-audit", "--no-fund", "--omit=optional", asset(t, first, "ebbflow-ebb-linux-x64-*.tgz"), asset(t, first, "ebbflow-ebb-0*.tgz"))
	said(t, install)
	works(t, first, at(t, filepath.Join(install.Dir, "node_modules/.bin/ebb")))
	missing := command(t, filepath.Join(install.Dir, "node_modules/.bin/ebb"), "no-such-command")
	if err := missing.Run(); err == nil || missing.ProcessState.ExitCode() != 2 {
		t.Errorf("a wrong command ends with %v", err)
	}
}

func TestWheel(t *testing.T) {
	needs(t, "python3")
	install := command(t, "python3", "-m", "venv", "env")
	said(t, install)
	python := filepath.Join(install.Dir, "env/bin/python")
	said(t, command(t, python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", asset(t, first, "*manylinux*x86_64*.whl")))
	works(t, first, at(t, filepath.Join(install.Dir, "env/bin/ebb")))
	said(t, command(t, python, "-m", "pip", "check"))
}

// TestGoInstall installs the command and the library from the tags of a clone, as from the repository.
func TestGoInstall(t *testing.T) {
	clone := cloned(t)
	tag := command(t, "bash", "tools/release/tag", "v0.1.0")
	tag.Dir = clone
	tag.Env = append(tag.Env, "GIT_AUTHOR_NAME=ci", "GIT_AUTHOR_EMAIL=ci@localhost", "GIT_COMMITTER_NAME=ci", "GIT_COMMITTER_EMAIL=ci@localhost")
	said(t, tag)
	env := func(name string) string {
		return strings.TrimSpace(said(t, exec.CommandContext(t.Context(), "go", "env", name)))
	}
	bin := t.TempDir()
	install := command(t, "go", "install", "github.com/ebbflow/ebb/cmd/ebb@v0.1.0")
	cache := "file://" + env("GOMODCACHE") + "/cache/download," + env("GOPROXY")
	install.Env = append(install.Env, "GOBIN="+bin, "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "CGO_ENABLED=0", "GOCACHE="+env("GOCACHE"),
		"GOMODCACHE="+t.TempDir(), "GOPROXY="+cache, "GONOSUMDB=*", "GONOPROXY=github.com/ebbflow/*",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/ebbflow/ebb")
	said(t, install)
	if is := said(t, command(t, filepath.Join(bin, "ebb"), "version")); !strings.HasPrefix(is, "ebb v0.1.0, ") {
		t.Errorf("it says %s", is)
	}
}
