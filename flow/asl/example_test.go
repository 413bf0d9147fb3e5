package asl_test

import (
	"fmt"

	"github.com/ebbflow/ebb/flow/asl"
)

func ExampleParse() {
	_, err := asl.Parse("orders.asl.json", []byte(`{
  "StartAt": "Pay",
  "States": {
    "Pay": {
      "Type": "Task",
      "Resource": "exec:./pay",
      "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 3.5}],
      "Next": "Shipp"
    },
    "Ship": {"Type": "Task", "Resource": "exec:./ship", "End": true}
  }
}`))
	fmt.Println(err)
	// Output:
	// orders.asl.json:7:64: state "Pay": MaxAttempts must be a whole number from 0 to 99999999
	// orders.asl.json:8:15: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
}
