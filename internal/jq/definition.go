package jq

// definitions replace functions of gojq that do more work than their operands suggest. gojq's versions pass outputs of
// a filter, which no guard has checked, to operations that visit them whole. The definitions are otherwise gojq's own,
// and guards are put into them as into any program.
var definitions = map[string]string{
	"add/1": `def add(f): [f] | add;`,
	"from_entries/0": `def from_entries:
		map({ (.key // .Key // .name // .Name): if has("value") then .value else .Value end }) | add // {};`,
	"with_entries/1": `def with_entries(f): to_entries | map(f) | from_entries;`,
	"min_by/1":       `def min_by(f): _min_by(map([f]));`,
	"max_by/1":       `def max_by(f): _max_by(map([f]));`,
	"sort_by/1":      `def sort_by(f): _sort_by(map([f]));`,
	"group_by/1":     `def group_by(f): _group_by(map([f]));`,
	"unique_by/1":    `def unique_by(f): _unique_by(map([f]));`,
	"INDEX/2":        `def INDEX(stream; idx_expr): reduce stream as $row ({}; .[$row | idx_expr | tostring] = $row);`,
	"INDEX/1":        `def INDEX(idx_expr): INDEX(.[]; idx_expr);`,
	"IN/1":           `def IN(s): any(s == .; .);`,
	"IN/2":           `def IN(src; s): any(src == s; .);`,
	"match/1":        `def match($re): if $re | type == "array" then match($re[0]; $re[1]) else match($re; null) end;`,
	"match/2":        `def match($re; $flags): ` + matchGuard + `($re; $flags; false; ` + meterVariable + `)[];`,
	"test/1":         `def test($re): if $re | type == "array" then test($re[0]; $re[1]) else test($re; null) end;`,
	"test/2":         `def test($re; $flags): ` + matchGuard + `($re; $flags; true; ` + meterVariable + `);`,
	"capture/1": `def capture($re):
		if $re | type == "array" then capture($re[0]; $re[1]) else capture($re; null) end;`,
	"capture/2": `def capture($re; $flags): match($re; $flags) | .captures | _captures;`,
	"scan/1":    `def scan($re): scan($re; null);`,
	"scan/2": `def scan($re; $flags):
		match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;`,
	"splits/1": `def splits($re): splits($re; null);`,
	"splits/2": `def splits($re; $flags): .[foreach (match($re; $flags + "g"), null) as {$offset, $length}
		(null; {start: .next, end: $offset, next: $offset + $length})];`,
	"split/2": `def split($re; $flags): [splits($re; $flags)];`,
	"sub/2":   `def sub($re; str): sub($re; str; null);`,
	"sub/3": `def sub($re; str; $flags): reduce match($re; $flags) as {$offset, $length, $captures}
		({s: ., r: []};
			reduce ($captures | _captures | str) as $s (.i = 0; .r[.i] += .s[.next:$offset] + $s | .i += 1) |
			.next = $offset + $length) | .r[] + .s[.next:] // .s;`,
	"gsub/2": `def gsub($re; str): sub($re; str; "g");`,
	"gsub/3": `def gsub($re; str; $flags): sub($re; str; $flags + "g");`,
	"fromstream/1": `def fromstream(f): foreach f as $pv (null;
		if .e then null end | $pv as [$p, $v] |
		if $pv | length == 2 then setpath(["v"] + $p; $v) | setpath(["e"]; $p | length == 0)
		else setpath(["e"]; $p | length == 1) end;
		if .e then .v else empty end);`,
}
