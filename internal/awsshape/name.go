package awsshape

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ServiceKey returns the name of a service in the ARN of an SDK integration, for the service id of its model: "Cognito
// Identity Provider" is cognitoidentityprovider. The rule is that of the AWS SDK for Java 2, which Step Functions uses.
func ServiceKey(id string) string {
	name := pascal(id)
	for _, prefix := range []string{"Amazon", "Aws"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.ToLower(strings.TrimSuffix(name, "Service"))
}

// optimized maps the names of services in the ARNs of optimized integrations, where they differ from ServiceKey.
var optimized = map[string]string{
	"elasticmapreduce": "emr",
	"emr-containers":   "emrcontainers",
	"emr-serverless":   "emrserverless",
	"events":           "eventbridge",
	"states":           "sfn",
}

// upperFirst returns a name of a model as optimized integrations write it: executionArn is ExecutionArn.
func upperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// The rules by which the AWS SDK for Java 2 splits a name into words.
var (
	notAlphanumeric = regexp.MustCompile(`[^A-Za-z0-9]+`)
	lowerVersion    = regexp.MustCompile(`([^a-z]{2,})v([0-9]+)`)
	upperVersion    = regexp.MustCompile(`([^A-Z]{2,})V([0-9]+)`)
	camelCase       = regexp.MustCompile(`([a-z])([A-Z][a-zA-Z0-9])`)
	acronym         = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	afterDigit      = regexp.MustCompile(`([0-9])([a-zA-Z])`)
)

// pascal returns a name of a model as SDK integrations write it: SSEKMSKeyId is SsekmsKeyId, and contentMD5 is
// ContentMd5.
func pascal(name string) string {
	words := notAlphanumeric.ReplaceAllString(name, " ")
	words = lowerVersion.ReplaceAllString(words, "$1 v$2 ")
	words = upperVersion.ReplaceAllString(words, "$1 V$2 ")
	for range 2 { // a short word, such as Id, ends one match and would start the next
		words = camelCase.ReplaceAllString(words, "$1 $2")
	}
	words = acronym.ReplaceAllString(words, "$1 $2")
	words = afterDigit.ReplaceAllString(words, "$1 $2")
	var b strings.Builder
	for word := range strings.FieldsSeq(words) {
		b.WriteString(upperFirst(strings.ToLower(word)))
	}
	return b.String()
}

// SDKName returns a name of a model as SDK integrations write it: SSEKMSKeyId is SsekmsKeyId.
func SDKName(name string) string { return pascal(name) }
