package crawler_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// The name of a folder's list, and of one that is being written.
const (
	sums    = "SHA256SUMS"
	newSums = ".SHA256SUMS.new"
)

// A listing is what a folder has in it, as scan found it.
type listing struct {
	Path    string   `json:"path"`
	Folders []string `json:"folders"`          // paths
	Files   []string `json:"files"`            // names
	Before  *string  `json:"before,omitempty"` // the list that was there; nil when there was none
}

// A total is what a crawl has come to.
type total struct {
	Folders int   `json:"folders"`
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
}

func (t total) plus(u total) total {
	return total{t.Folders + u.Folders, t.Files + u.Files, t.Bytes + u.Bytes}
}

func (t total) String() string {
	return fmt.Sprintf("%d folders, %d files, %d bytes", t.Folders, t.Files, t.Bytes)
}

// An Archive is a folder of real files. Nothing that is done to it affects files outside, for any links in it.
type Archive struct {
	root *os.Root
	did  func(what string) // receives each change; may be nil
}

// Tasks returns what the flow knows the tasks by. A task's input is what the
// language gives it, whole.
func (a *Archive) Tasks() *tasks.Registry {
	r := &tasks.Registry{}
	r.Add("scan", atom.Func("scan", a.scan).Body())
	r.Add("sums", atom.Pair("sums", a.sum, a.restore).Body())
	return r
}

// scan looks into a folder. That changes nothing, so there is no undo. Its result is committed. The rest of the run
// uses that result, even if the folder changes meanwhile, or a list was written and not recorded.
func (a *Archive) scan(_ context.Context, folder string) (listing, error) {
	found := listing{Path: folder, Folders: []string{}, Files: []string{}}
	entries, err := fs.ReadDir(a.root.FS(), folder)
	if err != nil {
		return found, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			found.Folders = append(found.Folders, path.Join(folder, e.Name()))
		case e.Name() == sums:
			text, err := a.root.ReadFile(path.Join(folder, sums))
			if err != nil {
				return found, err
			}
			found.Before = new(string(text))
		case e.Type().IsRegular() && e.Name() != newSums:
			found.Files = append(found.Files, e.Name())
		}
	}
	return found, nil
}

// sum writes the list of a folder. If the outcome of a call is unknown, sum is
// called again and writes the same list again.
func (a *Archive) sum(ctx context.Context, in *listing) (total, error) {
	did := total{Folders: 1, Files: len(in.Files)}
	var list strings.Builder
	for _, name := range in.Files {
		if err := ctx.Err(); err != nil { // the run is cancelled, or the process is to stop
			return did, err
		}
		sum, size, err := a.checksum(path.Join(in.Path, name))
		if err != nil {
			return did, err
		}
		if was, ok := in.listed(name); ok && was != sum {
			return did, atom.Errorf("Damaged", "%s is not what %s says", path.Join(in.Path, name), path.Join(in.Path, sums))
		}
		list.WriteString(sum + "  " + name + "\n")
		did.Bytes += size
	}
	err := a.replace(in.Path, list.String())
	a.tell("write " + in.Path)
	return did, err
}

// restore puts back the earlier list. It does not ask how sum ended: the right state afterwards is the same whether or
// not the list was written, and doing it twice does no harm.
func (a *Archive) restore(_ context.Context, in *listing, _ atom.Outcome[total]) error {
	var err error
	if in.Before != nil {
		err = a.replace(in.Path, *in.Before)
	} else {
		err = errors.Join(a.remove(path.Join(in.Path, newSums)), a.remove(path.Join(in.Path, sums)))
	}
	a.tell("restore " + in.Path)
	return err
}

// replace changes a folder's list from one moment to the next.
func (a *Archive) replace(folder, text string) error {
	file := path.Join(folder, newSums)
	if err := a.root.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return a.root.Rename(file, path.Join(folder, sums))
}

func (a *Archive) remove(file string) error {
	if err := a.root.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (a *Archive) tell(what string) {
	if a.did != nil {
		a.did(what)
	}
}

func (a *Archive) checksum(file string) (sum string, size int64, err error) {
	f, err := a.root.Open(file)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), size, err
}

// listed returns the checksum that the list had for a file.
func (l *listing) listed(name string) (string, bool) {
	if l.Before == nil {
		return "", false
	}
	for entry := range strings.Lines(*l.Before) {
		if sum, file, ok := strings.Cut(strings.TrimSpace(entry), "  "); ok && file == name {
			return sum, true
		}
	}
	return "", false
}

// line returns the line of a list for a file of that content.
func line(content, name string) string {
	return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), name)
}

// newArchive makes an archive of files in a folder of its own, which remove
// removes.
func newArchive(files map[string]string) (a *Archive, remove func()) {
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		panic(err)
	}
	a = openArchive(dir)
	for name, content := range files {
		a.Write(name, content)
	}
	return a, func() {
		if err := errors.Join(a.root.Close(), os.RemoveAll(dir)); err != nil {
			panic(err)
		}
	}
}

func openArchive(dir string) *Archive {
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	return &Archive{root: root}
}

// Write puts a file into the archive.
func (a *Archive) Write(name, content string) {
	if err := errors.Join(a.root.MkdirAll(path.Dir(name), 0o700), a.root.WriteFile(name, []byte(content),
		0o600)); err != nil {
		panic(err)
	}
}

// Contents returns what the archive has in it, by path.
func (a *Archive) Contents() map[string]string {
	all := map[string]string{}
	err := fs.WalkDir(a.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := a.root.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		panic(err)
	}
	return all
}

// Files returns the paths of the files in the archive, sorted.
func (a *Archive) Files() []string {
	var names []string
	for name := range a.Contents() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
