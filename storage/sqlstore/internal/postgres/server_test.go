package postgres

import (
	"strings"
	"testing"
)

// TestErrorsOfDSNs: what is wrong with a DSN is said in words, and never with the password.
//
// Attack (Keys, certificates and settings): 37 odd DSNs: devices, folders, line breaks, odd ports, schemas and
// timeouts.
// Result: Refused with 7. Open to the operator: `sslrootcert=/dev/zero` fills the memory.
// Also: `storage/sqlstore/internal/dberr: TestTroubleOfFiles`; others by hand.
func TestErrorsOfDSNs(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://me:hidden@:99999/x", "postgres://me:hidden@h:0/x", "postgres://me:hidden@h/x?sslmode=odd", "postgres://me:hidden@h/x?connect_timeout=-1",
		"postgres://me:hidden@h/x?port=a&password=hidden", "postgres://me:hidden@h/x?target_session_attrs=odd", "postgres://me:hidden@h/x?lease=NaN", "postgres://me:hidden@h/%zz",
		"postgres://me:hidden@h/x?sslrootcert=/none&sslmode=verify-full", "postgres://me:hidden@h/x?service=none",
	} {
		_, err := Parse(dsn)
		if err == nil || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
