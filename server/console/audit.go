package console

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
)

// audit shows who commanded what, newest first.
func (c *console) audit(ctx context.Context, v *visit) (node, error) {
	below, _ := strconv.ParseInt(v.query.Get("below"), 10, 64) // a text that is no number begins at the top
	run := v.query.Get("run")
	by, command, period, posts := v.query.Get("by"), v.query.Get("command"), v.query.Get("time"), v.query.Get("posts")
	f := inspect.AuditFilter{By: by, Command: command, Posts: posts != ""}
	var problem node = none
	var err error
	if f.From, f.To, err = runfilter.ParseSpan(period, v.now); err != nil {
		problem = el("p", attr("role", "alert"), words(err.Error()))
	}
	q := backend.AuditQuery{Below: max(below, 0), Run: run, Limit: few}
	lines, at, err := inspect.Audit(ctx, c.store, q, &f, inspect.AuditRead)
	if err != nil {
		return nil, err
	}
	title, nothing := say("Audit"), calm("No command was given.")
	if run != "" {
		title, nothing = say("Audit of {0}", words(run)), calm("No command was given to this run.")
	}
	rows := each(lines, func(l *inspect.AuditLine) node {
		var subject node = words(l.Subject)
		if l.Run != "" {
			subject = runLink(l.Run)
		}
		why := ""
		if l.Failure != nil {
			why = l.Failure.Message
		}
		return el("tr", el("td", exact(l.Time)), el("td", words(l.Issuer())), el("td", words(l.Command)),
			el("td", subject, when(l.Path != "", words(" "+l.Path))), el("td", words(l.To)),
			el("td", class("cause"), words(why)))
	})
	var next node = none
	if at > 0 {
		next = el("p", el("a", attr("rel", "next"), say("Older lines →"),
			href(link("audit", "run", run, "by", by, "command", command, "time", period, "posts", posts,
				"below", strconv.FormatInt(at, 10)))))
	}
	return fragment{
		el("h1", title),
		soft(say("Who commanded what. Claimed names were not checked. Only a command to a run is later applied or refused.")),
		el("form", class("filter"), attr("method", "get"), attr("action", "audit"),
			el("input", attr("type", "hidden"), attr("name", "run"), attr("value", run)),
			auditField("By", "by", by, "ann"), auditField("Command", "command", command, "cancel"),
			auditField("Time", "time", period, "<1h"),
			el("label", class("check"), checkbox("posts", f.Posts), words(" "), say("posted jobs")),
			el("button", say("Filter"))), problem,
		when(len(lines) > 0, grid(heads("Time", "By", "Command", "To", "Became", "Why"), rows)),
		when(len(lines) == 0, nothing), next,
	}, nil
}

// auditField is a field of the form that filters the audit.
func auditField(label, name, value, such string) node {
	return el("label", say(label), words(" "), el("input", attr("name", name), attr("value", value),
		attr("placeholder", such), attr("spellcheck", "false"), attr("autocapitalize", "off")))
}
