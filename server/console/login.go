package console

import "context"

// login shows the form in which a person gives a key. The server answers it, see package server.
func (*console) login(_ context.Context, v *visit) (node, error) {
	return el("section", class("login"),
		el("h1", words("Log in")),
		el("p", words("Paste a key of this server for view or operate. The browser then has a cookie for twelve hours.")),
		when(v.query.Get("wrong") != "", el("p", attr("role", "alert"), words("This key opens nothing here."))),
		el("form", attr("method", "post"), attr("action", "login"),
			el("input", attr("type", "hidden"), attr("name", "next"), attr("value", v.query.Get("next"))),
			el("label", words("Key "), el("input", attr("type", "password"), attr("name", "key"),
				attr("autocomplete", "current-password"), attr("required", ""))),
			words(" "), el("button", words("Log in")))), nil
}

// who says who sees the page, and what they may do.
func who(v *visit) node {
	name, may := v.caller.Name, "read only"
	if v.operates {
		may = "operate"
	}
	if name != "" {
		may = name + " · " + may
	}
	return el("span", class("who soft"), el("span", attr("data-live", ""), attr("role", "status")),
		words(may+" · "+clock(v.now)),
		when(v.caller.Login, words(" "), el("form", attr("method", "post"), attr("action", "logout"),
			el("button", class("link"), words("Log out")))))
}

// keys lists the keys of the pages. The script opens it.
var keys = el("dialog", attr("id", "keys"), attr("aria-label", "Keys"), el("dl",
	el("dt", code("/")), el("dd", words("search the runs")),
	el("dt", code("j k")), el("dd", words("next and previous row")),
	el("dt", code("?")), el("dd", words("show and hide this list")),
	el("dt", code("Esc")), el("dd", words("close"))))
