package console

import "embed"

//go:embed examples
var examples embed.FS

// example returns the fields of the editor for a small definition in a language, asl or sm4c; nil if there is none. Its
// mocks let a trial fail at the second state, so that the first is undone.
func example(language string) map[string]string {
	if language != "asl" && language != "sm4c" {
		return nil
	}
	read := func(name string) string {
		text, err := examples.ReadFile("examples/" + name + ".json")
		if err != nil {
			panic(err) // it is embedded
		}
		return string(text)
	}
	return map[string]string{"flow": "order", "text": read(language), "mocks": read("mocks")}
}

// offersExamples leads from an empty editor to one with an example.
func offersExamples() node {
	to := func(language, title string) node {
		return el("a", href(link(editPage, "example", language)), words(title))
	}
	return el("p", class("soft"), say("Begin with an example in {0} or {1}.", to("asl", "ASL"), to("sm4c", "SM4C")))
}
