package session

import (
	"cmp"
	"net/url"
	"os"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine/awscall"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

const (
	awsEndpointFlag = "aws-endpoint"
	awsEndpointHelp = "call services of AWS that --task does not map, such as sqs:sendMessage, at this URL; without it " +
		"they are not called (EBB_AWS_ENDPOINT)"

	awsCredentialsFlag = "aws-credentials"
	awsCredentialsHelp = "file with the access key that signs calls to --aws-endpoint, in the form of AWS's credentials " +
		"file; without it, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (EBB_AWS_CREDENTIALS)"

	defaultRegion      = "us-east-1"
	maxCredentialsFile = 1 << 20
)

// parseAWS reads --aws-endpoint and --aws-credentials.
func (s *Session) parseAWS() error {
	s.services.AWS = awscall.Caller{
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), defaultRegion),
	}
	if s.awsEndpoint == "" {
		if s.awsCredentials != "" {
			return exit.Usagef("--%s: want --%s beside it", awsCredentialsFlag, awsEndpointFlag)
		}
		return nil
	}
	to, err := url.Parse(s.awsEndpoint)
	if err != nil || !isServer(to) {
		return exit.Usagef("--%s: want a URL such as http://127.0.0.1:4566", awsEndpointFlag)
	}
	key, err := s.credentials()
	if err != nil {
		return err
	}
	s.services.AWS.Endpoint, s.services.AWS.Credentials = to, &key
	return nil
}

// credentials returns the access key that signs calls.
func (s *Session) credentials() (awscall.Credentials, error) {
	if s.awsCredentials == "" {
		key := awscall.Credentials{
			AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
			Session: os.Getenv("AWS_SESSION_TOKEN"),
		}
		if key.AccessKey == "" || key.Secret == "" {
			return key, exit.Usagef("--%s: calls are signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use --%s FILE",
				awsEndpointFlag, awsCredentialsFlag)
		}
		return key, nil
	}
	text, err := limitedfile.Read(s.awsCredentials, maxCredentialsFile)
	if err != nil {
		return awscall.Credentials{}, exit.Usagef("--%s: %w", awsCredentialsFlag, err)
	}
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	key := credentialsIn(string(text), profile)
	if key.AccessKey == "" || key.Secret == "" {
		return key, exit.Usagef("--%s %s: the profile %q has no aws_access_key_id and aws_secret_access_key "+
			"(AWS_PROFILE names another profile)", awsCredentialsFlag, s.awsCredentials, profile)
	}
	return key, nil
}

// credentialsIn returns the key of a profile in AWS's credentials file.
func credentialsIn(text, profile string) (key awscall.Credentials) {
	current := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if inner, ok := strings.CutPrefix(line, "["); ok {
			current = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		if current != profile || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(name)) {
		case "aws_access_key_id":
			key.AccessKey = value
		case "aws_secret_access_key":
			key.Secret = value
		case "aws_session_token":
			key.Session = value
		}
	}
	return key
}
