package asl_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceASLValidation validates definitions that AWS and other
// validators have judged.
func TestConformanceASLValidation(t *testing.T) {
	t.Parallel()
	tally := conformance.NewAspects("asl/validation")
	for _, record := range conformance.Verdicts(t) {
		if record.Fragment {
			continue // not a machine: what it lacks was no question to the validator that judged it
		}
		problems := asl.Validate("", record.Source(), typed(record.Type)...)
		switch {
		case record.Valid:
			tally.Count("valid", record.Name, refusal(problems))
		case problems.Legal():
			tally.Count("invalid", record.Name, "accepted")
			if record.Provenance == "aws" {
				t.Errorf("%s: AWS refuses it", record.Name)
			}
		default:
			tally.Count("invalid", record.Name, "")
		}
		if codes := record.Codes(); len(codes) > 0 {
			tally.Count("code", record.Name, unlike(problems, func(p flow.Diagnostic) bool { return codes[string(p.Code)] }))
		}
		if places := record.Locations(); len(places) > 0 {
			tally.Count("location", record.Name, unlike(problems, func(p flow.Diagnostic) bool { return slices.Contains(places, p.Pointer) }))
		}
	}
	tally.Print(t)
	tally.Demand(t, "invalid", 0.9)
	tally.Demand(t, "valid", 0.99)
	tally.Demand(t, "code", 0.9)
}

// TestConformanceASLSamples validates real definitions of users, which are all legal, and counts those that this
// version can run.
func TestConformanceASLSamples(t *testing.T) {
	t.Parallel()
	tally := conformance.NewAspects("asl/samples")
	for _, record := range conformance.Samples(t) {
		tally.Count("valid", record.Name, refusal(asl.Validate("", record.Definition)))
		_, err := asl.Parse("", record.Definition)
		tally.Count("runnable", record.Name, message(err))
	}
	tally.Print(t)
	tally.Demand(t, "valid", 1)
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestConformanceASLExecuted validates definitions that AWS has executed, so all
// of them are legal.
func TestConformanceASLExecuted(t *testing.T) {
	t.Parallel()
	tally := conformance.NewAspects("asl/execution")
	for _, record := range conformance.Executions(t) {
		tally.Count("valid", record.Name, refusal(asl.Validate("", record.Definition, typed(record.Type)...)))
	}
	tally.Print(t)
	tally.Demand(t, "valid", 1)
}

// typed returns the options for a machine of a type.
func typed(machine string) []asl.Option {
	if machine == "EXPRESS" {
		return []asl.Option{asl.Express()}
	}
	return nil
}

// refusal returns the errors among problems, "" when there are none.
func refusal(problems flow.Diagnostics) string {
	if problems.Legal() {
		return ""
	}
	return problems.Error()
}

// unlike returns the problems when none of their errors is the expected one.
func unlike(problems flow.Diagnostics, expected func(flow.Diagnostic) bool) string {
	for _, p := range problems {
		if p.Severity == flow.SeverityError && expected(p) {
			return ""
		}
	}
	return fmt.Sprintf("found %q", problems.Error())
}
