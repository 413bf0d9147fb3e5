package jobs_test

import (
	"testing"

	"github.com/ebbflow/ebb/jobs"
)

// TestZone: a schedule without a known time zone is in UTC.
func TestZone(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"TZ=Europe/Rome 30 2 * * *": "Europe/Rome", "CRON_TZ=Asia/Tokyo @daily": "Asia/Tokyo", "* * * * *": "UTC", "TZ=No/Where @daily": "UTC",
	} {
		if got := jobs.Zone(spec).String(); got != want {
			t.Errorf("%q: %s, want %s", spec, got, want)
		}
	}
}

// TestDescribe says common schedules in words, and nothing about others.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"TZ=Europe/Rome 30 2 * * *": "every day at 02:30, in Europe/Rome", "CRON_TZ=UTC @daily": "every day at 00:00, in UTC",
		"@every 90m": "every 90m", "*/15 * * * *": "every 15 minutes", "5 * * * *": "every hour, at minute 5", "* * * * *": "every minute",
		"0 9 * * 1-5": "Monday to Friday at 09:00", "0 9 * * 7": "every Sunday at 09:00", "15 6 1 * *": "on day 1 of every month at 06:15",
		"@hourly": "every hour, at minute 0",
		// The words would be longer, or wrong.
		"*/7 * * * *": "", "0 9 1 * 1": "", "0 9 * 6 *": "", "0 9,17 * * *": "", "0 9 * * 1-3": "", "": "", "@reboot": "", "99 2 * * *": "",
		"*/0 * * * *": "", "TZ=UTC": "",
	} {
		if got := jobs.Describe(spec); got != want {
			t.Errorf("%q: %q, want %q", spec, got, want)
		}
	}
}
