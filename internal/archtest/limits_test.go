package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/ecmaregexp"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// limits are the values of the names on the page of limits: constants, defaults of options, limits of a run, and
// quotas.
func limits() map[string]int64 {
	run := engine.DefaultLimits()
	all := map[string]int64{
		"asl.MaxDefinition": asl.MaxDefinition, "asl.MaxEvents": asl.MaxEvents, "asl.MaxPayload": asl.MaxPayload,
		"asl.MaxProblems": asl.MaxProblems, "atom.MaxDetails": atom.MaxDetails,
		"atom.MaxFailureCode": atom.MaxFailureCode, "atom.MaxFailureDetails": atom.MaxFailureDetails,
		"atom.MaxFailureText": atom.MaxFailureText, "atom.MaxValue": atom.MaxValue,
		"aws.MaxBody": aws.MaxBody, "aws.MaxSkew": int64(aws.MaxSkew), "aws.TokenLife": int64(aws.TokenLife),
		"ecmaregexp.MaxLength": ecmaregexp.MaxLength, "ecmaregexp.MaxProgram": ecmaregexp.MaxProgram,
		"engine.MaxRefused": engine.MaxRefused, "engine.WithGrace": int64(engine.DefaultGrace),
		"engine.WithMaxLost":     engine.DefaultMaxLost,
		"engine.WithParallelism": engine.DefaultParallelism, "engine.WithSlots": engine.DefaultSlots,
		"jobs.MaxCatchUp": jobs.MaxCatchUp, "jsonata.MaxDepth": jsonata.MaxDepth,
		"jsonata.MaxLength": jsonata.MaxLength, "jsonata.MaxNesting": jsonata.MaxNesting,
		"jsonata.MaxPatterns": jsonata.MaxPatterns, "jsonata.MaxSize": jsonata.MaxSize,
		"jsonata.MaxSteps": jsonata.MaxSteps, "sm4c.MaxDefinition": sm4c.MaxDefinition,
		"storage.InlineLimit": storage.InlineLimit, "storage.MaxID": storage.MaxID, "storage.MaxKey": storage.MaxKey,
		"storage.MaxLabel": storage.MaxLabel, "storage.MaxMessages": storage.MaxMessages,
		"storage.MaxRecordBody": storage.MaxRecordBody, "storage.MaxRecordChecks": storage.MaxRecordChecks,
		"storage.MaxRecordKey": storage.MaxRecordKey, "storage.MaxRecordKind": storage.MaxRecordKind,
		"storage.MaxRecordWrites": storage.MaxRecordWrites, "storage.MaxScheduleID": storage.MaxScheduleID,
		"storage.MaxSecret": storage.MaxSecret, "storage.MaxSecrets": storage.MaxSecrets,
		"storage.PageBytes": storage.PageBytes, "storage.PageRecords": storage.PageRecords,

		"transitions": run.Transitions, "atoms": run.Atoms, "values": run.Values, "iterations": run.Iterations,
		"bytes": run.Bytes, "descendants": run.Descendants, "depth": run.Depth,
	}
	for _, q := range slices.Concat(sfn.Quotas(), swf.Quotas()) {
		all[string(q.Name)] = q.Default
	}
	return all
}

var (
	// limitName finds the names in a row of the page.
	limitName = regexp.MustCompile("`([a-z-]+|(?:[a-z0-9]+\\.)?[A-Z][A-Za-z]+)`")
	// limitConstant finds the names that limits must know.
	limitConstant = regexp.MustCompile(`^(?:[a-z0-9]+\.)?(?:Max|Page|Inline|Token)[A-Z]\w*$`)
)

// TestLimits compares the numbers on the page of limits with the code.
func TestLimits(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/reference/limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, seen := limits(), map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 3 {
			continue
		}
		pkg := ""
		for _, match := range limitName.FindAllStringSubmatch(cells[0]+" "+cells[2], -1) {
			name := match[1]
			if before, _, qualified := strings.Cut(name, "."); qualified {
				pkg = before
			} else if name[0] < 'a' {
				name = pkg + "." + name
			}
			value, isKnown := known[name]
			switch {
			case !isKnown && limitConstant.MatchString(name):
				t.Errorf("line %d names %s, which this test does not know", i+1, name)
			case isKnown && !says(cells[1], value):
				t.Errorf("line %d: %s is %s; the page says %q", i+1, name, spellings(value)[0], cells[1])
			}
			seen[name] = true
		}
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// says reports whether a cell contains the value, in one of its spellings, as a whole number.
func says(cell string, value int64) bool {
	return slices.ContainsFunc(spellings(value), func(text string) bool {
		return regexp.MustCompile(`(?:^|[^\d,])` + regexp.QuoteMeta(text) + `(?:$|[^\d,]|,\s)`).MatchString(cell)
	})
}

// spellings returns the forms in which a page may write a number, a number of bytes or a time.
func spellings(value int64) []string {
	if value == aws.NoQuota {
		return []string{"none"}
	}
	all := []string{grouped(value)}
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if size := int64(1) << (10 * (i + 1)); value%size == 0 {
			all = append(all, fmt.Sprintf("%d %s", value/size, unit))
		}
	}
	for size, unit := range map[time.Duration]string{time.Minute: "min", time.Hour: "h"} {
		if d := time.Duration(value); d%size == 0 {
			all = append(all, fmt.Sprintf("%d %s", d/size, unit))
		}
	}
	return all
}

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
