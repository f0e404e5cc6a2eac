package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// workers send at once.
const workers = 4

// TestHardToBreak_NoRequestMadeFromTheDocumentIsAFault is what package hostile promises.
func TestHardToBreak_NoRequestMadeFromTheDocumentIsAFault(t *testing.T) {
	text := system.Client(t).Get(t, "/api/openapi.json").Must(t, http.StatusOK).Body
	d, err := readDocument([]byte(text))
	errortest.None(t, err)
	k := &known{ids: map[string][]int64{}, texts: map[string][]string{}, ours: map[int64]bool{}}
	r := &run{t: t, document: d, known: k,
		codes: map[int]int{}, seen: map[string]map[int]int{}, checks: map[string]int{}}
	t.Logf("-seed %d", *seed)
	furnish(t, r.known)
	r.play(*requests / 5) // until caches and pools have grown
	before := footprint(t)
	r.play(*requests - *requests/5)
	after := footprint(t)
	r.report()
	for service, was := range before {
		is := after[service]
		t.Logf("%s: resident %d MiB, then %d; at most %d; %s, then %s", service, was.resident>>10,
			is.resident>>10, is.peak>>10, was.goroutines, is.goroutines)
		const most, more = 200 << 10, 64 << 10
		if is.peak > most || is.resident > was.resident+more {
			t.Errorf("%s took %d KiB, %d at most, and had %d before", service, is.resident, is.peak, was.resident)
		}
	}
}

// run is one run of requests by many workers.
type run struct {
	t        *testing.T
	document *document
	known    *known
	answered atomic.Int64
	failed   atomic.Int64
	turn     uint64
	// alone is locked for writing while records are counted, so that no other client writes.
	alone sync.RWMutex

	mu     sync.Mutex
	codes  map[int]int
	seen   map[string]map[int]int // by operation and code
	checks map[string]int         // RESTler's rules
}

// tooMany failures end the run.
const tooMany = 20

// play makes requests until n have been answered.
func (r *run) play(n int) {
	r.turn++
	until := r.answered.Load() + int64(n)
	var all []*worker
	for i := range workers { // all crowds before the first request: making users would look like a leak
		rng := rand.New(rand.NewPCG(*seed, r.turn<<32|uint64(i)))
		all = append(all, &worker{run: r, crowd: newCrowd(r.t, rng, r.known), maker: maker{r.document, r.known, rng}})
	}
	var wg sync.WaitGroup
	for _, w := range all {
		wg.Go(func() {
			for r.answered.Load() < until && r.failed.Load() < tooMany {
				w.step(r.t.Context())
			}
		})
	}
	wg.Wait()
}

// worker sends one request after the other.
type worker struct {
	*run
	crowd *crowd
	maker maker
}

// step makes one request, as one kind of user, and those that follow from its answer.
func (w *worker) step(ctx context.Context) {
	o := w.operation()
	req := w.maker.make(o)
	if strings.HasPrefix(o.path, "/api/admin/users/") &&
		(req.ids["id"] == root.id || req.method == http.MethodPatch && w.known.isOurs(req.ids["id"])) {
		return // one user is needed to make others, and the senders must keep their kind
	}
	kind := w.pick(o)
	if w.maker.rng.IntN(40) == 0 && req.method == http.MethodPost {
		w.leak(ctx, kind, req)
		return
	}
	if alone := w.together(ctx, kind, req); alone != nil {
		w.alone.Lock()
		defer w.alone.Unlock()
		alone()
	}
}

// together makes a request beside others. It returns a check to run while no other request runs, or nil.
func (w *worker) together(ctx context.Context, kind string, req request) (alone func()) {
	w.alone.RLock()
	defer w.alone.RUnlock()
	a, ok := w.send(ctx, kind, req)
	if !ok {
		return nil
	}
	if o := req.operation; a.Code == http.StatusNotFound && strings.Contains(a.Body, "RecordNotFound") &&
		req.method == o.method {
		w.known.forget(w.maker.noun(o, "id"), req.ids["id"])
	}
	alone = w.follow(ctx, kind, req, a)
	w.tend(ctx, kind, req, a)
	return alone
}

// creations are requested most often, so that there are records to ask for.
var creations = []string{
	"POST /api/events", "POST /api/events", "POST /api/events", "POST /api/events/{id}/notes",
	"POST /api/events/{id}/add", "POST /api/admin/elements", "POST /api/admin/elements/{id}/members",
	"POST /api/admin/webhooks", "PUT /api/admin/elements/{id}/administrators/{user}", "POST /api/elements/{id}/feeds",
	"POST /api/events/{id}/add",
}

// operation returns one of the operations.
func (w *worker) operation() operation {
	name := *only
	if name == "" && w.maker.rng.IntN(4) == 0 {
		name = creations[w.maker.rng.IntN(len(creations))]
	}
	for {
		o := w.document.operations[w.maker.rng.IntN(len(w.document.operations))]
		if name == "" || o.String() == name {
			return o
		}
	}
}

// pick returns a kind of user: mostly one that may make the call.
func (w *worker) pick(o operation) string {
	if w.maker.rng.IntN(3) > 0 {
		switch {
		case strings.HasPrefix(o.path, "/api/admin/"):
			return "admin"
		case o.method != http.MethodGet:
			return []string{"adder", "editor", "admin", "su"}[w.maker.rng.IntN(4)]
		}
	}
	all := []string{"none", "guest", "pupil", "staff", "adder", "editor", "privileged", "su", "admin"}
	return all[w.maker.rng.IntN(len(all))]
}

// send sends a request and checks the answer. It returns false when there was none, as net/http refuses to send some.
func (w *worker) send(ctx context.Context, kind string, req request) (servicetest.Answer, bool) {
	var body any
	if req.hasBody && mayHaveBody(req.method) {
		body = req.body
	}
	headers := append([]string{"X-Forwarded-For", w.crowd.address()}, req.headers...)
	a, err := w.crowd.clients[kind].Send(ctx, req.method, req.path, body, headers...)
	if err != nil {
		if a, err = w.crowd.clients[kind].Send(ctx, http.MethodGet, "/api/sessions/1/whoami", nil); err != nil {
			w.fail(kind, req, a, fmt.Sprintf("no answer, and none to a plain request: %v", err))
		}
		return a, false
	}
	w.count(req.operation, a.Code)
	switch {
	case a.Code >= 500:
		w.fail(kind, req, a, "a fault")
	case a.Fault() != nil:
		w.fail(kind, req, a, a.Fault().Error())
	}
	w.known.learn(req.path, []byte(a.Body))
	w.known.learnText("ETag", a.Header.Get("ETag"))
	return a, true
}

// tend restores the client's session when the request may have ended it.
func (w *worker) tend(ctx context.Context, kind string, req request, a servicetest.Answer) {
	if a.Code == http.StatusUnauthorized || strings.Contains(req.path, "/api/log") ||
		strings.Contains(req.path, "/api/sessions") {
		w.revive(ctx, kind)
	}
}

// revive makes a new user when the session of one is gone or has become another's.
func (w *worker) revive(ctx context.Context, kind string) {
	if kind == "none" {
		w.crowd.clients["none"].SetSessionCookie(nil)
		return
	}
	a, err := w.crowd.clients[kind].Send(ctx, http.MethodGet, "/api/sessions/1/whoami", nil)
	if err == nil && a.Code == http.StatusOK && strings.Contains(a.Body, fmt.Sprintf(":%d}", w.crowd.ids[kind])) {
		return
	}
	if err := w.crowd.renew(ctx, kind); err != nil {
		w.failed.Add(1)
		w.t.Errorf("a %s can't be made again: %v", kind, err)
	}
}

func (w *worker) fail(kind string, req request, a servicetest.Answer, why string) {
	w.failed.Add(1)
	body := a.Body
	if len(body) > 1500 {
		body = body[:1500] + "…"
	}
	w.t.Errorf("%s\n%s, as %s\n%d %s", why, req, kind, a.Code, body)
}

func (r *run) count(o operation, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered.Add(1)
	r.codes[code]++
	if r.seen[o.String()] == nil {
		r.seen[o.String()] = map[int]int{}
	}
	r.seen[o.String()][code]++
}

func (r *run) checked(rule string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks[rule]++
}

// report says what was sent, and which operations never succeeded.
func (r *run) report() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Logf("%d requests answered, by code %v; RESTler's rules checked %v", r.answered.Load(), r.codes, r.checks)
	for _, o := range r.document.operations {
		succeeded := false
		for code := range r.seen[o.String()] {
			succeeded = succeeded || code < 300
		}
		if !succeeded && *requests >= 2000 && *only == "" {
			r.t.Logf("%s never succeeded: %v", o, r.seen[o.String()])
		}
	}
}

func decode(a servicetest.Answer, target any) error { return json.Unmarshal([]byte(a.Body), target) }
