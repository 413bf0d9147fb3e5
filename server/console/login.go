package console

import "context"

// login shows the form in which a person gives a key. The server answers it, see package server.
func (*console) login(_ context.Context, v *visit) (node, error) {
	return el("section", class("login"),
		el("h1", say("Log in")),
		el("p", say("Paste a key of this server for view or operate. The browser then has a cookie for twelve hours.")),
		when(v.query.Get("wrong") != "", el("p", attr("role", "alert"), say("This key opens nothing here."))),
		el("form", attr("method", "post"), attr("action", "login"),
			el("input", attr("type", "hidden"), attr("name", "next"), attr("value", v.query.Get("next"))),
			el("label", say("Key"), words(" "), el("input", attr("type", "password"), attr("name", "key"),
				attr("autocomplete", "current-password"), attr("required", ""))),
			words(" "), el("button", say("Log in")))), nil
}

// who says who sees the page, and what they may do.
func who(v *visit) node {
	name, may := v.caller.Name, say("read only")
	if v.operates {
		may = say("operate")
	}
	if name != "" {
		name += " · "
	}
	return el("span", class("who soft"),
		el("span", attr("data-live", ""), attr("role", "status"), sayAttr("data-says-live", "live"),
			sayAttr("data-says-polling", "asks every 5 s")),
		words(" "+name), may, words(" · "), second(v.now), words(" "), timeChoice,
		when(v.caller.Login, words(" "), el("form", attr("method", "post"), attr("action", "logout"),
			el("button", class("link"), say("Log out")))))
}

// timeChoice chooses how times are shown. The script shows it.
var timeChoice = el("select", attr("data-times", ""), attr("hidden", ""), sayAttr("aria-label", "Times"),
	el("option", attr("value", "page"), say("times: UTC and relative")),
	el("option", attr("value", "local"), say("times: local")), el("option", attr("value", "utc"), say("times: UTC")),
	el("option", attr("value", "relative"), say("times: relative")))

// keys lists the keys of the pages. The script opens it.
var keys = el("dialog", attr("id", "keys"), sayAttr("aria-label", "Keys"), el("dl",
	el("dt", code("/")), el("dd", say("search the runs")),
	el("dt", code("j k")), el("dd", say("next and previous row")),
	el("dt", code("+ -")), el("dd", say("larger and smaller graph")),
	el("dt", code("?")), el("dd", say("show and hide this list")),
	el("dt", code("Esc")), el("dd", say("close"))))
