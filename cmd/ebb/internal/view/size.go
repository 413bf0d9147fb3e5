package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/storage"
)

// sizeUnits are the units of sizes in flags. Units of a thousand are not accepted, because readers disagree about
// GB.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}

// ParseSize parses a number of bytes, such as 1.5GiB.
func ParseSize(text string) (int64, bool) {
	factor := int64(1)
	for _, unit := range sizeUnits {
		if number, is := strings.CutSuffix(text, unit.name); is {
			text, factor = strings.TrimSpace(number), unit.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpPeEnN_+") || n*float64(factor) < 1 || n*float64(factor) > 1<<60 {
		return 0, false
	}
	return int64(n * float64(factor)), true
}

// Size formats a number of bytes.
func Size(n int64) string {
	for _, unit := range []int{2, 1, 0} {
		if u := sizeUnits[unit]; n >= u.bytes {
			//nolint:mnd // one digit behind the point
			return strconv.FormatFloat(float64(n*10/u.bytes)/10, 'f', -1, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// Mebibyte is the number of bytes of a MiB.
const Mebibyte = 1 << 20

// Written returns how much a run has written.
func Written(run *storage.Run) string {
	return fmt.Sprintf("%.1f MiB in %s of history", float64(run.Bytes)/Mebibyte, Count(int(run.Entries), "line"))
}

// Count returns "1 run" or "2 runs".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
