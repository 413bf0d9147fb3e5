package jsonpath_test

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

func Example() {
	order := map[string]any{
		"customer": "Ida",
		"lines":    []any{map[string]any{"sku": "rope", "price": 12}, map[string]any{"sku": "buoy", "price": 90}},
	}
	for _, text := range []string{"$.customer", "$.lines[?(@.price > 50)].sku", "$.lines[*].price.sum()", "$.carrier.name"} {
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
	// 102 <nil>
	// <nil> jsonpath: $.carrier.name: Missing property in path $['carrier']
}

func ExamplePath_Set() {
	input := map[string]any{"order": "o-1"}
	path, err := jsonpath.Parse("$.booking.id")
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := path.Set(input, "b-7")
	fmt.Println(output, err)
	fmt.Println(input)
	// Output:
	// map[booking:map[id:b-7] order:o-1] <nil>
	// map[order:o-1]
}
