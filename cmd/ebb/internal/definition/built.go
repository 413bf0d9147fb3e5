package definition

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/server/lambda"
)

// buildCommand returns the command that builds the code of a function, if it cannot run as it is; "" if it can.
func buildCommand(f *lambda.Function) string {
	switch f.Language() {
	case lambda.Node:
		module := filepath.Join(f.Code, filepath.FromSlash(beforeDot(f.Handler)))
		if !exists(module, ".js", ".mjs", ".cjs") {
			return build(f.Code, "its code is TypeScript or is not there", module, ".ts", ".mts", ".tsx")
		}
	case lambda.Program:
		program := "bootstrap"
		if f.Runtime == "go1.x" {
			program = filepath.FromSlash(f.Handler)
		}
		if !exists(filepath.Join(f.Code, program), "") {
			return build(f.Code, "there is no program "+program, "")
		}
	case lambda.Python:
		if module := filepath.Join(f.Code, filepath.FromSlash(beforeDot(f.Handler))); !exists(module, ".py") &&
			!exists(filepath.Join(f.Code, filepath.FromSlash(strings.ReplaceAll(beforeDot(f.Handler), ".", "/"))), ".py") {
			return build(f.Code, "there is no "+filepath.Base(module)+".py", "")
		}
	}
	return ""
}

func beforeDot(handler string) string {
	before, _, _ := cutLast(handler, ".")
	return before
}

// build returns the command that builds code in a folder, and why that is needed.
func build(code, why, module string, sources ...string) string {
	command := "sam build"
	switch dir := filepath.Base(code); {
	case exists(filepath.Join(code, "cdk.json"), "") || strings.HasPrefix(dir, "asset."):
		command = "cdk synth"
	case exists(filepath.Join(code, "serverless.yml"), ""):
		command = "serverless package"
	}
	if len(sources) > 0 && !exists(module, sources...) {
		why = "there is no " + filepath.Base(module) + ".js or .mjs"
	}
	return "`" + command + "` (" + why + " in " + code + ")"
}

// exists reports whether there is a file with one of the endings.
func exists(name string, endings ...string) bool {
	for _, ending := range endings {
		if _, err := os.Stat(name + ending); err == nil {
			return true
		}
	}
	return false
}
