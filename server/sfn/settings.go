package sfn

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
)

// Types of state machines.
const (
	typeStandard = "STANDARD"
	typeExpress  = "EXPRESS"
)

const (
	levelOff   = "OFF"           // log level of a machine that does not log
	ownedKey   = "AWS_OWNED_KEY" // encryption with the service's own key
	managedKey = "CUSTOMER_MANAGED_KMS_KEY"
)

// settings are the settings of a machine beside its definition, as requests and answers have them.
type settings struct {
	RoleARN    string      `json:"roleArn"`
	Logging    *logging    `json:"loggingConfiguration"`
	Tracing    *tracing    `json:"tracingConfiguration"`
	Encryption *encryption `json:"encryptionConfiguration"`
}

// A logging is a LoggingConfiguration.
type logging struct {
	Level        string           `json:"level"`
	Data         bool             `json:"includeExecutionData"`
	Destinations []logDestination `json:"destinations,omitzero"`
}

type logDestination struct {
	Group *logGroup `json:"cloudWatchLogsLogGroup,omitempty"`
}

type logGroup struct {
	ARN string `json:"logGroupArn,omitempty"`
}

// A tracing is a TracingConfiguration. Ebb stores it and returns it.
type tracing struct {
	Enabled bool `json:"enabled"`
}

// An encryption is an EncryptionConfiguration. Ebb stores it and returns it.
type encryption struct {
	KeyID       string `json:"kmsKeyId,omitempty"`
	ReusePeriod int    `json:"kmsDataKeyReusePeriodSeconds,omitempty"`
	Type        string `json:"type"`
}

// completed returns the settings with AWS's defaults, or the error for the first setting that is not valid.
func (s *Server) completed(in settings) (settings, error) {
	err := cmp.Or(checkRole(in.RoleARN), s.checkLogging(in.Logging), checkEncryption(in.Encryption))
	if in.Logging == nil {
		in.Logging = &logging{}
	}
	in.Logging.Level = cmp.Or(in.Logging.Level, levelOff)
	if in.Tracing == nil {
		in.Tracing = &tracing{}
	}
	in.Encryption = completedEncryption(in.Encryption)
	return in, err
}

// completedEncryption returns an encryption with AWS's defaults.
func completedEncryption(in *encryption) *encryption {
	if in == nil {
		return &encryption{Type: ownedKey}
	}
	const reuse = 300 // seconds; AWS's default
	if in.Type == managedKey && in.ReusePeriod == 0 {
		in.ReusePeriod = reuse
	}
	return in
}

var roleRule = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::[0-9]{12}:role/.+$`)

func checkRole(arn string) error {
	switch {
	case !strings.HasPrefix(arn, "arn:"):
		return aws.Errorf("InvalidArn", "Invalid Arn: 'Invalid ARN prefix: %s'", arn)
	case !roleRule.MatchString(arn):
		return aws.Errorf("InvalidArn", "Invalid Role Arn: '%s'", arn)
	}
	return nil
}

// checkLogging returns why a machine cannot log as in.
func (s *Server) checkLogging(in *logging) error {
	refuse := func(why string) error {
		return aws.Errorf("InvalidLoggingConfiguration", "Invalid Logging Configuration: %s", why)
	}
	switch {
	case in == nil:
		return nil
	case len(in.Destinations) > 1, in.Level != "" && in.Level != levelOff && len(in.Destinations) == 0:
		return refuse("Must specify exactly one Log Destination.")
	case len(in.Destinations) == 0:
		return nil
	}
	group := in.Destinations[0].Group
	if group == nil || group.ARN == "" {
		return refuse("Must specify exactly one Log Destination.")
	}
	name, ok := logGroupName(group.ARN)
	if _, exists := s.config.LogGroups[name]; !ok || !exists {
		return refuse("Log Destination not found.")
	}
	return nil
}

// logGroupName returns the name in the ARN of a log group: arn:aws:logs:REGION:ACCOUNT:log-group:NAME:*.
func logGroupName(arn string) (name string, ok bool) {
	const parts = 7
	part := strings.SplitN(arn, ":", parts)
	if len(part) < parts || part[0] != "arn" || part[2] != "logs" || part[5] != "log-group" {
		return "", false
	}
	return strings.CutSuffix(part[6], ":*")
}

func checkEncryption(in *encryption) error {
	refuse := func(why string) error {
		return aws.Errorf("InvalidEncryptionConfiguration", "Invalid Encryption Configuration: %s", why)
	}
	switch {
	case in == nil:
	case in.Type == managedKey && in.KeyID == "":
		return refuse("kmsKeyId must be specified for CUSTOMER_MANAGED_KMS_KEY.")
	case in.Type == ownedKey && (in.KeyID != "" || in.ReusePeriod != 0):
		return refuse("kmsKeyId and kmsDataKeyReusePeriodSeconds must not be specified for AWS_OWNED_KEY.")
	}
	return nil
}
