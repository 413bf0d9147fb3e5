// Package orderdesk is a small service: the third part of the tutorial.
//
// You learn to serve runs, so that a run whose process died resumes in the next one, to let a person decide over HTTP,
// to post a job together with a row of your own, and to test every way to fail.
//
// The scenario: an order needs the approval of a person before a card is charged. A parcel that cannot be sent gives the
// money back.
package orderdesk_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

type order struct {
	Cents int `json:"cents"`
}

type approval struct {
	By string `json:"approved_by"`
}

var cents = atom.NewKey[int]("cents")

func orderFlow(bank *Bank, post *Post) flow.Node {
	return flow.Linear("order",
		atom.Func("check", check, atom.NoEffect()), // it only looks: nothing of it can stay done
		atom.Awaits[approval]("approve", "approved", atom.Deferral{Deadline: 24 * time.Hour}),
		atom.Task("charge", charge{bank}, atom.Attempts(3, atom.Exponential(time.Second, time.Minute))),
		atom.Func("send", post.Send),
	)
}

func check(ctx context.Context, in order) (struct{}, error) {
	atom.Logger(ctx).Info("order.checked", "cents", in.Cents)
	if in.Cents <= 0 {
		return struct{}{}, atom.Errorf("Order.Empty", "an order of %d cents", in.Cents)
	}
	return struct{}{}, nil
}

type charge struct{ bank *Bank }

func (t charge) Execute(ctx context.Context, in order) (struct{}, error) {
	return struct{}{}, t.bank.Charge(atom.IdempotencyKey(ctx), in.Cents)
}

func (t charge) Revert(ctx context.Context, _ order, _ atom.Outcome[struct{}]) error {
	return t.bank.Refund(atom.IdempotencyKey(ctx)) // whether it was charged or not, the bank knows by the key
}

// desk is what the service answers over HTTP.
func desk(eng *engine.Engine, store storage.Store) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("cents"))
		answer(w, eng.Start(r.Context(), r.PathValue("id"), engine.With(cents, n)))
	})
	mux.HandleFunc("POST /orders/{id}/approval", func(w http.ResponseWriter, r *http.Request) {
		by := approval{By: r.FormValue("by")}
		answer(w, engine.Signal(r.Context(), store, r.PathValue("id"), "approved", by))
	})
	return mux
}

func answer(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
		w.WriteHeader(http.StatusAccepted)
	case errors.Is(err, storage.ErrNotFound):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, engine.ErrInputsDiffer), errors.Is(err, storage.ErrEnded):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, storage.ErrExists): // the same order again: it is accepted already
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// run serves until ctx ends. Any number of processes may do so on one store.
func run(ctx context.Context, store storage.Store, bank *Bank, post *Post, ready func(http.Handler)) error {
	eng, err := engine.New(orderFlow(bank, post), store,
		engine.WithInputs(cents), engine.WithLogger(engine.FromSlog(slog.Default())))
	if err != nil {
		return err
	}
	ready(desk(eng, store))
	return eng.Serve(ctx, engine.WithDrain(10*time.Second))
}

// place writes an order of yours, and posts the job that ships it, in one transaction.
func place(ctx context.Context, db *sql.DB, board *jobs.Board, id string, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, cents) VALUES ($1, $2)", id, n); err != nil {
		return err
	}
	if _, err := board.PostTx(ctx, tx, jobs.Job{ID: id, Flow: "order", Input: order{Cents: n}}); err != nil {
		return err
	}
	return tx.Commit()
}

// TestOrder fails each task in each way, and kills the process at each commit.
func TestOrder(t *testing.T) {
	t.Parallel()
	type world struct {
		bank *Bank
		post *Post
	}
	enginetest.FailAt(t, enginetest.World[world]{
		New:     func(testing.TB) world { return world{&Bank{}, &Post{}} },
		Flow:    func(w world) flow.Node { return orderFlow(w.bank, w.post) },
		State:   func(w world) any { return w.bank.Total() },
		Answers: map[string]any{"approve": approval{By: "Ann"}},
		Stays:   []string{"send"}, // a parcel that is on its way does not come back
		Options: func(world) []engine.Option { return []engine.Option{engine.With(cents, 1200)} },
	})
}

// TestService starts an order, kills the process that serves it, approves in the next one, and places an empty order with
// a row of its own.
func TestService(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "work.db")
	store, err := sqlstore.Open(t.Context(), "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	bank, post := &Bank{}, &Post{}
	serve := func(f func(post func(path, form string, want int))) {
		ctx, stop := context.WithCancel(t.Context())
		handler, served := make(chan http.Handler, 1), make(chan error, 1)
		go func() { served <- run(ctx, store, bank, post, func(h http.Handler) { handler <- h }) }()
		h := <-handler
		f(func(path, form string, want int) {
			t.Helper()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(form))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s %s: %d %s", path, form, w.Code, w.Body)
			}
		})
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	serve(func(post func(path, form string, want int)) {
		post("/orders/17", "cents=1200", http.StatusAccepted)
		post("/orders/17", "cents=1200", http.StatusAccepted)
		post("/orders/17", "cents=1300", http.StatusConflict)
		post("/orders/18/approval", "by=Ann", http.StatusNotFound)
	})
	serve(func(post func(path, form string, want int)) {
		post("/orders/17/approval", "by=Ann", http.StatusAccepted)
		if _, err := engine.Await(t.Context(), store, "17"); err != nil {
			t.Error(err)
		}
		post("/orders/17/approval", "by=Ann", http.StatusConflict)
	})
	if bank.Total() != 1200 {
		t.Errorf("charged %d cents; want 1200", bank.Total())
	}

	db, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id TEXT PRIMARY KEY, cents INTEGER)"); err != nil {
		t.Fatal(err)
	}
	board := jobs.New(store, jobs.Policy{})
	if err := place(t.Context(), db, board, "19", 0); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { served <- conduct(ctx, store, bank, post) }()
	if job, err := board.Await(t.Context(), "19"); err != nil || job.Failure == nil || job.Failure.Code != "Order.Empty" {
		t.Errorf("the job ended %v, %v", job.Failure, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// conduct serves as run does, and also claims the jobs of the board.
func conduct(ctx context.Context, store storage.Store, bank *Bank, post *Post) error {
	c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, orderFlow(bank, post)))
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// A Bank charges once for each key.
type Bank struct {
	mu      sync.Mutex
	charged map[string]int
}

// Charge takes the money, unless it has done so under that key.
func (b *Bank) Charge(key string, n int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.charged == nil {
		b.charged = map[string]int{}
	}
	b.charged[key] = n
	return nil
}

// Refund gives back what was charged under that key.
func (b *Bank) Refund(key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.charged, key)
	return nil
}

// Total returns the sum of what was charged.
func (b *Bank) Total() (sum int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.charged {
		sum += n
	}
	return sum
}

// A Post sends parcels.
type Post struct{}

// Send sends the parcel of an order.
func (*Post) Send(context.Context, order) (struct{}, error) { return struct{}{}, nil }
