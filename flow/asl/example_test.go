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

func ExampleValidate() {
	problems := asl.Validate("trip.asl.json", []byte(`{
  "StartAt": "Pay",
  "States": {
    "Pay": {"Type": "Task", "Resource": "exec:./pay", "Next": "Shipp", "TimeoutSecond": 5},
    "Ship": {"Type": "Wait", "Seconds": "$.delay", "End": true}
  }
}`))
	for _, p := range problems {
		fmt.Println(p.Severity, p)
	}
	fmt.Println("legal:", problems.Legal())
	// Output:
	// ERROR trip.asl.json:4:63: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
	// ERROR trip.asl.json:4:72: state "Pay": TimeoutSecond is no field of a Task state (did you mean TimeoutSeconds?)
	// ERROR trip.asl.json:5:41: state "Ship": Seconds must be a whole number from 0 to 99999999 (for a path, use SecondsPath)
	// legal: false
}
