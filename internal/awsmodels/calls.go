package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/awsshape"
)

// A callModel is the part of an api-2.json that calls need.
type callModel struct {
	Metadata   metadata `json:"metadata"`
	Operations map[string]struct {
		Input  *callMember `json:"input"`
		Output *callMember `json:"output"`
	} `json:"operations"`
	Shapes map[string]*callShape `json:"shapes"`
}

type callMember struct {
	Shape           string `json:"shape"`
	Document        bool   `json:"document"`
	Flattened       bool   `json:"flattened"`
	LocationName    string `json:"locationName"`
	Token           bool   `json:"idempotencyToken"`
	TimestampFormat string `json:"timestampFormat"`
}

type callShape struct {
	Type      string                 `json:"type"`
	Members   map[string]*callMember `json:"members"`
	Member    *callMember            `json:"member"`
	Key       *callMember            `json:"key"`
	Value     *callMember            `json:"value"`
	Flattened bool                   `json:"flattened"`
	Document  bool                   `json:"document"`
	Exception bool                   `json:"exception"`
	Error     struct {
		Code string `json:"code"`
	} `json:"error"`
	TimestampFormat string `json:"timestampFormat"`
}

// generateCalls writes the archive of package engine/awscall: a file for each service. For services whose protocol the
// package does not have, the file only names the protocol.
func generateCalls(models, out string) error {
	services, err := newest(models, func(m *callModel) metadata { return m.Metadata })
	if err != nil {
		return err
	}
	return archive(out, services, (*callModel).text)
}

// text returns the lines of a service.
func (m *callModel) text() string {
	d := m.Metadata
	name := awsshape.SDKName(d.id())
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "Amazon"), "Aws"), "Service")
	lines := []string{strings.Join([]string{
		"=", d.Protocol, cmp.Or(d.JSONVersion, "-"), cmp.Or(d.TargetPrefix, "-"), cmp.Or(d.SigningName, d.EndpointPrefix),
		d.APIVersion, name,
	}, " ")}
	if d.Protocol != "json" && d.Protocol != "query" {
		return lines[0] + "\n"
	}
	needed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.Operations)) {
		o := m.Operations[name]
		lines = append(lines, operationName(name)+" "+m.ends(o.Input, needed)+" "+m.ends(o.Output, needed))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Shapes)) {
		if s := m.Shapes[name]; s.Exception {
			lines = append(lines, "!"+cmp.Or(s.Error.Code, name)+" "+exceptionName(name))
		}
	}
	return withShapes(lines, needed, func(shape string) string { return m.body(m.Shapes[shape], needed) })
}

// exceptionName returns the AWS SDK for Java 2's name for the error of a shape.
func exceptionName(shape string) string {
	if base, ok := strings.CutSuffix(shape, "Fault"); ok {
		return awsshape.SDKName(base) + "Exception"
	}
	return strings.TrimSuffix(awsshape.SDKName(shape), "Exception") + "Exception"
}

// ends returns the input or the output of an operation, or - without one.
func (m *callModel) ends(of *callMember, needed map[string]bool) string {
	if of == nil {
		return "-"
	}
	needed[of.Shape] = true
	return "@" + of.Shape
}

// use returns a reference to a shape: simple shapes are written out, others are named.
func (m *callModel) use(r *callMember, needed map[string]bool) string {
	s := m.Shapes[r.Shape]
	switch {
	case r.Document || s.Document:
		return "*"
	case r.Token:
		return "k"
	case r.TimestampFormat != "" || s.Type == "timestamp":
		return timestamp(cmp.Or(r.TimestampFormat, s.TimestampFormat))
	case s.Type != "structure" && s.Type != "list" && s.Type != "map":
		return m.body(s, needed)
	case s.Type == "list" && (r.Flattened || r.LocationName != "" && s.Flattened):
		return m.body(&callShape{Type: s.Type, Member: s.Member, Flattened: true}, needed)
	}
	needed[r.Shape] = true
	return "@" + r.Shape
}

// timestamp returns the kind of a timestamp: the protocol's own, ISO 8601, or seconds.
func timestamp(format string) string {
	switch format {
	case "iso8601":
		return "i"
	case "unixTimestamp":
		return "u"
	default:
		return "t"
	}
}

func (m *callModel) body(s *callShape, needed map[string]bool) string {
	flat := ""
	if s.Flattened && m.Metadata.Protocol == "query" {
		flat = "~"
	}
	switch s.Type {
	case "structure":
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(s.Members)) {
			member, field := s.Members[name], name
			if sdk := awsshape.SDKName(name); sdk != strings.ToUpper(name[:1])+name[1:] {
				field += "/" + sdk
			}
			if member.LocationName != "" && member.LocationName != name {
				field += "=" + member.LocationName
			}
			fields = append(fields, field+":"+m.use(member, needed))
		}
		return "{" + strings.Join(fields, ",") + "}"
	case "list":
		named := ""
		if s.Member.LocationName != "" && m.Metadata.Protocol == "query" {
			named = "#" + s.Member.LocationName + "#"
		}
		return "[" + flat + named + m.use(s.Member, needed) + "]"
	case "map":
		named := ""
		if s.Key.LocationName != "" && m.Metadata.Protocol == "query" {
			named = "#" + s.Key.LocationName + "#" + s.Value.LocationName + "#"
		}
		return "<" + flat + named + m.use(s.Value, needed) + ">"
	case "integer", "long", "float", "double", "short", "biginteger", "bigdecimal":
		return "n"
	case "boolean":
		return "b"
	case "blob":
		return "x"
	case "timestamp":
		return timestamp(s.TimestampFormat)
	default:
		return "s"
	}
}
