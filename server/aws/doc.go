// Package aws serves APIs in the JSON protocol of Amazon Web Services (versions 1.0 and 1.1). It routes requests,
// verifies signatures, decodes and validates parameters, and writes answers and errors as AWS does. It knows no
// service: a program describes its operations as [Service] values, with a [Shape] for the parameters of each.
//
//	var name = aws.String(1, 80)
//
//	var service = &aws.Service{
//		Name: "states", Target: "AWSStepFunctions", ErrorPrefix: "com.amazonaws.swf.service.v2.model#",
//		Operations: map[string]aws.Operation{
//			"CreateActivity": aws.Op(aws.Structure(aws.Required("name", name)), createActivity),
//		},
//	}
//
//	srv, err := server.New(server.Options{Keys: "keys.txt"})
//	srv.ServeAWS(aws.New(aws.Options{Region: "us-east-1"}, service))
package aws
