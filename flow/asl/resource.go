package asl

import "strings"

// A resource is what the Resource of a Task state says.
type resource struct {
	uri      string
	at       int    // where it stands in the text
	lambda   bool   // is the ARN of a Lambda function
	activity bool   // is the ARN of an activity
	service  string // as AWS's events call it: resourceType
	action   string // what is asked of the service; "resource" in events that have a resourceType
	pattern  string // how the action ends that says what to wait for: "", .sync, .sync:2 or .waitForTaskToken
}

// The patterns, besides not waiting.
const (
	patternSync  = ".sync"
	patternSync2 = ".sync:2"
	patternToken = ".waitForTaskToken"
)

// parseResource returns what a URI says: a scheme, a colon, and something behind
// it. An ARN has six parts, of which region and account may be empty.
func parseResource(uri string) (resource, bool) {
	r := resource{uri: uri}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || rest == "" || strings.ContainsFunc(scheme, func(r rune) bool { return !isSchemeRune(r) }) {
		return r, false
	}
	arn := append(strings.SplitN(uri, ":", 7), make([]string, 7)...)
	if scheme == "arn" && (arn[1] == "" || arn[2] == "" || arn[5] == "") {
		return r, false
	}
	switch service, kind := arn[2], arn[5]; {
	case scheme != "arn":
		r.service, r.action = scheme, rest
	case service == "lambda" && kind == "function":
		r.lambda = true
	case service == "states" && kind == "activity":
		r.activity = true
	case kind == "aws-sdk":
		service, action, _ := strings.Cut(arn[6], ":")
		r.service, r.action = "aws-sdk:"+service, action
	default:
		r.service, r.action = kind, arn[6]
	}
	for _, pattern := range []string{patternSync, patternSync2, patternToken} {
		if strings.HasSuffix(r.action, pattern) {
			r.pattern = pattern
		}
	}
	return r, true
}

func isSchemeRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r)
}

// patternsOf are the patterns that services have of those that the language
// knows by name (AWS: Integrating optimized services with Step Functions).
var patternsOf = map[string][]string{
	"apigateway":       {patternToken},
	"athena":           {patternSync},
	"batch":            {patternSync},
	"bedrock":          {patternSync, patternToken},
	"codebuild":        {patternSync},
	"databrew":         {patternSync},
	"dynamodb":         nil,
	"ecs":              {patternSync, patternToken},
	"eks":              {patternSync, patternToken},
	"elasticmapreduce": {patternSync},
	"emr-containers":   {patternSync},
	"emr-serverless":   {patternSync},
	"events":           {patternToken},
	"glue":             {patternSync},
	"http":             nil,
	"lambda":           {patternToken},
	"mediaconvert":     {patternSync},
	"sagemaker":        {patternSync},
	"sns":              {patternToken},
	"sqs":              {patternToken},
	"states":           {patternSync, patternSync2, patternToken},
}

// patterns returns the patterns that the resource's service has, and whether
// they are known.
func (r *resource) patterns() ([]string, bool) {
	if strings.HasPrefix(r.service, "aws-sdk:") {
		return []string{patternToken}, true
	}
	patterns, ok := patternsOf[r.service]
	return patterns, ok && strings.HasPrefix(r.uri, "arn:")
}
