package template

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// TestNested shows that what nested stacks describe is there, with their parameters and outputs, and that a stack that
// needs its own output, or has itself in it, ends in a problem or a placeholder.
func TestNested(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"orders/template.yaml": `
Parameters: {Table: {Type: String}, Stage: {Type: String, Default: none}}
Resources:
  Take: {Type: AWS::Serverless::Function, Properties: {CodeUri: src, Handler: a.b, Runtime: python3.13}}
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties: {Name: orders, DefinitionUri: orders.json, DefinitionSubstitutions: {Table: !Ref Table, Stage: !Ref Stage}}
Outputs: {Machine: {Value: !Ref Orders}, Take: {Value: !GetAtt Take.Arn}}
`,
		"self.yaml": `{Resources: {Self: {Type: AWS::Serverless::Application, Properties: {Location: self.yaml}}}}`,
	}
	read := func(name string, _ int64) ([]byte, error) {
		text, is := files[strings.TrimPrefix(filepath.ToSlash(name), "/project/")]
		if !is {
			return nil, errors.New("none")
		}
		return []byte(text), nil
	}
	of := func(text string) *Template {
		d, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return Read(d, Options{File: "template.yaml", Folder: "/project", Read: read, Values: map[string]string{"Stage": "x"}})
	}
	got := of(`
Parameters: {Stage: {Type: String}}
Resources:
  Table: {Type: AWS::DynamoDB::Table}
  Shop:
    Type: AWS::Serverless::Application
    Properties: {Location: orders/template.yaml, Parameters: {Table: !Ref Table}}
  Nightly:
    Type: AWS::Events::Rule
    Properties: {ScheduleExpression: rate(1 day), Targets: [{Arn: !GetAtt Shop.Outputs.Machine}]}
  Call:
    Type: AWS::StepFunctions::StateMachine
    Properties: {DefinitionString: !Sub "${Shop.Outputs.Take} ${Shop.Outputs.None}"}
`)
	if len(got.Machines) != 2 || len(got.Schedules) != 1 || got.Schedules[0].Machine != "orders" {
		t.Fatalf("machines %v, schedules %v", got.Machines, got.Schedules)
	}
	if filled, _ := got.Machines[0].Fill("${Table} ${Stage}", 100); filled != "Table none" {
		t.Errorf("the parameters of a nested stack are those that it is given: %q", filled)
	}
	if f := got.Functions[0]; f.Code != filepath.FromSlash("/project/orders/src") ||
		f.From != filepath.FromSlash("orders/template.yaml")+":4:3" {
		t.Errorf("function in %s of %s", f.Code, f.From)
	}
	const want = "arn:aws:lambda:us-east-1:000000000000:function:Take ${Shop.Outputs.None}"
	if text := got.Machines[1].Text.Text; text != want {
		t.Errorf("got %s", text)
	}
	if got := of(files["self.yaml"]); len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Text, "nest deeper than 8") {
		t.Errorf("a stack in itself: %v", got.Problems)
	}
	got = of(`{Resources: {A: {Type: AWS::Serverless::Application, Properties:
		{Location: orders/template.yaml, Parameters: {Table: !GetAtt A.Outputs.Machine}}}}}`)
	if filled, _ := got.Machines[0].Fill("${Table}", 100); filled != "${A.Outputs.Machine}" {
		t.Errorf("a stack that needs its own output: %q", filled)
	}
}
