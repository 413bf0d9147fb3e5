package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/swf"
	swftypes "github.com/aws/aws-sdk-go-v2/service/swf/types"
)

// TestTerraform makes the calls of Terraform's provider for its resources of Step Functions and Amazon SWF: create,
// read, update, tag, import and delete. What is read after each step is what was written, so a second plan has no
// difference.
func TestTerraform(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	s := serve(t)
	c := s.client()
	t.Run("aws_sfn_state_machine and aws_sfn_alias", func(t *testing.T) { planMachine(ctx, t, c) })
	t.Run("aws_sfn_activity", func(t *testing.T) { planActivity(ctx, t, c) })
	t.Run("aws_swf_domain", func(t *testing.T) { planDomain(ctx, t, s.workflows()) })
}

// A machinePlan is what a configuration says of a machine, and what the provider reads back.
type machinePlan struct {
	Definition  any
	Role        string
	Type        types.StateMachineType
	Level       types.LogLevel
	Data, Trace bool
	Encryption  types.EncryptionType
	Versions    int
	Tags        map[string]string
}

func planMachine(ctx context.Context, t *testing.T, c *sfn.Client) {
	t.Helper()
	definition := func(result string) string {
		return `{ "StartAt":"A", "States":{"A":{"Type":"Pass","Result":"` + result + `","End":true}} }`
	}
	valid, err := c.ValidateStateMachineDefinition(ctx, &sfn.ValidateStateMachineDefinitionInput{
		Definition: aws.String(definition("one")), Type: types.StateMachineTypeStandard,
	})
	if err != nil || valid.Result != types.ValidateStateMachineDefinitionResultCodeOk {
		t.Fatal(valid, err)
	}
	logging := &types.LoggingConfiguration{Level: types.LogLevelOff}
	tracing := &types.TracingConfiguration{}
	encryption := &types.EncryptionConfiguration{Type: types.EncryptionTypeAwsOwnedKey}
	made, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("planned"), Definition: aws.String(definition("one")), RoleArn: aws.String(roleARN),
		Type: types.StateMachineTypeStandard, LoggingConfiguration: logging, TracingConfiguration: tracing,
		EncryptionConfiguration: encryption, Publish: true, VersionDescription: aws.String("first"),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("shop")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	arn := *made.StateMachineArn
	want := machinePlan{
		Definition: decode(t, definition("one")), Role: roleARN, Type: types.StateMachineTypeStandard, Level: types.LogLevelOff,
		Encryption: types.EncryptionTypeAwsOwnedKey, Versions: 1, Tags: map[string]string{"team": "shop"},
	}
	unchanged := func() {
		t.Helper()
		for range 2 {
			if got := readMachine(ctx, t, c, arn); !reflect.DeepEqual(got, want) {
				t.Fatalf("the plan has a difference: %+v\nwant %+v", got, want)
			}
		}
	}
	unchanged()
	updated, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{
		StateMachineArn: &arn, Definition: aws.String(definition("two")), RoleArn: aws.String(roleARN), Publish: true,
		LoggingConfiguration: logging, TracingConfiguration: &types.TracingConfiguration{Enabled: true},
		EncryptionConfiguration: encryption,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.TagResource(ctx, &sfn.TagResourceInput{ResourceArn: &arn, Tags: []types.Tag{
		{Key: aws.String("stage"), Value: aws.String("test")},
	}})
	_, gone := c.UntagResource(ctx, &sfn.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"team"}})
	if err := errors.Join(err, gone); err != nil {
		t.Fatal(err)
	}
	want.Definition, want.Trace, want.Versions = decode(t, definition("two")), true, 2
	want.Tags = map[string]string{"stage": "test"}
	unchanged()

	planAlias(ctx, t, c, []types.RoutingConfigurationListItem{
		{StateMachineVersionArn: made.StateMachineVersionArn, Weight: 60},
		{StateMachineVersionArn: updated.StateMachineVersionArn, Weight: 40},
	})
	if _, err := c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: &arn}); err != nil {
		t.Fatal(err)
	}
	for missing := (*types.StateMachineDoesNotExist)(nil); missing == nil; { // while its status is DELETING
		if _, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &arn}); err != nil && !errors.As(err, &missing) {
			t.Fatal(err)
		}
	}
}

// readMachine reads a machine as the provider does, also to import it.
func readMachine(ctx context.Context, t *testing.T, c *sfn.Client, arn string) machinePlan {
	t.Helper()
	d, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	versions, err := c.ListStateMachineVersions(ctx, &sfn.ListStateMachineVersionsInput{StateMachineArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	tags, err := c.ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	got := machinePlan{
		Definition: decode(t, *d.Definition), Role: *d.RoleArn, Type: d.Type, Level: d.LoggingConfiguration.Level,
		Data: d.LoggingConfiguration.IncludeExecutionData, Trace: d.TracingConfiguration.Enabled,
		Encryption: d.EncryptionConfiguration.Type, Versions: len(versions.StateMachineVersions), Tags: map[string]string{},
	}
	for _, tag := range tags.Tags {
		got.Tags[*tag.Key] = *tag.Value
	}
	if d.Status != types.StateMachineStatusActive || aws.ToString(d.Name) != "planned" || d.CreationDate == nil {
		t.Errorf("%+v", d)
	}
	return got
}

func planAlias(ctx context.Context, t *testing.T, c *sfn.Client, routing []types.RoutingConfigurationListItem) {
	t.Helper()
	whole := []types.RoutingConfigurationListItem{{StateMachineVersionArn: routing[0].StateMachineVersionArn, Weight: 100}}
	a, err := c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{
		Name: aws.String("live"), Description: aws.String("shown"), RoutingConfiguration: whole,
	})
	if err != nil {
		t.Fatal(err)
	}
	unchanged := func(want []types.RoutingConfigurationListItem) {
		t.Helper()
		d, err := c.DescribeStateMachineAlias(ctx, &sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: a.StateMachineAliasArn})
		if err != nil {
			t.Fatal(err)
		}
		if aws.ToString(d.Description) != "shown" || *d.Name != "live" || !reflect.DeepEqual(d.RoutingConfiguration, want) {
			t.Errorf("the plan has a difference: %+v", d)
		}
	}
	unchanged(whole)
	if _, err := c.UpdateStateMachineAlias(ctx, &sfn.UpdateStateMachineAliasInput{
		StateMachineAliasArn: a.StateMachineAliasArn, RoutingConfiguration: routing,
	}); err != nil {
		t.Fatal(err)
	}
	unchanged(routing)
	if _, err := c.DeleteStateMachineAlias(ctx, &sfn.DeleteStateMachineAliasInput{StateMachineAliasArn: a.StateMachineAliasArn}); err != nil {
		t.Fatal(err)
	}
	_, err = c.DescribeStateMachineAlias(ctx, &sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: a.StateMachineAliasArn})
	if missing := (*types.ResourceNotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("a deleted alias: %v", err)
	}
}

func planActivity(ctx context.Context, t *testing.T, c *sfn.Client) {
	t.Helper()
	made, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{
		Name: aws.String("planned"), EncryptionConfiguration: &types.EncryptionConfiguration{Type: types.EncryptionTypeAwsOwnedKey},
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("shop")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: made.ActivityArn})
	if err != nil {
		t.Fatal(err)
	}
	tags, err := c.ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: made.ActivityArn})
	if err != nil {
		t.Fatal(err)
	}
	if *d.Name != "planned" || d.CreationDate == nil || d.EncryptionConfiguration.Type != types.EncryptionTypeAwsOwnedKey ||
		len(tags.Tags) != 1 || *tags.Tags[0].Value != "shop" {
		t.Errorf("the plan has a difference: %+v %+v", d, tags.Tags)
	}
	if _, err := c.DeleteActivity(ctx, &sfn.DeleteActivityInput{ActivityArn: made.ActivityArn}); err != nil {
		t.Fatal(err)
	}
	_, err = c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: made.ActivityArn})
	if missing := (*types.ActivityDoesNotExist)(nil); !errors.As(err, &missing) {
		t.Errorf("a deleted activity: %v", err)
	}
}

func planDomain(ctx context.Context, t *testing.T, c *swf.Client) {
	t.Helper()
	name := aws.String("planned")
	_, err := c.RegisterDomain(ctx, &swf.RegisterDomainInput{
		Name: name, Description: aws.String("shown"), WorkflowExecutionRetentionPeriodInDays: aws.String("30"),
		Tags: []swftypes.ResourceTag{{Key: aws.String("team"), Value: aws.String("shop")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.DescribeDomain(ctx, &swf.DescribeDomainInput{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	tags, err := c.ListTagsForResource(ctx, &swf.ListTagsForResourceInput{ResourceArn: d.DomainInfo.Arn})
	if err != nil {
		t.Fatal(err)
	}
	if *d.DomainInfo.Name != *name || aws.ToString(d.DomainInfo.Description) != "shown" || d.DomainInfo.Status != swftypes.RegistrationStatusRegistered ||
		*d.Configuration.WorkflowExecutionRetentionPeriodInDays != "30" || len(tags.Tags) != 1 || *tags.Tags[0].Value != "shop" {
		t.Errorf("the plan has a difference: %+v %+v", d, tags.Tags)
	}
	if _, err := c.DeprecateDomain(ctx, &swf.DeprecateDomainInput{Name: name}); err != nil {
		t.Fatal(err)
	}
	if d, err = c.DescribeDomain(ctx, &swf.DescribeDomainInput{Name: name}); err != nil || d.DomainInfo.Status != swftypes.RegistrationStatusDeprecated {
		t.Errorf("a deleted domain: %+v, %v", d, err)
	}
}

// decode returns a JSON text as the provider compares it.
func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
