package definition

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/server/lambda"
)

// buildCommand returns the command that builds the code of a function, and why it cannot run as it is; "" if it can.
func buildCommand(f *lambda.Function) (command, why string) {
	module := filepath.Join(f.Code, filepath.FromSlash(beforeDot(f.Handler)))
	switch f.Language() {
	case lambda.Node:
		if exists(module, ".js", ".mjs", ".cjs") {
			return "", ""
		}
		why = "there is no " + module + ".js"
		if exists(module, ".ts", ".mts", ".tsx") {
			why = module + ".ts is TypeScript"
		}
	case lambda.Python:
		dotted := filepath.Join(f.Code, filepath.FromSlash(strings.ReplaceAll(beforeDot(f.Handler), ".", "/")))
		if exists(module, ".py") || exists(dotted, ".py") {
			return "", ""
		}
		why = "there is no " + module + ".py"
	case lambda.Program:
		program := "bootstrap"
		if f.Runtime == "go1.x" {
			program = filepath.FromSlash(f.Handler)
		}
		if exists(filepath.Join(f.Code, program), "") {
			return "", ""
		}
		why = "there is no program " + filepath.Join(f.Code, program)
	default:
		return "", ""
	}
	return commandOf(f.Code), why
}

func beforeDot(handler string) string {
	before, _, _ := cutLast(handler, ".")
	return before
}

// commandOf returns the command that builds the code in a folder.
func commandOf(code string) string {
	for dir := code; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		switch {
		case strings.HasPrefix(filepath.Base(dir), "asset."), exists(filepath.Join(dir, "cdk.json"), ""):
			return "cdk synth"
		case exists(filepath.Join(dir, "serverless.yml"), ""):
			return "serverless package"
		case exists(filepath.Join(dir, "template"), ".yaml", ".yml", ".json"):
			if text, err := limitedfile.Read(filepath.Join(dir, "package.json"), maxFile); err == nil &&
				!exists(code, "") && bytes.Contains(text, []byte(`"build":`)) {
				return "npm run build"
			}
			return "sam build"
		}
	}
	return "sam build"
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
