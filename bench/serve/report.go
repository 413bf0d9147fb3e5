package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// A row is one row of the table.
type row struct {
	what, aim     string
	m             *sample
	handler, disk float64 // ceilings, of what the sample counts; 0 means not measured
	more          []string
	quiet         bool // the rate means nothing, for example because clients waited
	bare          bool // there are no ceilings, and no columns for them
}

// heading returns the heading of the table for rows with ceilings, or without.
func heading(bare bool) string {
	if bare {
		return "| request | a second | p50 | p99 | aim | and |\n|---|---|---|---|---|---|"
	}
	return "| request | a second | p50 | p99 | aim | rate / handler | rate / disk | and |\n" +
		"|---|---|---|---|---|---|---|---|"
}

// String returns the row of the Markdown table.
func (r *row) String() string {
	rate, p50, p99 := "", "", ""
	if r.m != nil {
		if !r.quiet {
			rate = number(r.m.rate())
		}
		if len(r.m.took) > 0 {
			p50, p99 = millis(r.m.at(0.5)), millis(r.m.at(0.99))
		}
	}
	cells := []string{r.what, rate, p50, p99, r.aim}
	if !r.bare {
		cells = append(cells, r.ratio(r.handler), r.ratio(r.disk))
	}
	cells = append(cells, strings.Join(r.more, "; "))
	return strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |", "|  ", "| ")
}

func (r *row) ratio(ceiling float64) string {
	if ceiling == 0 || r.quiet {
		return ""
	}
	return fmt.Sprintf("%.2f", r.m.rate()/ceiling)
}

func (r *row) notef(format string, args ...any) {
	r.more = append(r.more, fmt.Sprintf(format, args...))
}

// number returns a number with three digits or fewer that count.
func number(n float64) string {
	if n < 100 {
		return fmt.Sprintf("%.3g", n)
	}
	unit := math.Pow(10, math.Floor(math.Log10(n))-2)
	text := fmt.Sprintf("%.0f", math.Round(n/unit)*unit)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func millis(d time.Duration) string { return number(d.Seconds()*1000) + " ms" }

// withCeilings returns a row of a load, with its ceilings.
func (s *server) withCeilings(ctx context.Context, service, what, aim string, m *sample) (row, error) {
	r := row{what: what, aim: aim, m: m}
	if m.count == 0 {
		return r, fmt.Errorf("%s: nothing was done in %v", what, m.elapsed)
	}
	refused, err := s.refusals(ctx, service)
	if err != nil {
		return r, err
	}
	r.handler = refused / m.calls
	if m.commits > 0 {
		commits, err := s.bare(ctx, m.rows/m.commits, m.bytes/max(m.rows, 1))
		if err != nil {
			return r, err
		}
		r.disk = commits / (m.commits / float64(m.count))
		r.notef("%s commits", number(m.commits/float64(m.count)))
	}
	return r, nil
}
