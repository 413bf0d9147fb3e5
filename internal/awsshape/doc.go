// Package awsshape knows the parameters of AWS's services, and the shapes of their answers. Step Functions checks
// mocked answers against these shapes.
//
// The file actions.zip has a file for each service, with a line for each operation: its name and the names of its
// parameters, as SDK integrations write them. A name with ! is required.
//
// The file answers.zip holds the shapes of all services, derived from AWS's public service models. It has a file for
// each service, with a line for each operation and for each shape that is used by name:
//
//	s    a text; s(A|B) one of these
//	n    a number
//	i    a whole number
//	b    true or false
//	*    anything
//	[x]  an array of x
//	<x>  an object with any names, each an x
//	{…}  an object; a field with ! behind its shape must be there
//	@x   what stands behind @x in another line
//
// Behind the first character may stand #min:max#: the range of a number, or the length of a text, an array or an
// object. Either end may be missing.
//
// Fields and operations have the names of the models. To renew the files, download the module of the models and run
// go generate with its folder in AWS_SDK_GO.
package awsshape

//go:generate go run ../awsmodels -models ${AWS_SDK_GO}/models/apis -o .
