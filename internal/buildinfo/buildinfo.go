// Package buildinfo says which program this is.
package buildinfo

import "runtime/debug"

// A release sets these by the linker (tools/release).
var version, revision, date string

// Read returns the version of the program's module, the commit that the program was built from, and the commit's date.
// If the build did not record them, they are "unknown", "" and "".
func Read() (ofModule, commit, committed string) {
	if version != "" {
		return version, revision, date
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "", ""
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			commit = setting.Value
		case "vcs.time":
			committed = setting.Value
		}
	}
	return info.Main.Version, commit, committed
}
