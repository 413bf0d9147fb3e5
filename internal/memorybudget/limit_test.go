package memorybudget

import (
	"strings"
	"testing"
	"testing/fstest"
)

const (
	gib = 1 << 30
	mib = 1 << 20

	mountV2     = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 none rw,nsdelegate\n"
	mountV1     = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup none rw,memory\n"
	mountV1Both = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n" +
		"36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"
	unlimitedV1 = "9223372036854771712\n"
)

// tree returns a file system with these files.
func tree(cgroup, mounts string, files map[string]string) fstest.MapFS {
	root := fstest.MapFS{"proc/self/cgroup": {Data: []byte(cgroup)}, "proc/self/mountinfo": {Data: []byte(mounts)}}
	for name, text := range files {
		root[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// TestFind finds the lowest limit in trees like those of real systems.
func TestFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cgroup, mounts string
		files          map[string]string
		want           Limit
	}{
		"version 2, a service": {
			"0::/system.slice/ebb.service\n", mountV2,
			map[string]string{
				"/sys/fs/cgroup/system.slice/ebb.service/memory.max": "536870912\n",
				"/sys/fs/cgroup/system.slice/memory.max":             "max\n",
			},
			Limit{512 * mib, "/sys/fs/cgroup/system.slice/ebb.service/memory.max"},
		},
		"version 2, the slice has less": {
			"0::/system.slice/ebb.service\n", mountV2,
			map[string]string{
				"/sys/fs/cgroup/system.slice/ebb.service/memory.max": "536870912\n",
				"/sys/fs/cgroup/system.slice/memory.max":             "268435456\n",
			},
			Limit{256 * mib, "/sys/fs/cgroup/system.slice/memory.max"},
		},
		"version 2, high is lower": {
			"0::/a\n", mountV2,
			map[string]string{"/sys/fs/cgroup/a/memory.max": "2147483648\n", "/sys/fs/cgroup/a/memory.high": "1073741824\n"},
			Limit{gib, "/sys/fs/cgroup/a/memory.high"},
		},
		"version 2, no limit": {
			"0::/a/b\n", mountV2,
			map[string]string{"/sys/fs/cgroup/a/b/memory.max": "max\n", "/sys/fs/cgroup/a/b/memory.high": "max\n"},
			Limit{},
		},
		"version 2, a container's own group": {
			"0::/\n", mountV2,
			map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"},
			Limit{gib, "/sys/fs/cgroup/memory.max"},
		},
		"version 2, mounted from the container's group": {
			"0::/docker/abc/inner\n", strings.Replace(mountV2, " / /sys", " /docker/abc /sys", 1),
			map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n", "/sys/fs/cgroup/inner/memory.max": "max\n"},
			Limit{gib, "/sys/fs/cgroup/memory.max"},
		},
		"version 2, moved out of what it sees": {
			"0::/../other\n", strings.Replace(mountV2, " / /sys", " /docker/abc /sys", 1),
			map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"},
			Limit{gib, "/sys/fs/cgroup/memory.max"},
		},
		"version 2, a mount of another group beside": {
			"0::/docker/abc\n", mountV2 + strings.Replace(mountV2, " / /sys/fs/cgroup", " /docker/other /mnt/other", 1),
			map[string]string{"/sys/fs/cgroup/docker/abc/memory.max": "1073741824\n", "/mnt/other/memory.max": "1024\n"},
			Limit{gib, "/sys/fs/cgroup/docker/abc/memory.max"},
		},
		"version 2, a name that begins alike": {
			"0::/docker/abcdef\n", mountV2 + strings.Replace(mountV2, " / /sys/fs/cgroup", " /docker/abc /mnt/other", 1),
			map[string]string{"/mnt/other/memory.max": "1024\n"},
			Limit{},
		},
		"version 2, blanks in the mount point": {
			"0::/a\n", `30 23 0:26 / /mnt/my\040groups rw - cgroup2 none rw` + "\n",
			map[string]string{"/mnt/my groups/a/memory.max": "1073741824\n"},
			Limit{gib, "/mnt/my groups/a/memory.max"},
		},
		"version 1": {
			"4:memory:/ebb\n3:cpuset:/\n0::/\n", mountV1Both,
			map[string]string{
				"/sys/fs/cgroup/memory/ebb/memory.limit_in_bytes": "314572800\n",
				"/sys/fs/cgroup/memory/memory.limit_in_bytes":     unlimitedV1,
			},
			Limit{300 * mib, "/sys/fs/cgroup/memory/ebb/memory.limit_in_bytes"},
		},
		"version 1, two controllers": {
			"4:hugetlb,memory:/ebb\n", strings.Replace(mountV1, "rw,memory", "rw,hugetlb,memory", 1),
			map[string]string{"/sys/fs/cgroup/memory/ebb/memory.limit_in_bytes": "314572800\n"},
			Limit{300 * mib, "/sys/fs/cgroup/memory/ebb/memory.limit_in_bytes"},
		},
		"version 1, no limit": {
			"4:memory:/\n", mountV1,
			map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": unlimitedV1},
			Limit{},
		},
		"version 1, a container": {
			"4:memory:/docker/abc\n", strings.Replace(mountV1, " / /sys", " /docker/abc /sys", 1),
			map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n"},
			Limit{gib, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		},
		"version 1, a group that it cannot see": {
			"4:memory:/docker/abc\n", strings.Replace(mountV1, " / /sys", " /docker/abc /sys", 1),
			map[string]string{
				"/sys/fs/cgroup/memory/memory.limit_in_bytes": unlimitedV1,
				"/sys/fs/cgroup/memory/memory.stat":           "rss 5\nhierarchical_memory_limit 1073741824\nhierarchical_memsw_limit 7\n",
			},
			Limit{gib, "/sys/fs/cgroup/memory/memory.stat"},
		},
		"both versions": {
			"4:memory:/a\n0::/b\n", mountV1Both,
			map[string]string{
				"/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "2147483648\n",
				"/sys/fs/cgroup/unified/b/memory.max":           "1073741824\n",
			},
			Limit{gib, "/sys/fs/cgroup/unified/b/memory.max"},
		},
		"another system": {"", "", nil, Limit{}},
		"nonsense":       {"0\n::\n", "x - y\n\n-\n", map[string]string{"/memory.max": "-5"}, Limit{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Find(tree(c.cgroup, c.mounts, c.files)); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// FuzzFind reads files that no system writes.
func FuzzFind(f *testing.F) {
	f.Add("0::/a/b\n", mountV2, "536870912\n")
	f.Add("4:memory:/a\n0::/\n", mountV1Both, unlimitedV1)
	f.Add("0::/../x\n", `30 23 0:26 /.. /mnt/\040 rw - cgroup2 c rw`+"\n", "max\n")
	f.Fuzz(func(t *testing.T, cgroup, mounts, limit string) {
		files := map[string]string{}
		for _, name := range []string{"memory.max", "a/b/memory.max", "memory/memory.limit_in_bytes", "memory/memory.stat"} {
			files["/sys/fs/cgroup/"+name] = limit
		}
		found := Find(tree(cgroup, mounts, files))
		if found.Bytes < 0 || found.Bytes >= noLimit || (found.Bytes == 0) != (found.File == "") {
			t.Errorf("%+v", found)
		}
	})
}
