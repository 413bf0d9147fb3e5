package check

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Time spans have the two forms of the original engine: the .NET form, and ISO 8601 with years of 365 days and
// months of 30 days. Weeks are an addition. Ebb refuses texts that the original interprets in an unexpected way
// ("10" is ten days, "24:00:00" is 24 days), and negative time spans.
var (
	clockSpan = regexp.MustCompile(`^(?:(\d{1,8})\.)?([01]?\d|2[0-3]):([0-5]?\d)(?::([0-5]?\d)(?:\.(\d{1,7}))?)?$`)
	isoSpan   = regexp.MustCompile(`^P(?:(\d{1,8})Y)?(?:(\d{1,8})M)?(?:(\d{1,8})W)?(?:(\d{1,8})D)?` +
		`(T(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10})(?:\.(\d{1,9}))?S)?)?$`)
)

const day = 24 * time.Hour

// maxSpan is the longest time span, about 290 years.
const maxSpan = time.Duration(1<<63 - 1)

// parseTimespan parses a time span.
func parseTimespan(text string) (time.Duration, bool) {
	if part := clockSpan.FindStringSubmatch(text); part != nil {
		return total(part[5], amount{part[1], day}, amount{part[2], time.Hour}, amount{part[3], time.Minute},
			amount{part[4], time.Second})
	}
	part := isoSpan.FindStringSubmatch(text)
	if part == nil || text == "P" || strings.HasSuffix(text, "T") {
		return 0, false
	}
	return total(part[9],
		amount{part[1], 365 * day}, amount{part[2], 30 * day}, amount{part[3], 7 * day}, amount{part[4], day},
		amount{part[6], time.Hour}, amount{part[7], time.Minute}, amount{part[8], time.Second},
	)
}

// An amount is a number of units of time; "" means none.
type amount struct {
	digits string
	unit   time.Duration
}

// total adds the amounts and the fraction of a second.
func total(fraction string, amounts ...amount) (time.Duration, bool) {
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	sum := time.Duration(nanos)
	for _, a := range amounts {
		if a.digits == "" {
			continue
		}
		n, err := strconv.ParseInt(a.digits, 10, 64)
		if err != nil || n > int64((maxSpan-sum)/a.unit) {
			return 0, false
		}
		sum += time.Duration(n) * a.unit
	}
	return sum, true
}
