package awscall

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/sigv4"
)

// Scheme is the prefix of the names of tasks that a [Caller] finds.
const Scheme = "arn"

// Credentials are an access key, which signs requests.
type Credentials = sigv4.Credentials

// A Caller finds actions of services and calls them. Any number of goroutines may use it. Do not change it after its
// first use.
type Caller struct {
	// Endpoint is the server of all services; nil means that only the services in Own are called.
	Endpoint *url.URL
	// Region is the region in signatures.
	Region string
	// Credentials sign the requests to Endpoint. They are required if Endpoint is not nil.
	Credentials *Credentials
	// Own answers the requests of services that the process itself has, by the name in signatures, such as states. These
	// requests are not signed.
	Own map[string]http.Handler
	// Client makes the requests; nil means a client that accepts 64 KiB of headers. Redirects are never followed.
	Client *http.Client
}

// Task returns the body of the task with the name of an integration, such as arn:aws:states:::sns:publish. If it
// cannot be called, the error says why, and its code is that of an error of AWS's client, such as
// SNS.SdkClientException.
func (c *Caller) Task(name string) (atom.Body, error) {
	parts := strings.SplitN(name, ":", 7)
	if len(parts) < 7 || parts[2] != "states" || parts[3] != "" || parts[4] != "" {
		return nil, fmt.Errorf("awscall: %s is not the name of an action of a service, such as arn:aws:states:::sns:publish",
			name)
	}
	is := integration{service: parts[5], action: parts[6]}
	if is.sdk = parts[5] == "aws-sdk"; is.sdk {
		is.service, is.action, _ = strings.Cut(parts[6], ":")
	}
	if at := strings.IndexByte(is.action, '.'); at >= 0 {
		is.action, is.pattern = is.action[:at], is.action[at:]
	}
	return c.task(name, &is)
}

// An integration is the parsed name of an action.
type integration struct {
	service, action string
	pattern         string // what is waited for: "", .sync, .sync:2 or .waitForTaskToken
	sdk             bool   // arn:aws:states:::aws-sdk:…
}

// errorPrefix returns the prefix of the names of errors, also for an unknown service.
func (i *integration) errorPrefix(s *service) string {
	switch {
	case !i.sdk && optimized[i.service].errors != "":
		return optimized[i.service].errors
	case s != nil:
		return s.id
	case i.service == "":
		return "Service"
	default:
		return strings.ToUpper(i.service[:1]) + i.service[1:]
	}
}

// codeClient is the end of the name of an error that the client of a service has: the service did not see the request.
const codeClient = ".SdkClientException"

func (c *Caller) task(name string, is *integration) (atom.Body, error) {
	key := is.service
	if !is.sdk && optimized[key].key != "" {
		key = optimized[key].key
	}
	s := serviceOf(key)
	refuse := func(format string, args ...any) (atom.Body, error) {
		return nil, atom.Errorf(is.errorPrefix(s)+codeClient, "%s: %s", name, fmt.Sprintf(format, args...))
	}
	switch {
	case s == nil:
		return refuse("Ebb does not know the service %q (map the resource to a task of your own)", is.service)
	case !slices.Contains(protocols, s.protocol):
		return refuse("Ebb does not cover the protocol %s of the service %s (map the resource to a task of your own)",
			s.protocol, is.service)
	case is.pattern != "" && is.pattern != ".waitForTaskToken":
		return refuse("Ebb does not cover the pattern %s of the service %s (map the resource to a task of your own)",
			is.pattern, is.service)
	}
	input, output, ok := s.operation(is.action)
	switch own := c.Own[s.signing]; {
	case !ok:
		return refuse("Ebb does not know the action %q of the service %s (map the resource to a task of your own)",
			is.action, is.service)
	case own == nil && c.Endpoint == nil:
		return refuse("no server is set for calls to AWS's services (use --aws-endpoint URL, or map the resource to a task " +
			"of your own)")
	default:
		return &action{Caller: c, integration: is, of: s, own: own, input: input, output: output}, nil
	}
}

// An optimizedService has what differs in the optimized integration of a service.
type optimizedService struct {
	key     string // name in the archive; "" means the name in the ARN
	errors  string // prefix of its errors
	service string // its name in causes; with the suffix Exception, the name of an error without a name of its own
}

// optimized has the optimized integrations that call actions of the service itself.
var optimized = map[string]optimizedService{
	"athena":    {"", "Athena", "AmazonAthena"},
	"codebuild": {"", "CodeBuild", "AWSCodeBuild"},
	"dynamodb":  {"", "DynamoDB", "AmazonDynamoDBv2"},
	"ecs":       {"", "ECS", "AmazonECS"},
	"events":    {"eventbridge", "EventBridge", "AmazonEventBridge"},
	"glue":      {"", "Glue", "AWSGlue"},
	"sagemaker": {"", "SageMaker", "AmazonSageMaker"},
	"sns":       {"", "SNS", "AmazonSNS"},
	"sqs":       {"", "SQS", "AmazonSQS"},
	"states":    {"sfn", "StepFunctions", "AWSStepFunctions"},
}
