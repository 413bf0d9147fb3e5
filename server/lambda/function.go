package lambda

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A Function is a Lambda function as a template describes it. Only Name, Runtime, and Code or Inline are needed, and
// Handler for the runtimes of languages.
type Function struct {
	// Name is that of the function in its ARN: FunctionName of the resource, else the resource's logical ID.
	Name string
	// Runtime is AWS's identifier, such as python3.13, nodejs22.x, provided.al2023 or go1.x.
	Runtime string
	// Handler names what the runtime calls: app.handler, src/app.handler, or a program of go1.x. The runtimes provided.*
	// run the program bootstrap, and only pass Handler on.
	Handler string
	// Code is the folder with the code: LAMBDA_TASK_ROOT. It is "" if Inline has the code. The caller makes it absolute.
	Code string
	// Inline is the source text in the template: ZipFile or InlineCode. Its module is called index.
	Inline string
	// Layers are the folders with the contents of layers, in the order of the template: the last one wins.
	Layers []string
	// Environment is added to the variables that AWS sets. Names that AWS reserves have no effect.
	Environment map[string]string
	// Timeout bounds an invocation; 0 means [DefaultTimeout].
	Timeout time.Duration
	// MemoryMB bounds the memory of a process, in MiB; 0 means [DefaultMemoryMB].
	MemoryMB int
	// From says where the function is defined, for messages: "template.yaml:12:3".
	From string
}

// Defaults of AWS.
const (
	DefaultTimeout  = 3 * time.Second
	DefaultMemoryMB = 128
)

// Limits of AWS.
const (
	maxTimeout = 15 * time.Minute
	maxMemory  = 10240 // MiB
)

// A Language is what runs the code of a function.
type Language string

// The languages of functions.
const (
	Program Language = "program" // any program that speaks the Runtime API: provided.* and go1.x
	Python  Language = "python"
	Node    Language = "node"
)

// Language returns what runs the code; "" if Ebb does not run this runtime.
func (f *Function) Language() Language {
	switch {
	case strings.HasPrefix(f.Runtime, "provided") || f.Runtime == "go1.x":
		return Program
	case strings.HasPrefix(f.Runtime, "python3"):
		return Python
	case strings.HasPrefix(f.Runtime, "nodejs"):
		return Node
	}
	return ""
}

var nameRule = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Check returns an error if the function cannot be run as it is described. It reads no file.
func (f *Function) Check() error {
	var problem string
	switch {
	case !nameRule.MatchString(f.Name):
		problem = "the name is not valid: want 1 to 64 letters, digits, - and _"
	case f.Language() == "":
		problem = fmt.Sprintf("functions of the runtime %q do not run here (those of python3.*, nodejs*, provided.* and "+
			"go1.x do); call it elsewhere: --lambda-endpoint URL", f.Runtime)
	case (f.Code == "") == (f.Inline == ""):
		problem = "it needs a folder with code, or code in the template, and not both"
	case f.Inline != "" && f.Language() == Program:
		problem = "code in the template is for Python and Node.js only"
	case f.Handler == "" && f.Language() != Program:
		problem = "the property Handler is missing, such as app.handler"
	case f.Timeout < 0 || f.Timeout > maxTimeout:
		problem = fmt.Sprintf("the timeout is not valid: want 1 to %g seconds", maxTimeout.Seconds())
	case f.MemoryMB < 0 || f.MemoryMB > maxMemory:
		problem = fmt.Sprintf("the memory is not valid: want 128 to %d MB", maxMemory)
	default:
		return nil
	}
	return fmt.Errorf("%sfunction %.80q: %s", place(f.From), f.Name, problem)
}

// place returns the place of a function as the beginning of a message.
func place(from string) string {
	if from == "" {
		return ""
	}
	return from + ": "
}

func (f *Function) timeout() time.Duration { return cmp.Or(f.Timeout, DefaultTimeout) }

func (f *Function) memoryMB() int { return cmp.Or(f.MemoryMB, DefaultMemoryMB) }
