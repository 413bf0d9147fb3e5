package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/regularfile"
	"github.com/ebbflow/ebb/server/sfn"
)

// A logGroupFile is the file of --log-group. It is opened for each write, so it may be moved away at any time.
type logGroupFile struct{ path string }

// Write appends lines to the file.
func (f logGroupFile) Write(lines []byte) (int, error) {
	file, err := f.open()
	if err != nil {
		return 0, err
	}
	n, err := file.Write(lines)
	return n, errors.Join(err, file.Close())
}

// open opens the file. If the file does not exist, open creates it with access only for the user of this process. It
// never waits for another process.
func (f logGroupFile) open() (file *os.File, err error) {
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return nil, err
	}
	file, err = regularfile.Open(root, filepath.Base(f.path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return file, errors.Join(err, root.Close())
}

// check reports why the file could not be opened, without creating it.
func (f logGroupFile) check() error {
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	info, err := root.Stat(filepath.Base(f.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && !info.Mode().IsRegular():
		err = regularfile.ErrNotRegular
	}
	return errors.Join(err, root.Close())
}

// readLogGroups reads the flags --log-group.
func (f *awsFlags) readLogGroups(c *sfn.Config) error {
	c.LogGroups = map[string]io.Writer{}
	for _, text := range f.logGroups {
		name, path, ok := strings.Cut(text, "=")
		if !ok || name == "" || path == "" {
			return exit.Usagef("--log-group %s: want NAME=FILE", text)
		}
		if c.LogGroups[name] != nil {
			return exit.Usagef("--log-group %s: the log group %s has another file already", text, name)
		}
		file := logGroupFile{path}
		if err := file.check(); err != nil {
			return exit.Usagef("--log-group %s: %w", name, err)
		}
		c.LogGroups[name] = file
	}
	return nil
}

// createLogGroups creates the files of --log-group.
func createLogGroups(c *sfn.Config) error {
	for name, group := range c.LogGroups {
		if _, err := group.Write(nil); err != nil {
			return exit.Usagef("--log-group %s: %w", name, err)
		}
	}
	return nil
}

// warnOfLogs reports why lines of log groups could not be written.
func warnOfLogs(log hclog.Logger) func(error) {
	return func(err error) { log.Error(logevent.LogGroupFailed, logevent.Attributes("error", err)...) }
}
