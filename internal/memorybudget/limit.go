package memorybudget

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Limit is the amount of memory above which the system kills the process.
type Limit struct {
	Bytes int64  // 0 when no limit was found
	File  string // the group with the limit
}

// Own returns the limit of this process at the time of the first call. Systems without control groups have none.
var Own = sync.OnceValue(func() Limit { return Find(os.DirFS("/")) })

// noLimit is the least number that means no limit. No machine has an exbibyte, and version 1 writes the largest
// multiple of a page.
const noLimit = 1 << 60

// maxRead bounds how much of a file is read. A busy host has thousands of mounts.
const maxRead = 8 << 20

// Find returns the lowest memory limit of the process's control group and its parents, as far as the file system at
// root shows them. A file that cannot be read or understood sets no limit.
func Find(root fs.FS) Limit {
	found := Limit{}
	groups, mounts := groupsIn(read(root, "proc/self/cgroup")), mountsIn(read(root, "proc/self/mountinfo"))
	for _, v := range versions {
		group, in := groups[v.controller]
		if !in {
			continue
		}
		for _, at := range mountsOf(mounts, v, group) {
			found.lower(root, v, at, group)
		}
	}
	return found
}

// A version of control groups.
type version struct {
	kind       string // of file system
	controller string // "" is the only hierarchy of version 2
	files      []string
}

var versions = [...]version{
	// Above high, the kernel slows the process down until it is below
	{"cgroup2", "", []string{"memory.max", "memory.high"}},
	{"cgroup", "memory", []string{"memory.limit_in_bytes", "memory.stat"}},
}

// lower takes over the lowest limit of the groups from the process's own up to the mounted one.
func (l *Limit) lower(root fs.FS, v version, at mount, group string) {
	below, is := within(group, at.root)
	if !is {
		below = "" // the process cannot see its group; the mounted one contains it
	}
	for {
		for _, name := range v.files {
			file := path.Join(at.point, below, name)
			if n := limitIn(name, read(root, strings.TrimPrefix(file, "/"))); n > 0 && (l.Bytes == 0 || n < l.Bytes) {
				*l = Limit{Bytes: n, File: file}
			}
		}
		if below == "" {
			return
		}
		below = strings.TrimPrefix(path.Dir("/"+below), "/")
	}
}

// limitIn returns the limit in a file, or 0.
func limitIn(name string, text []byte) int64 {
	if name == "memory.stat" { // in version 1, includes groups that the process cannot see
		_, rest, _ := bytes.Cut(text, []byte("hierarchical_memory_limit "))
		text, _, _ = bytes.Cut(rest, []byte("\n"))
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || n < 0 || n >= noLimit {
		return 0
	}
	return n
}

// groupsIn returns the process's group in each hierarchy, by controller.
func groupsIn(text []byte) map[string]string {
	groups := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) //nolint:mnd // hierarchy, controllers, path
		if len(fields) < 3 {                                             //nolint:mnd // likewise
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			groups[controller] = path.Clean("/" + fields[2])
		}
	}
	return groups
}

// A mount is a mounted hierarchy of control groups.
type mount struct {
	root, point, kind string
	controllers       []string
}

// mountsIn returns the mounts in a file such as /proc/self/mountinfo.
func mountsIn(text []byte) (all []mount) {
	const root, point, beforeOptional, afterDash = 3, 4, 6, 3
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < beforeOptional || len(tail) < afterDash {
			continue
		}
		all = append(all, mount{
			root: path.Clean("/" + unescape(head[root])), point: path.Clean("/" + unescape(head[point])),
			kind: tail[0], controllers: strings.Split(tail[2], ","),
		})
	}
	return all
}

// mountsOf returns the mounts that show a group. If none does, because the process was moved out of its view, it
// returns all mounts of that version.
func mountsOf(all []mount, v version, group string) []mount {
	all = slices.DeleteFunc(slices.Clone(all), func(m mount) bool {
		return m.kind != v.kind || v.controller != "" && !slices.Contains(m.controllers, v.controller)
	})
	shown := slices.DeleteFunc(slices.Clone(all), func(m mount) bool { _, is := within(group, m.root); return !is })
	if len(shown) > 0 {
		return shown
	}
	return all
}

// within returns the path of a group below another one, or "" for the same group.
func within(group, root string) (below string, is bool) {
	if root == "/" {
		return strings.TrimPrefix(group, "/"), true
	}
	rest, is := strings.CutPrefix(group, root)
	if !is || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// unescape replaces the escapes in a list of mounts, such as \040 for a blank.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+4 <= len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// read returns the start of a file, or nothing if it cannot be read.
func read(root fs.FS, name string) []byte {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	text, _ := io.ReadAll(io.LimitReader(f, maxRead))
	return text
}
