package server

import "io/fs"

// othersOf returns 0, because modes do not show permissions on Windows.
func othersOf(fs.FileInfo) fs.FileMode { return 0 }
