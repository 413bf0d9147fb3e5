// Package buildinfo says which program this is.
package buildinfo

import "runtime/debug"

// Read returns the version of the program's module, and the revision that the program was built from. If the build did
// not record them, they are "unknown" and "".
func Read() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			revision = setting.Value
		}
	}
	return info.Main.Version, revision
}
