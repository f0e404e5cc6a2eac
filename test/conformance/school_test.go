package conformance_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// closeTimeout bounds the clean-up at the end of a run, also of an interrupted one.
const closeTimeout = 2 * time.Minute

var errInterrupted = errors.New("interrupted")

// School is shared by all tests of one run: the deployment, its administrator, and the run's own prefix of names
// and keys.
type School struct {
	Prefix     string         // of every name and key that the run makes, such as "Cf3k7q2m"
	DateOrder  string         // of dates with slashes: dmy, mdy or iso
	Zone       *time.Location // of the deployment
	Category   Category       // an ordinary one
	Privileged Category       // a privileged one

	options servicetest.ClientOptions
	admin   *servicetest.Client
	made    *ledger
	count   atomic.Int64
}

// Category is an event category of the school.
type Category struct {
	ID   int64
	Name string
}

// newPrefix returns a unique prefix: 35 random bits in letters and digits.
func newPrefix() string {
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails, as its documentation promises
	return "Cf" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))[:7]
}

// openSchool logs the administrator in and creates what the tests share. The error says why the deployment can't be
// used.
func openSchool(ctx context.Context, o servicetest.ClientOptions, transport http.RoundTripper, uuid string,
	zone *time.Location) (*School, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" ||
		base.User != nil {
		return nil, errors.New("the address must look like https://belfry.school.example")
	}
	made := &ledger{next: transport, base: strings.TrimSuffix(base.Path, "/"), stopped: make(chan struct{})}
	o.Transport = made
	s := &School{Prefix: newPrefix(), Zone: zone, options: o, admin: servicetest.Connect(o), made: made}
	a, err := patiently(ctx, func() (servicetest.Answer, error) {
		return s.admin.Send(ctx, http.MethodGet, loginPath(uuid), nil)
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("login as the administrator: %w", err)
	case a.Code != http.StatusOK:
		return nil, fmt.Errorf("login as the administrator: %d %s", a.Code, a.Body)
	case s.admin.SessionCookie() == nil:
		return nil, errors.New("the login gave no session cookie")
	}
	if err := s.makeCategories(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *School) makeCategories(ctx context.Context) error {
	s.Category.Name, s.Privileged.Name = s.Prefix+" Lesson", s.Prefix+" Exam"
	lines := fmt.Sprintf(`{"key":%[1]q,"name":%[1]q,"pecking_order":10}`+"\n"+
		`{"key":%[2]q,"name":%[2]q,"pecking_order":20,"privileged":true}`+"\n", s.Category.Name, s.Privileged.Name)
	a, err := s.admin.Send(ctx, http.MethodPost, "/api/admin/import/eventcategories", lines, "Content-Type",
		"application/x-ndjson")
	if err != nil {
		return err
	}
	var reply struct {
		Failed  int
		Records []struct{ ID int64 }
	}
	if err := json.Unmarshal([]byte(a.Body), &reply); err != nil || a.Code != http.StatusOK || reply.Failed > 0 ||
		len(reply.Records) != 2 {
		return fmt.Errorf("import of eventcategories: %d %s", a.Code, a.Body)
	}
	s.Category.ID, s.Privileged.ID = reply.Records[0].ID, reply.Records[1].ID
	return nil
}

// unlessInterrupted skips the test when the run was interrupted.
func (s *School) unlessInterrupted(t *testing.T) {
	t.Helper()
	select {
	case <-s.made.stopped:
		t.Skip("interrupted")
	default:
	}
}

// close deletes the run's events, retires its elements and deactivates its users. It returns the errors of what
// could not be cleaned up.
func (s *School) close() error {
	s.made.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	o := s.options
	o.Transport = s.made.next
	admin := servicetest.Connect(o)
	admin.SetSessionCookie(s.admin.SessionCookie())
	work, _ := errgroup.WithContext(ctx)
	work.SetLimit(4)
	var mu sync.Mutex
	var faults []error
	for path, ids := range map[string][]int64{"/api/events/": s.made.events, "/api/admin/elements/": s.made.elements,
		"/api/admin/users/": s.made.users} {
		for _, id := range ids {
			work.Go(func() error {
				a, err := admin.Send(ctx, http.MethodDelete, path+strconv.FormatInt(id, 10), nil)
				if err == nil && a.Code != http.StatusOK && a.Code != http.StatusNotFound {
					err = fmt.Errorf("%s: %d %s", a.Request, a.Code, a.Body)
				}
				mu.Lock()
				defer mu.Unlock()
				faults = append(faults, err)
				return nil
			})
		}
	}
	_ = work.Wait() // each records its own error
	_, err := admin.Send(ctx, http.MethodGet, "/api/logout", nil)
	return errors.Join(append(faults, err)...)
}

// ledger is the transport of all clients. It records what was created, from the answers.
type ledger struct {
	next     http.RoundTripper
	base     string        // path of the deployment's address, mostly ""
	underway sync.RWMutex  // held for reading by each request
	stopped  chan struct{} // closed when no more requests may be sent

	mu                      sync.Mutex
	events, elements, users []int64 // what the run has created
}

// stop waits for the requests in flight and refuses later ones.
func (l *ledger) stop() {
	l.underway.Lock()
	defer l.underway.Unlock()
	select {
	case <-l.stopped:
	default:
		close(l.stopped)
	}
}

// RoundTrip sends a request and reads the whole answer, but for a stream, which has no end.
func (l *ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	l.underway.RLock()
	defer l.underway.RUnlock()
	select {
	case <-l.stopped:
		return nil, errInterrupted
	default:
	}
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return answer, nil
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodPost && answer.StatusCode/100 == 2 {
		l.note(strings.TrimPrefix(r.URL.Path, l.base), body)
	}
	return answer, nil
}

// note records what was created, from the answer, so that close can clean it up.
func (l *ledger) note(path string, body []byte) {
	var made struct {
		Event   struct{ ID int64 }
		User    struct{ ID int64 }
		Element struct{ ID int64 }
		Records []struct{ ID int64 }
	}
	kind, imported := strings.CutPrefix(path, "/api/admin/import/")
	if !imported && path != "/api/events" && path != "/api/admin/users" && path != "/api/admin/elements" {
		return
	}
	if json.Unmarshal(body, &made) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	add := func(list *[]int64, id int64) {
		if id != 0 {
			*list = append(*list, id)
		}
	}
	add(&l.events, made.Event.ID)
	add(&l.users, made.User.ID)
	add(&l.elements, made.Element.ID)
	for _, r := range made.Records {
		switch kind {
		case "events":
			add(&l.events, r.ID)
		case "users":
			add(&l.users, r.ID)
		case "staff", "pupils", "locations", "groups", "properties", "services", "subjects":
			add(&l.elements, r.ID)
		}
	}
}

func loginPath(uuid string) string { return "/api/login?uuid=" + url.QueryEscape(uuid) }

// tryLogin logs in and returns the answer, whatever it is.
func tryLogin(t *testing.T, c *servicetest.Client, uuid string) servicetest.Answer {
	t.Helper()
	return tryLoginBy(t, c, http.MethodGet, loginPath(uuid), nil)
}

// tryLoginByBody is tryLogin by POST.
func tryLoginByBody(t *testing.T, c *servicetest.Client, body any) servicetest.Answer {
	t.Helper()
	return tryLoginBy(t, c, http.MethodPost, "/api/login", body)
}

// tryLoginBy is tryLogin by that request.
func tryLoginBy(t *testing.T, c *servicetest.Client, method, path string, body any) servicetest.Answer {
	t.Helper()
	a, err := patiently(t.Context(), func() (servicetest.Answer, error) { return c.Try(t, method, path, body) })
	errortest.None(t, err, "login")
	return a
}

// patiently repeats a wrong login that is answered 429, for three minutes at most. Several runs share the limit on
// failed logins of this address, so it waits as Retry-After says.
func patiently(ctx context.Context, login func() (servicetest.Answer, error)) (servicetest.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		a, err := login()
		if err != nil || a.Code != http.StatusTooManyRequests {
			return a, err
		}
		seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 60 {
			return a, fmt.Errorf("a 429 with Retry-After %q", a.Header.Get("Retry-After"))
		}
		var stopped chan struct{}
		if school != nil {
			stopped = school.made.stopped
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-stopped:
			return a, errInterrupted
		case <-ctx.Done():
			return a, errors.New("logins are limited for too long")
		}
	}
}
