package jsonpath_test

import "testing"

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, "$.berths[?(@.tons > 500)].crew[0]")
	}
}

func BenchmarkGet(b *testing.B) {
	doc := decode(b, `{"a": {"b": [{"c": 1}]}, "harbor": `+harbor+`}`)
	for name, text := range map[string]string{
		"simple":    "$.a.b[0].c",
		"wildcard":  "$.harbor.berths[*].id",
		"filter":    "$.harbor.berths[?(@.tons > 500 && @.ship == 'Otto')].id",
		"regexp":    "$.harbor.berths[?(@.ship =~ /o.*/i)].id",
		"recursive": "$..id",
	} {
		b.Run(name, func(b *testing.B) {
			path := mustParse(b, text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := path.Get(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSet(b *testing.B) {
	doc, path := decode(b, harbor), mustParse(b, "$.limits.nested.depth")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := path.Set(doc, 7); err != nil {
			b.Fatal(err)
		}
	}
}
