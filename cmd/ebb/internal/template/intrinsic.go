package template

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// errNotYAML is the error for a file whose content must not be quoted.
var errNotYAML = errors.New("it is not valid JSON or YAML")

// errNoTemplate is the error for a file of a nested stack that is something else.
var errNoTemplate = errors.New("it is not a template")

// A function calls an intrinsic function: d is the call, of its argument.
type function func(e *evaluator, d, of *document.Document) *document.Document

// functions are the intrinsic functions by their names. Those that only conditions use are in [evaluator.isTrue].
var functions map[string]function

func init() { //nolint:gochecknoinits // the functions call each other by this table
	functions = map[string]function{
		"Ref": callRef, "Fn::GetAtt": callGetAtt, "Fn::Sub": callSub, "Fn::Join": callJoin, "Fn::Select": callSelect,
		"Fn::Split": callSplit, "Fn::If": callIf, "Fn::FindInMap": callFindInMap, "Fn::ImportValue": callImportValue,
		"Fn::Base64": callBase64, "Fn::GetAZs": callGetAZs, "Fn::ToJsonString": callToJSONString, "Fn::Length": callLength,
		"Fn::Transform": callTransform, "Fn::Cidr": callCidr,
	}
}

// wrong reports a call with wrong arguments.
func (e *evaluator) wrong(d *document.Document, want string) *document.Document {
	e.problemf(d.Place, "%s: want %s", d.Members[0].Name, want)
	return text(d, "")
}

func callRef(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.Text {
		return e.wrong(d, "the name of a parameter or resource")
	}
	return e.ref(d, of.Text)
}

// ref returns what a name stands for.
func (e *evaluator) ref(at *document.Document, name string) *document.Document {
	if value := e.pseudo(at, name); value != nil {
		return value
	}
	if value, is := e.parameter(at, name); is {
		return value
	}
	if r := e.resource(name); r != nil {
		return e.makes(at, e.refOf(r))
	}
	return e.unresolved(at, name, "the template has no parameter or resource "+name+
		e.nearResource(name, name, e.template.names...))
}

func callGetAtt(e *evaluator, d, of *document.Document) *document.Document {
	var name, attribute string
	switch {
	case of.Kind == document.Text:
		name, attribute, _ = strings.Cut(of.Text, ".")
	case of.Kind == document.List && len(of.Items) == 2:
		name, attribute = of.Items[0].Says(), e.say(of.Items[1])
	default:
		return e.wrong(d, "a resource and an attribute")
	}
	return e.attribute(d, name, attribute)
}

// attribute returns an attribute of a resource.
func (e *evaluator) attribute(at *document.Document, name, attribute string) *document.Document {
	r := e.resource(name)
	if r == nil {
		return e.unresolved(at, name+"."+attribute,
			"the template has no resource "+name+e.nearResource(name, name+"."+attribute))
	}
	if value, is := e.attributeOf(r, attribute); is {
		return e.makes(at, value)
	}
	return e.unresolved(at, name+"."+attribute, "Ebb does not know the attribute "+attribute+" of "+r.kind)
}

func callSub(e *evaluator, d, of *document.Document) *document.Document {
	of, names := subArguments(of)
	if of == nil {
		return e.wrong(d, "a text, or a text and an object of values")
	}
	s, _ := substitute(of.Text, e.lookup(of, e.texts(names)), e.left())
	return e.makes(of, s)
}

// left returns how many bytes functions may still make.
func (e *evaluator) left() int { return max(maxMade-*e.made, 0) }

// subArguments returns the text of Fn::Sub and its own names; nil if the arguments are wrong.
func subArguments(of *document.Document) (template, names *document.Document) {
	switch {
	case of.Kind == document.Text:
		return of, nil
	case of.Kind == document.List && len(of.Items) == 2 && of.Items[0].Kind == document.Text:
		return of.Items[0], of.Items[1]
	case of.Kind == document.List && len(of.Items) == 1 && of.Items[0].Kind == document.Text:
		return of.Items[0], nil
	}
	return nil, nil
}

// lookup returns the values of names in the text of Fn::Sub.
func (e *evaluator) lookup(at *document.Document, own map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		name = strings.TrimSpace(name)
		if literal, is := strings.CutPrefix(name, "!"); is {
			return "${" + literal + "}", true
		}
		if value, is := own[name]; is {
			return value, true
		}
		resource, attribute, is := strings.Cut(name, ".")
		if !is {
			return e.say(e.ref(at, name)), true
		}
		return e.say(e.attribute(at, resource, attribute)), true
	}
}

func callJoin(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.List || len(of.Items) != 2 {
		return e.wrong(d, "a separator and a list")
	}
	separator, list := e.say(of.Items[0]), e.value(of.Items[1])
	if list.Kind != document.List {
		return e.makes(d, e.say(list))
	}
	var b strings.Builder
	for i, item := range list.Items {
		if i > 0 {
			b.WriteString(separator)
		}
		if b.WriteString(e.say(item)); b.Len() > e.left() {
			break
		}
	}
	return e.makes(d, b.String())
}

func callSelect(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.List || len(of.Items) != 2 {
		return e.wrong(d, "an index and a list")
	}
	list := e.value(of.Items[1])
	i, err := strconv.Atoi(e.say(of.Items[0]))
	switch {
	case e.isUnresolved(list):
		return e.makes(d, e.say(list)) // of which no part is known
	case err != nil || list.Kind != document.List || i < 0 || i >= len(list.Items):
		return e.wrong(d, "an index within the list")
	}
	return list.Items[i]
}

// isUnresolved reports whether a value is a placeholder, or the parts of one.
func (e *evaluator) isUnresolved(d *document.Document) bool {
	return strings.HasPrefix(e.say(d), "${")
}

func callSplit(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.List || len(of.Items) != 2 || e.say(of.Items[0]) == "" {
		return e.wrong(d, "a separator and a text")
	}
	list := &document.Document{Place: d.Place, Kind: document.List}
	for part := range strings.SplitSeq(e.say(of.Items[1]), e.say(of.Items[0])) {
		list.Items = append(list.Items, e.makes(d, part))
		if e.left() == 0 {
			break
		}
	}
	return list
}

func callIf(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.List || len(of.Items) != 3 {
		return e.wrong(d, "a condition and two values")
	}
	if e.holds(of.Items[0]) {
		return e.value(of.Items[1])
	}
	return e.value(of.Items[2])
}

func callFindInMap(e *evaluator, d, of *document.Document) *document.Document {
	if of.Kind != document.List || len(of.Items) < 3 {
		return e.wrong(d, "a mapping and two keys")
	}
	first, second := e.say(of.Items[1]), e.say(of.Items[2])
	found := e.member(e.member(e.member(e.root.Get("Mappings"), e.say(of.Items[0])), first), second)
	if found == nil && len(of.Items) == 4 {
		if found = e.value(of.Items[3]).Get("DefaultValue"); found != nil {
			return found
		}
	}
	if found == nil {
		return e.unresolved(d, e.say(of.Items[0])+"."+first+"."+second, "the mapping "+e.say(of.Items[0])+
			" has no value for "+first+", "+second)
	}
	return e.value(found)
}

func callImportValue(e *evaluator, d, of *document.Document) *document.Document {
	name := e.say(of)
	return e.unresolved(d, name, "the value "+name+" is of another stack")
}

func callBase64(e *evaluator, d, of *document.Document) *document.Document {
	return e.makes(d, base64.StdEncoding.EncodeToString([]byte(e.say(of))))
}

func callGetAZs(e *evaluator, d, of *document.Document) *document.Document {
	region := e.say(of)
	if region == "" {
		region = e.options.Region
	}
	list := &document.Document{Place: d.Place, Kind: document.List}
	for _, zone := range "abc" {
		list.Items = append(list.Items, e.makes(d, region+string(zone)))
	}
	return list
}

func callCidr(e *evaluator, d, _ *document.Document) *document.Document {
	return e.unresolved(d, "Fn::Cidr", "Fn::Cidr is not supported")
}

func callToJSONString(e *evaluator, d, of *document.Document) *document.Document {
	printed, _ := e.value(of).Print()
	return e.makes(d, strings.ReplaceAll(string(printed), "\n", "")) // Print has line breaks between tokens only
}

func callLength(e *evaluator, d, of *document.Document) *document.Document {
	return &document.Document{Place: d.Place, Text: strconv.Itoa(len(e.value(of).Items))}
}

// callTransform calls a macro: only AWS::Include, which includes a file.
func callTransform(e *evaluator, _, of *document.Document) *document.Document { return e.included(of) }

// included returns the content of the file that AWS::Include names, with functions called.
func (e *evaluator) included(call *document.Document) *document.Document {
	none := &document.Document{Place: call.Place, Kind: document.Object}
	if name := e.say(call.Get("Name")); name != "AWS::Include" {
		e.problemf(call.Place, "the macro %s is not known here", name)
		return none
	}
	name := e.say(call.Get("Parameters").Get("Location"))
	if strings.HasPrefix(name, "s3://") {
		e.problemf(call.Place, "AWS::Include: the file %s is not on this machine", name)
		return none
	}
	d, err := e.read(name)
	if err != nil {
		e.problemf(call.Place, "AWS::Include: the file %q: %v", name, err)
		return none
	}
	return e.value(d)
}

// read reads a file of JSON or YAML, and counts its size. Its error does not quote it.
func (e *evaluator) read(name string) (*document.Document, error) {
	content, err := e.options.Read(e.path(name), int64(e.left()))
	if err != nil {
		return nil, err
	}
	*e.made += len(content)
	d, err := document.ParseYAML(content) // JSON is YAML
	if err != nil {
		return nil, errNotYAML
	}
	return d, nil
}
