package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/cloudevents"
)

// startByRules returns what posts a job for each rule of a template that matches an event. The id of the job is made of
// the rule and the event, so that an event that is sent again starts nothing.
func (w *serving) startByRules(store backend.Store) cloudevents.Start {
	board := jobs.New(store, jobs.Policy{})
	return func(ctx context.Context, events []cloudevents.Event) ([]string, error) {
		g := w.given()
		var list []jobs.Job
		for rule := range g.rules {
			version, err := g.version(ctx, store, rule.Machine)
			if err != nil {
				return nil, err
			}
			for _, e := range events {
				event := w.asEventBridge(e)
				if !rule.Pattern.Match(event) {
					continue
				}
				input, err := rule.Input.Of(event)
				if err != nil {
					return nil, err
				}
				list = append(list, jobs.Job{ID: idOf(rule, e), Flow: rule.Machine, Version: version, Input: input})
			}
		}
		if len(list) == 0 {
			return nil, nil
		}
		return board.Post(ctx, list...)
	}
}

// rules yields the rules of all templates.
func (g *given) rules(yield func(*template.Rule) bool) {
	for _, p := range g.projects {
		for _, t := range p.Templates {
			for i := range t.Rules {
				if !yield(&t.Rules[i]) {
					return
				}
			}
		}
	}
}

// idOf returns the id of the job of a rule for an event.
func idOf(rule *template.Rule, e cloudevents.Event) string {
	sum := sha256.Sum256([]byte(rule.Machine + " " + e.Attribute("source") + " " + e.Attribute("id")))
	return rule.Name + "@" + hex.EncodeToString(sum[:8])
}

// asEventBridge returns a CloudEvent as rules of EventBridge see it.
func (w *serving) asEventBridge(e cloudevents.Event) map[string]any {
	var detail any
	if json.Unmarshal(e["data"], &detail) != nil {
		detail = nil // it is binary, or there is none
	}
	return map[string]any{
		"version": "0", "id": e.Attribute("id"), "detail-type": e.Attribute("type"), "source": e.Attribute("source"),
		"account": w.account, "region": w.region, "time": e.Attribute("time"), "resources": []any{}, "detail": detail,
	}
}
