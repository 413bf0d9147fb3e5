package sm4c_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/sm4c"
)

// TestProblems checks the messages about wrong definitions, and their positions.
func TestProblems(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		``:  `m:1:1: the definition must be a JSON object, found nothing`,
		`{`: `m:1:2: expected a member's name in double quotes, found the end of the text`,
		`{"name": "m", "version": "1", "states": [{"name": "Ship", "start": true, "transitions": [{"nextState": "Shipp"}]}]}`://
		`m:1:104: state "Ship": nextState: there is no state "Shipp" (did you mean "Ship"?)`,
		`{"name": "m", "version": "1", "states": [{"name": "A", "start": true, "inputFilter": "${ \"é\" | mapp(.) }"}]}`://
		`m:1:98: state "A": inputFilter: there is no function mapp/1 (did you mean map/1?)`,
	} {
		problems := sm4c.Validate("m", []byte(definition))
		if problems.Legal() || problems[0].String() != want {
			t.Errorf("%s:\n got %v\nwant %s", definition, problems, want)
		}
	}
}

// FuzzValidate shows that no text makes Validate panic.
func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"name": "m", "version": "1", "states": [{"name": "A", "start": true}]}`))
	f.Add([]byte(`{"states": [{"transitions": [{"eventGroups": [{"events": ["e"]}], "action": {"type": "foreach"}}]}], "functions": [{"operation": "fn:a"}]}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _ = sm4c.Validate("m", text) })
}

// TestRPC checks functions of type rpc against a schema.
//
// Guarantee (gRPC): A stream, or an unknown service or method, is refused when parsed, with place.
func TestRPC(t *testing.T) {
	t.Parallel()
	const schema = `{"file": [{"name": "orders.proto", "package": "shop", "service": [{"name": "Orders", "method": [
		{"name": "Get", "inputType": ".shop.A"}, {"name": "Watch", "serverStreaming": true}]}]}]}`
	for operation, want := range map[string]string{
		"orders.proto#shop.Orders#Get":   "",
		"orders.proto#shop.Order#Get":    `d:1:101: function "f": "orders.proto" has no service "shop.Order" (did you mean "shop.Orders"?)`,
		"orders.proto#shop.Orders#Got":   `d:1:113: function "f": the service "shop.Orders" has no method "Got" (did you mean "Get"?)`,
		"orders.proto#shop.Orders#Watch": `d:1:113: function "f": the method "Watch" of "shop.Orders" is a stream; a function is a unary method`,
		"orders.proto#Get":               `d:1:87: function "f": operation must be the URI of a schema, # and the full name of a service, # and a method`,
	} {
		text := `{"name": "m", "version": "1", "functions": [{"name": "f", "type": "rpc", "operation": "` + operation + `"}],
			"states": [{"name": "A", "start": true}]}`
		got := ""
		_, err := sm4c.Parse("d", []byte(text), sm4c.LoadAPIs(func(string) ([]byte, error) { return []byte(schema), nil }))
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s; want %s", operation, got, want)
		}
	}
}
