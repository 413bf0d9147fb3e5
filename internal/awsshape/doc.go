// Package awsshape knows the shapes of the answers of AWS's services. Step Functions checks mocked answers against
// them.
//
// The file answers.zip holds the shapes of all services, derived from AWS's public service models. It has a file for
// each service, with a line for each operation and for each shape that is used by name:
//
//	s    a text; s(A|B) one of these
//	n    a number
//	b    true or false
//	*    anything
//	[x]  an array of x
//	<x>  an object with any names, each an x
//	{…}  an object; a field with ! behind its shape must be there
//	@x   what stands behind @x in another line
//
// Fields and operations have the names of the models. To renew the file, download the module of the models and run
// go generate with its folder in AWS_SDK_GO.
package awsshape

//go:generate go run ../awsmodels -models ${AWS_SDK_GO}/models/apis -o answers.zip
