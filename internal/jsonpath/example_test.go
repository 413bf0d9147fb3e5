package jsonpath_test

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

func Example() {
	order := jsontext.OrderedMapOf("customer", "Ida", "lines", []any{
		jsontext.OrderedMapOf("sku", "rope", "price", 12), jsontext.OrderedMapOf("sku", "buoy", "price", 90),
	})
	for _, text := range []string{
		"$.customer", "$.lines[?(@.price > 50)].sku", "$.lines[(@.length-1)].price",
		"$.carrier.name",
	} {
		path, err := jsonpath.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(path.Get(order))
	}
	// Output:
	// Ida <nil>
	// [buoy] <nil>
	// 90 <nil>
	// <nil> jsonpath: $.carrier.name: Missing property in path $['carrier']
}

func ExamplePath_Set() {
	input := jsontext.OrderedMapOf("order", "o-1")
	path, err := jsonpath.Parse("$.booking.id")
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := path.Set(input, "b-7")
	show := func(tree any) {
		text, err := json.Marshal(tree)
		fmt.Println(string(text), err)
	}
	if err == nil {
		show(output)
	}
	show(input)
	// Output:
	// {"order":"o-1","booking":{"id":"b-7"}} <nil>
	// {"order":"o-1"} <nil>
}
