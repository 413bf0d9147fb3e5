package template

import (
	"cmp"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// A resource is a resource of the template.
type resource struct {
	document.Place

	id, kind        string
	doc, properties *document.Document
	name            string // as soon as it is known
	naming          bool   // the name is being computed
}

// An identity says what AWS calls a resource of a type.
type identity struct {
	property string // that has the name
	service  string // of the ARN
	resource string // of the ARN; # stands for the name
	ref      string // what Ref returns: "" for the name, arn, or a text in which # stands for the name
}

// identities are those of the types that definitions refer to. Of other types, Ref returns the name or the logical ID.
var identities = map[string]identity{
	"AWS::Lambda::Function":                 {"FunctionName", "lambda", "function:#", ""},
	"AWS::Serverless::Function":             {"FunctionName", "lambda", "function:#", ""},
	"AWS::Lambda::LayerVersion":             {"LayerName", "lambda", "layer:#:1", "arn"},
	"AWS::Serverless::LayerVersion":         {"LayerName", "lambda", "layer:#:1", "arn"},
	"AWS::StepFunctions::StateMachine":      {"StateMachineName", "states", "stateMachine:#", "arn"},
	"AWS::Serverless::StateMachine":         {"Name", "states", "stateMachine:#", "arn"},
	"AWS::StepFunctions::Activity":          {"Name", "states", "activity:#", "arn"},
	"AWS::SQS::Queue":                       {"QueueName", "sqs", "#", "https://sqs.REGION.amazonaws.com/ACCOUNT/#"},
	"AWS::SNS::Topic":                       {"TopicName", "sns", "#", "arn"},
	"AWS::DynamoDB::Table":                  {"TableName", "dynamodb", "table/#", ""},
	"AWS::DynamoDB::GlobalTable":            {"TableName", "dynamodb", "table/#", ""},
	"AWS::Serverless::SimpleTable":          {"TableName", "dynamodb", "table/#", ""},
	"AWS::IAM::Role":                        {"RoleName", "iam", "role/#", ""},
	"AWS::IAM::ManagedPolicy":               {"ManagedPolicyName", "iam", "policy/#", "arn"},
	"AWS::Events::EventBus":                 {"Name", "events", "event-bus/#", ""},
	"AWS::Events::Rule":                     {"Name", "events", "rule/#", ""},
	"AWS::Events::Connection":               {"Name", "events", "connection/#/00000000-0000-0000-0000-000000000000", ""},
	"AWS::Events::ApiDestination":           {"Name", "events", "api-destination/#/00000000", ""},
	"AWS::Logs::LogGroup":                   {"LogGroupName", "logs", "log-group:#:*", ""},
	"AWS::SecretsManager::Secret":           {"Name", "secretsmanager", "secret:#", "arn"},
	"AWS::KMS::Key":                         {"", "kms", "key/#", ""},
	"AWS::ECS::Cluster":                     {"ClusterName", "ecs", "cluster/#", ""},
	"AWS::ECS::TaskDefinition":              {"Family", "ecs", "task-definition/#:1", "arn"},
	"AWS::Batch::JobQueue":                  {"JobQueueName", "batch", "job-queue/#", "arn"},
	"AWS::Batch::JobDefinition":             {"JobDefinitionName", "batch", "job-definition/#:1", "arn"},
	"AWS::Batch::ComputeEnvironment":        {"ComputeEnvironmentName", "batch", "compute-environment/#", "arn"},
	"AWS::Kinesis::Stream":                  {"Name", "kinesis", "stream/#", ""},
	"AWS::KinesisFirehose::DeliveryStream":  {"DeliveryStreamName", "firehose", "deliverystream/#", ""},
	"AWS::CodeBuild::Project":               {"Name", "codebuild", "project/#", ""},
	"AWS::ElasticLoadBalancingV2::Listener": {"", "elasticloadbalancing", "listener/#", "arn"},
	"AWS::Cognito::UserPool":                {"UserPoolName", "cognito-idp", "userpool/#", ""},
	"AWS::SSM::Parameter":                   {"Name", "ssm", "parameter/#", ""},
	"AWS::S3::Bucket":                       {"BucketName", "s3", "#", ""},
	"AWS::Glue::Job":                        {"Name", "glue", "job/#", ""},
	"AWS::Glue::Crawler":                    {"Name", "glue", "crawler/#", ""},
}

// resource returns the resource with a logical ID, also one that SAM makes beside another; nil if there is none.
func (e *evaluator) resource(name string) *resource {
	if r := e.resources[name]; r != nil {
		return r
	}
	// SAM makes the resources FnRole, FnVersion and FnAliaslive, which are also called Fn.Version and Fn.Alias.
	if of, is := strings.CutSuffix(name, "Role"); is && e.isServerless(of) {
		return &resource{id: name, kind: "AWS::IAM::Role", Place: e.resources[of].Place, name: name}
	}
	if of, alias, is := strings.Cut(name, "Alias"); is && e.isServerless(of) {
		return &resource{id: name, kind: samVersion, doc: e.resources[of].doc, name: e.nameOf(e.resources[of]) + ":" + alias}
	}
	if of, what, is := strings.Cut(name, "."); is && e.isServerless(of) && (what == "Version" || what == "Alias") {
		qualifier := "1"
		if what == "Alias" {
			qualifier = cmp.Or(e.says(e.resources[of], "AutoPublishAlias"), "$LATEST")
		}
		return &resource{
			id: name, kind: samVersion, doc: e.resources[of].doc, name: e.nameOf(e.resources[of]) + ":" + qualifier,
		}
	}
	return nil
}

// samVersion is the type of the versions and aliases that SAM makes.
const samVersion = "version"

func (e *evaluator) isServerless(name string) bool {
	r := e.resources[name]
	return r != nil && (r.kind == "AWS::Serverless::Function" || r.kind == "AWS::Serverless::StateMachine")
}

// nameOf returns the name of a resource: its property, or else its logical ID, where AWS would add a random end.
func (e *evaluator) nameOf(r *resource) string {
	switch {
	case r.name != "":
		return r.name
	case r.naming:
		e.problemf(r.Place, "the name of %s refers to itself", r.id)
		return r.id
	}
	r.naming = true
	property := identities[r.kind].property
	if _, known := identities[r.kind]; !known {
		property = "Name"
	}
	// A part of the name that has no value stands for itself, because names have no braces.
	r.name = cmp.Or(placeholder.ReplaceAllStringFunc(e.says(r, property), func(of string) string {
		return strings.Map(inName, of[2:len(of)-1])
	}), r.id)
	if r.kind == "AWS::S3::Bucket" {
		r.name = strings.ToLower(r.name)
	}
	r.naming = false
	return r.name
}

// inName returns a character as names have it.
func inName(r rune) rune {
	if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
		return r
	}
	return '-'
}

// arn returns an ARN.
func (e *evaluator) arn(service, name string) string {
	region, account := e.options.Region, e.options.Account
	switch service {
	case "iam":
		region = ""
	case "s3":
		region, account = "", ""
	}
	return strings.Join([]string{"arn", e.options.Partition, service, region, account, name}, ":")
}

// arnOf returns the ARN of a resource.
func (e *evaluator) arnOf(r *resource) string {
	name := e.nameOf(r)
	switch r.kind {
	case samVersion:
		return e.qualified(r, name)
	case "AWS::Lambda::Version", "AWS::Lambda::Alias", "AWS::StepFunctions::StateMachineVersion",
		"AWS::StepFunctions::StateMachineAlias":
		return e.refOf(r)
	case "AWS::CloudFormation::Stack", "AWS::Serverless::Application":
		return e.arn("cloudformation", "stack/"+name+"/00000000-0000-0000-0000-000000000000")
	}
	is, known := identities[r.kind]
	if !known {
		service, _, _ := strings.Cut(strings.TrimPrefix(r.kind, "AWS::"), "::")
		return e.arn(strings.ToLower(service), name)
	}
	return e.arn(is.service, strings.ReplaceAll(is.resource, "#", name))
}

// qualified returns the ARN of a version or alias that SAM makes.
func (e *evaluator) qualified(r *resource, name string) string {
	if r.doc.Get("Type").Says() == "AWS::Serverless::StateMachine" {
		return e.arn("states", "stateMachine:"+name)
	}
	return e.arn("lambda", "function:"+name)
}

// refOf returns what Ref returns for a resource.
func (e *evaluator) refOf(r *resource) string {
	name := e.nameOf(r)
	switch r.kind {
	case samVersion:
		return e.qualified(r, name)
	case "AWS::Lambda::Version":
		return e.functionARN(e.says(r, "FunctionName")) + ":1"
	case "AWS::Lambda::Alias":
		return e.functionARN(e.says(r, "FunctionName")) + ":" + name
	case "AWS::StepFunctions::StateMachineVersion":
		return e.says(r, "StateMachineArn") + ":1"
	case "AWS::StepFunctions::StateMachineAlias":
		return e.aliasARN(r)
	case "AWS::CloudFormation::Stack", "AWS::Serverless::Application":
		return e.arnOf(r)
	}
	switch is := identities[r.kind]; is.ref {
	case "":
		return name
	case "arn":
		return e.arnOf(r)
	default:
		return strings.NewReplacer("#", name, "REGION", e.options.Region, "ACCOUNT", e.options.Account).Replace(is.ref)
	}
}

// functionARN returns the ARN of a function that a name or an ARN names.
func (e *evaluator) functionARN(function string) string {
	if strings.HasPrefix(function, "arn:") {
		return function
	}
	return e.arn("lambda", "function:"+function)
}

// attributeOf returns an attribute of a resource; false if it is not known.
func (e *evaluator) attributeOf(r *resource, attribute string) (string, bool) {
	name := e.nameOf(r)
	switch {
	case attribute == "Arn", strings.HasSuffix(attribute, "Arn") && attribute != "StreamArn", attribute == "RoleArn":
		return e.arnOf(r), true
	case attribute == "StreamArn":
		return e.arnOf(r) + "/stream/2026-01-01T00:00:00.000", true
	case attribute == "Name", attribute == identities[r.kind].property && attribute != "":
		return name, true
	case attribute == "QueueUrl":
		return e.refOf(r), true
	case strings.HasPrefix(attribute, "Outputs."):
		return e.output(r, strings.TrimPrefix(attribute, "Outputs."))
	case strings.HasPrefix(r.kind, "Custom::"),
		r.kind == "AWS::CloudFormation::CustomResource":
		return "", false
	}
	if value := e.says(r, attribute); value != "" { // such as Value of AWS::SSM::Parameter
		return value, true
	}
	switch attribute {
	case "DomainName", "RegionalDomainName":
		return name + ".s3.amazonaws.com", true
	case "RootResourceId", "UniqueId", "KeyId", "Id", "Version", "LatestVersionNumber", "StateMachineRevisionId", "RoleId":
		return name, true
	}
	return "", false
}
