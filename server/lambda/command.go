package lambda

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// The loaders of the languages import a handler, and call it for the invocations of the Runtime API.
var (
	//go:embed loader.py
	pythonLoader string
	//go:embed loader.js
	nodeLoader string
)

// command returns the command that runs a function, which finds the Runtime API at an address.
func (s *Server) command(ctx context.Context, f *hosted, address string) (*exec.Cmd, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root, err := s.rootOf(f)
	if err != nil {
		return nil, err
	}
	var program string
	var args []string
	switch f.Language() {
	case Python:
		// Neither does output wait in the process, nor are files written beside the code.
		args = []string{"-u", "-B", "-c", pythonLoader}
		program, err = Interpreter(Python)
	case Node:
		program, err = Interpreter(Node)
		args = []string{"--enable-source-maps", "-e", nodeLoader}
	default:
		program, err = f.bootstrap(root)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = root, f.environ(s, s.environment, root, address)
	return cmd, nil
}

// Interpreter returns the program that runs the handlers of a language, or an error if this machine has none.
func Interpreter(l Language) (string, error) {
	names := map[Language][]string{Python: {"python3", "python"}, Node: {"node"}}[l]
	if runtime.GOOS != "windows" && l == Python {
		names = names[:1] // python may be Python 2
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s along PATH (install it, or use the image with Python and Node.js)", names[0])
}

// rootOf returns the folder with the code of a function. The code of an inline function is written to a temporary one.
func (s *Server) rootOf(f *hosted) (string, error) {
	if f.Inline == "" {
		info, err := os.Stat(f.Code)
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a folder (unpack an archive)")
		}
		if err != nil {
			return "", fmt.Errorf("the code of function %s at %s cannot be used: %w", f.Name, f.Code, unwrapped(err))
		}
		return f.Code, nil
	}
	if f.folder != "" {
		return f.folder, nil
	}
	folder, err := os.MkdirTemp("", "ebb-function-")
	if err != nil {
		return "", err
	}
	f.folder, s.folders = folder, append(s.folders, folder)
	return folder, os.WriteFile(filepath.Join(folder, f.file()), []byte(f.Inline), 0o600)
}

// usesModules matches the first word of a line of a module of ECMAScript.
var usesModules = regexp.MustCompile(`(?m)^\s*(import|export)\b`)

// file returns the name of the file of an inline function.
func (f *hosted) file() string {
	switch {
	case f.Language() == Python:
		return "index.py"
	case usesModules.MatchString(f.Inline):
		return "index.mjs"
	default:
		return "index.js"
	}
}

// bootstrap returns the program of a function: in its folder, or in that of a layer.
func (f *hosted) bootstrap(root string) (string, error) {
	name := "bootstrap"
	if f.Runtime == "go1.x" {
		name = f.Handler
	}
	var tried []string
	for _, folder := range slices.Concat([]string{root}, f.Layers) {
		program := filepath.Join(folder, filepath.FromSlash(name))
		info, err := os.Stat(program)
		switch {
		case err != nil || info.IsDir():
			tried = append(tried, program)
		case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
			return "", fmt.Errorf("%s may not be run (chmod +x %s)", program, program)
		default:
			return program, nil
		}
	}
	return "", fmt.Errorf("Couldn't find valid bootstrap(s): [%s]", //nolint:staticcheck // AWS's text
		strings.Join(tried, " "))
}

// unwrapped returns an error of a file without the path.
func unwrapped(err error) error {
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		return broken.Err
	}
	return err
}
