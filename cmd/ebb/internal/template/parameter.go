package template

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// checkParameters reports given values that a parameter does not allow.
func (e *evaluator) checkParameters() {
	for _, m := range members(e.root.Get("Parameters")) {
		value, is := e.options.Values[m.Name]
		allowed := m.Value.Get("AllowedValues")
		if !is || allowed == nil {
			continue
		}
		var legal []string
		for _, item := range allowed.Items {
			legal = append(legal, item.Text)
		}
		if !slices.Contains(legal, value) {
			e.problemf(m.Place, "the parameter %s cannot be %q (use one of %s)", m.Name, value, strings.Join(legal, ", "))
		}
	}
}

// parameter returns the value of a parameter; false if there is no such parameter. As on AWS, it is a text or a list of
// texts, also if its type is Number.
func (e *evaluator) parameter(at *document.Document, name string) (*document.Document, bool) {
	p := e.member(e.root.Get("Parameters"), name)
	if p == nil {
		return nil, false
	}
	value, is := e.given(name)
	if usual := p.Get("Default"); !is {
		if usual == nil {
			return e.unresolved(at, name, "the parameter "+name+" has no default"), true
		}
		value = usual.Text
	}
	kind := p.Get("Type").Says()
	if kind != "CommaDelimitedList" && !strings.HasPrefix(kind, "List<") && !strings.Contains(kind, "<List<") {
		return e.makes(at, value), true
	}
	list := &document.Document{Place: at.Place, Kind: document.List}
	for part := range strings.SplitSeq(value, ",") {
		list.Items = append(list.Items, e.makes(at, strings.TrimSpace(part)))
	}
	return list, true
}

// pseudo returns the value of a pseudo parameter; nil if there is no such one.
func (e *evaluator) pseudo(at *document.Document, name string) *document.Document {
	switch name {
	case "AWS::AccountId":
		return text(at, e.options.Account)
	case "AWS::Region":
		return text(at, e.options.Region)
	case "AWS::Partition":
		return text(at, e.options.Partition)
	case "AWS::StackName":
		return text(at, stack)
	case "AWS::StackId":
		return text(at, e.arn("cloudformation", "stack/"+stack+"/00000000-0000-0000-0000-000000000000"))
	case "AWS::URLSuffix":
		if e.options.Partition == "aws-cn" {
			return text(at, "amazonaws.com.cn")
		}
		return text(at, "amazonaws.com")
	case "AWS::NotificationARNs":
		return &document.Document{Place: at.Place, Kind: document.List}
	case "AWS::NoValue":
		return noValue
	}
	return nil
}

// stack is AWS::StackName.
const stack = "ebb"
