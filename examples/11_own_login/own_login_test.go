// Package ownlogin shows the console in a program of your own, behind its own login.
//
// You learn to mount the console below a path, to say who calls, and to serve two consoles in one program.
//
// The scenario: a company runs its bookings in one database and its servers in another. Its operators see both in the
// program that they know, after its login. No other user sees them.
package ownlogin_test

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// login asks for a name and a password, and tells Ebb who calls. Yours may look for the cookie of a session instead.
func login(passwords map[string]string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		want, known := passwords[name]
		given, right := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(want)) // of one length, compared in equal time
		if subtle.ConstantTimeCompare(given[:], right[:]) != 1 || !known {
			w.Header().Set("WWW-Authenticate", `Basic realm="operations"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		caller := server.Caller{Name: name, Operate: true}
		next.ServeHTTP(w, r.WithContext(server.WithCaller(r.Context(), caller)))
	})
}

type book struct{ full bool }

func (t book) Execute(context.Context, struct{}) (string, error) {
	if t.full {
		return "", errors.New("the hotel is full")
	}
	return "booked", nil
}

func (book) Revert(context.Context, struct{}, atom.Outcome[string]) error { return nil }

// runOf leaves a run in a database: it books a flight, and fails to book a hotel.
func runOf(ctx context.Context, store storage.Store, id string) error {
	trip := flow.Linear("trip", atom.Task("flight", book{}), atom.Task("hotel", book{full: true}))
	eng, err := engine.New(trip, store)
	if err != nil {
		return err
	}
	_, _ = eng.Run(ctx, id) // it fails, and is undone
	return nil
}

// Example mounts two consoles below /ops/ and reads them without a password, and as Ann.
func Example() {
	mux := http.NewServeMux()
	for name, run := range map[string]string{"bookings": "trip-1", "servers": "boot-1"} {
		store := memstore.New() // or sqlstore.Open, or the one that your program has open
		if err := runOf(context.Background(), store, run); err != nil {
			fmt.Println(err)
			return
		}
		mux.Handle("/ops/"+name+"/", console.New(store, console.Options{}))
	}
	handler := login(map[string]string{"ann": "correct horse"}, mux) // for an http.Server with TLS

	for _, who := range []string{"", "ann"} {
		for _, page := range []string{"/ops/bookings/run?id=trip-1", "/ops/servers/run?id=trip-1"} {
			ask := httptest.NewRequestWithContext(context.Background(), http.MethodGet, page, http.NoBody)
			if who != "" {
				ask.SetBasicAuth(who, "correct horse")
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, ask)
			fmt.Printf("%q asks for %s: %d, undone: %t\n", who, page, answer.Code, strings.Contains(answer.Body.String(), "REVERTED"))
		}
	}
	// Output:
	// "" asks for /ops/bookings/run?id=trip-1: 401, undone: false
	// "" asks for /ops/servers/run?id=trip-1: 401, undone: false
	// "ann" asks for /ops/bookings/run?id=trip-1: 200, undone: true
	// "ann" asks for /ops/servers/run?id=trip-1: 404, undone: false
}
