package suite

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// School is what all checks of one run share: the deployment, its administrator, and the run's own prefix of names and keys.
type School struct {
	Prefix     string         // of every name and key that the run makes, such as "Cf3k7q2m"
	Zone       *time.Location // of the deployment
	Category   Category       // an ordinary one
	Privileged Category       // a privileged one

	url                     string
	observe                 func(Exchange) error
	http                    *http.Client
	admin                   *http.Cookie
	count                   atomic.Int64
	mu                      sync.Mutex
	events, elements, users []int64 // what the run has made
}

// Category is an event category of the school.
type Category struct {
	ID   int64
	Name string
}

// newPrefix is unlike that of any other run: 35 random bits in letters and digits.
func newPrefix() string {
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails, as its documentation promises
	return "Cf" + strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))[:7]
}

// open logs the administrator in and makes what the checks share. t is of no check; it fails when the deployment can't be used.
func (s *School) open(t *T, uuid string) {
	admin := t.Client()
	if a := admin.TryLogin(uuid); a.Code != http.StatusOK {
		t.Fatalf("login as the administrator: %d %s", a.Code, a.Body)
	}
	if admin.Cookie == nil {
		t.Fatalf("the login gave no session cookie")
	}
	s.admin = admin.Cookie
	names := []string{s.Prefix + " Lesson", s.Prefix + " Exam"}
	ids := t.Import("eventcategories",
		map[string]any{"key": names[0], "name": names[0], "pecking_order": 10},
		map[string]any{"key": names[1], "name": names[1], "pecking_order": 20, "privileged": true})
	s.Category, s.Privileged = Category{ids[names[0]], names[0]}, Category{ids[names[1]], names[1]}
}

// remember notes what an answer says was made, so that close can put it away.
func (s *School) remember(method, path string, a Answer) {
	if method != http.MethodPost || a.Code/100 != 2 {
		return
	}
	var made struct {
		Event   struct{ ID int64 }
		User    struct{ ID int64 }
		Element struct{ ID int64 }
		Records []struct{ ID int64 }
	}
	path, _, _ = strings.Cut(path, "?")
	kind, imported := strings.CutPrefix(path, "/api/admin/import/")
	if !imported && path != "/api/events" && path != "/api/admin/users" && path != "/api/admin/elements" {
		return
	}
	if json.Unmarshal([]byte(a.Body), &made) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	note := func(list *[]int64, id int64) {
		if id != 0 {
			*list = append(*list, id)
		}
	}
	note(&s.events, made.Event.ID)
	note(&s.users, made.User.ID)
	note(&s.elements, made.Element.ID)
	for _, r := range made.Records {
		switch kind {
		case "events":
			note(&s.events, r.ID)
		case "users":
			note(&s.users, r.ID)
		case "staff", "pupils", "locations", "groups", "properties", "services", "subjects":
			note(&s.elements, r.ID)
		}
	}
}

// close deletes the run's events, retires its elements and deactivates its users. It returns what could not be put away.
func (s *School) close(ctx context.Context) error {
	t := &T{School: s, name: "closing", ctx: ctx}
	admin := &Client{t: t, Cookie: s.admin}
	if s.admin == nil {
		return nil
	}
	work, _ := errgroup.WithContext(ctx)
	work.SetLimit(4)
	var mu sync.Mutex
	var faults []error
	for path, ids := range map[string][]int64{"/api/events/": s.events, "/api/admin/elements/": s.elements, "/api/admin/users/": s.users} {
		for _, id := range ids {
			work.Go(func() error {
				a, err := admin.send(http.MethodDelete, path+strconv.FormatInt(id, 10), nil)
				if err == nil && a.Code != http.StatusOK && a.Code != http.StatusNotFound {
					err = fmt.Errorf("%s: %d %s", a.request, a.Code, a.Body)
				}
				mu.Lock()
				defer mu.Unlock()
				faults = append(faults, err)
				return nil
			})
		}
	}
	_ = work.Wait() // each notes its own fault
	_, err := admin.send(http.MethodGet, "/api/logout", nil)
	return errors.Join(append(faults, err)...)
}
