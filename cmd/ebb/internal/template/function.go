package template

import (
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/server/lambda"
)

// addFunction adds a Lambda function.
func (e *evaluator) addFunction(r *resource) {
	f := lambda.Function{
		Name: e.nameOf(r), Environment: map[string]string{}, From: fmt.Sprintf("%s:%d:%d", e.options.File, r.Line, r.Column),
		Runtime: e.say(e.setting(r, "Runtime")), Handler: e.say(e.setting(r, "Handler")),
	}
	if strings.HasPrefix(f.Name, "arn:") {
		f.Name = f.Name[strings.LastIndexByte(f.Name, ':')+1:]
	}
	for _, of := range []*document.Document{e.globals(r), r.properties} {
		maps.Copy(f.Environment, e.texts(e.value(of.Get("Environment")).Get("Variables")))
		for _, layer := range items(e.value(of.Get("Layers"))) {
			e.addLayer(&f, layer)
		}
	}
	if seconds, err := strconv.Atoi(e.say(e.setting(r, "Timeout"))); err == nil && seconds > 0 && seconds < 1<<20 {
		f.Timeout = time.Duration(seconds) * time.Second
	}
	if memory, err := strconv.Atoi(e.say(e.setting(r, "MemorySize"))); err == nil {
		f.MemoryMB = memory
	}
	e.addCode(&f, r)
	e.template.Places[f.Name] = Problem{Place: r.Place, File: e.options.File}
	e.template.Functions = append(e.template.Functions, f)
}

// setting returns a property of a function, or else the one that Globals have; nil if there is none.
func (e *evaluator) setting(r *resource, name string) *document.Document {
	if d := e.property(r, name); d != nil {
		return d
	}
	if d := e.value(e.globals(r).Get(name)); d != noValue {
		return d
	}
	return nil
}

// globals returns the properties that Globals gives to all functions of SAM.
func (e *evaluator) globals(r *resource) *document.Document {
	if r.kind != "AWS::Serverless::Function" {
		return nil
	}
	return e.root.Get("Globals").Get("Function")
}

func items(d *document.Document) []*document.Document {
	if d == nil {
		return nil
	}
	return d.Items
}

// addCode sets the code of a function: text in the template, or a folder.
func (e *evaluator) addCode(f *lambda.Function, r *resource) {
	if asset := r.doc.Get("Metadata").Get("aws:asset:path").Says(); asset != "" { // CDK
		f.Code = e.path(asset)
		return
	}
	code := e.property(r, "Code")
	if inline := e.say(e.setting(r, "InlineCode")) + code.Get("ZipFile").Says(); inline != "" {
		f.Inline = inline
		return
	}
	if image := e.setting(r, "ImageUri"); e.say(e.setting(r, "PackageType")) == "Image" || image != nil ||
		code.Get("ImageUri") != nil {
		e.warnf(r.Place, "the function %s is in an image of a container, which Ebb does not run: map it with "+
			"--task '%s=…', or call it elsewhere with --lambda-endpoint", f.Name, e.arnOf(r))
		return
	}
	switch uri := e.setting(r, "CodeUri"); {
	case uri.Says() != "" && !strings.HasPrefix(uri.Text, "s3://"):
		f.Code = e.path(uri.Text)
	case code.Says() != "": // of aws cloudformation package
		f.Code = e.path(code.Text)
	case code.Get("S3Key") != nil:
		f.Code = e.codeOfKey(e.say(code.Get("S3Key")))
	case r.kind == "AWS::Serverless::Function" && uri == nil:
		f.Code = e.options.Folder
	}
}

// codeOfKey returns the folder of the code that was uploaded under a key: an asset of CDK, or the folder of a project
// of the Serverless Framework, whose package has the files of the project under their own names.
func (e *evaluator) codeOfKey(key string) string {
	if filepath.Base(e.options.Folder) == ".serverless" {
		return filepath.Dir(e.options.Folder)
	}
	name := key[strings.LastIndexByte(key, '/')+1:]
	return e.path("asset." + strings.TrimSuffix(name, ".zip"))
}

// addLayer adds the folder of a layer, which is a resource of the template.
func (e *evaluator) addLayer(f *lambda.Function, layer *document.Document) {
	if e.layers == nil {
		e.layers = map[string]string{}
		for _, r := range e.resources {
			if r.kind == "AWS::Serverless::LayerVersion" || r.kind == "AWS::Lambda::LayerVersion" {
				e.layers[e.arnOf(r)] = e.folderOf(r)
			}
		}
	}
	if folder := e.layers[layer.Text]; folder != "" {
		f.Layers = append(f.Layers, folder)
		return
	}
	e.warnf(layer.Place, "the layer %s of the function %s is not in the template, and is left out", layer.Text, f.Name)
}

// folderOf returns the folder of a layer; "" if it is not on this machine.
func (e *evaluator) folderOf(r *resource) string {
	name := r.doc.Get("Metadata").Get("aws:asset:path").Says()
	if name == "" {
		name = or(e.property(r, "ContentUri"), r.doc).Text
	}
	if name == "" || strings.HasPrefix(name, "s3://") {
		return ""
	}
	return e.path(name)
}
