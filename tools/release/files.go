package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// A file is a file or folder in an archive.
type file struct {
	name  string // relative, with slashes
	body  []byte
	mode  fs.FileMode
	owner int // of user and group
}

// text returns a file that everyone may read.
func text(name string, body []byte) file { return file{name: name, body: body, mode: 0o644} }

// below returns the files in a folder.
func below(folder string, files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		files[i].name = path.Join(folder, files[i].name)
	}
	return files
}

// withFolders returns the files in order of their names, and each folder before what it holds.
func withFolders(files []file) []file {
	all := slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			if !slices.ContainsFunc(all, func(o file) bool { return o.name == dir }) {
				all = append(all, file{name: dir, mode: fs.ModeDir | 0o755})
			}
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all
}

// tarOf returns a tar archive. Names begin with the prefix.
func tarOf(prefix string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{
			Name: prefix + f.name, Mode: int64(f.mode.Perm()), Uid: f.owner, Gid: f.owner, Size: int64(len(f.body)),
			ModTime: date, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if f.mode.IsDir() {
			h.Name += "/"
			h.Typeflag = tar.TypeDir
		}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipOf returns the compressed body.
func gzipOf(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// tgzOf returns a compressed tar archive.
func tgzOf(prefix string, files []file, date time.Time) ([]byte, error) {
	body, err := tarOf(prefix, files, date)
	if err != nil {
		return nil, err
	}
	return gzipOf(body)
}

// zipOf returns a ZIP archive.
func zipOf(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
