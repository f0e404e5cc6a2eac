package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Element is an element that a test has made.
type Element struct {
	ID         int64
	Name       string
	EntityType string
	EntityID   int64
}

// List returns the element's list form, byte for byte.
func (e Element) List() string {
	return fmt.Sprintf(`{"id":%d,"name":%s,"entity_type":%q,"entity_id":%d,"valid":true}`, e.ID, quoted(e.Name),
		e.EntityType, e.EntityID)
}

// Sent returns the element's id as the contract's clients send it: a string.
func (e Element) Sent() string { return strconv.FormatInt(e.ID, 10) }

// User is a user that a test has made.
type User struct {
	ID          int64
	Name, Email string
	UUID        string
}

// List returns the user's list form, byte for byte.
func (u User) List() string {
	return fmt.Sprintf(`{"id":%d,"name":%s,"email":%s,"valid":true}`, u.ID, quoted(u.Name), quoted(u.Email))
}

// quoted returns a string as the services must write it: as encoding/json does, with <, >, &, U+2028 and U+2029
// escaped.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string cannot fail
	return string(text)
}

// Unique returns a unique name with the run's prefix: "Cf3k7q2m Room 17" for "Room".
func (s *School) Unique(word string) string {
	return fmt.Sprintf("%s %s %d", s.Prefix, word, s.count.Add(1))
}

// Address returns an e-mail address that no other user has.
func (s *School) Address() string {
	return strings.ToLower(fmt.Sprintf("%s.%d@conformance.invalid", s.Prefix, s.count.Add(1)))
}

// Admin returns a client with the session of the run's administrator. Tests must not log it out or switch it; see
// Login.
func (s *School) Admin() *servicetest.Client { return s.admin.Copy() }

// Client returns a client that is not signed in.
func (s *School) Client() *servicetest.Client { return servicetest.Connect(s.options) }

// Import imports records of one kind as one batch, as the administrator. It ends the test unless all succeed, and
// returns their ids by key.
func (s *School) Import(t *testing.T, kind string, records ...object) map[string]int64 {
	t.Helper()
	return s.Admin().Import(t, kind, records...)
}

// ImportBatch sends records as one batch to an import path, query included, as the administrator.
func (s *School) ImportBatch(t *testing.T, path string, records ...object) servicetest.Answer {
	t.Helper()
	return s.Admin().ImportBatch(t, path, records...)
}

// Element makes an element from the fields of administration's record, which include entity_type.
func (s *School) Element(t *testing.T, fields object) Element {
	t.Helper()
	a := s.Admin().Post(t, "/api/admin/elements", object{"element": fields}).Must(t, http.StatusCreated)
	return Element{a.Int(t, "element.id"), a.Text(t, "element.name"), a.Text(t, "element.entity_type"),
		a.Int(t, "element.entity_id")}
}

// Staff makes a member of staff whose initials are unique in the run.
func (s *School) Staff(t *testing.T) Element {
	t.Helper()
	initials := strings.ToUpper(s.Prefix[2:]) + strconv.FormatInt(s.count.Add(1), 10)
	return s.Element(t, object{"entity_type": "Staff", "initials": initials, "forename": "Ann", "surname": s.Prefix})
}

// Initials returns the initials of a member of staff.
func (e Element) Initials() string { initials, _, _ := strings.Cut(e.Name, " - "); return initials }

// Pupil makes a pupil.
func (s *School) Pupil(t *testing.T) Element {
	t.Helper()
	return s.Element(t, object{"entity_type": "Pupil", "forename": "Kai", "surname": s.Unique("Pupil")})
}

// Location makes a room without a short name.
func (s *School) Location(t *testing.T) Element {
	t.Helper()
	return s.named(t, "Location", "Room")
}

// Property makes a property, such as a public calendar.
func (s *School) Property(t *testing.T) Element {
	t.Helper()
	return s.named(t, "Property", "Calendar")
}

func (s *School) named(t *testing.T, entityType, word string) Element {
	t.Helper()
	return s.Element(t, object{"entity_type": entityType, "name": s.Unique(word)})
}

// Group makes a group with members that are in it on every day.
func (s *School) Group(t *testing.T, members ...Element) Element {
	t.Helper()
	return s.withMembers(t, s.named(t, "Group", "Group"), members)
}

// ResourceGroup makes a resource group with members that are in it on every day.
func (s *School) ResourceGroup(t *testing.T, members ...Element) Element {
	t.Helper()
	return s.withMembers(t, s.Element(t,
		object{"entity_type": "Group", "name": s.Unique("Minibuses"), "resource": true}), members)
}

func (s *School) withMembers(t *testing.T, group Element, members []Element) Element {
	t.Helper()
	for _, m := range members {
		s.Member(t, group, m, "", "")
	}
	return group
}

// Member puts an element into a group from a day to a day, both included; "" is open.
func (s *School) Member(t *testing.T, group, member Element, first, last string) {
	t.Helper()
	span := object{"element_id": member.ID}
	if first != "" {
		span["first_day"] = first
	}
	if last != "" {
		span["last_day"] = last
	}
	s.Admin().Post(t, elementAdmin(group)+"/members", object{"members": []any{span}}).Must(t, http.StatusCreated)
}

// Administrator makes a user one of an element's administrators, which makes the element controlled.
func (s *School) Administrator(t *testing.T, e Element, u User) {
	t.Helper()
	s.Admin().Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", e.ID, u.ID), object{}).Must(t,
		http.StatusOK)
}

// Controlled makes a property with an administrator who is not a client of the test, so that adding it makes a
// requested commitment.
func (s *School) Controlled(t *testing.T) Element {
	t.Helper()
	e := s.Property(t)
	s.Administrator(t, e, s.User(t))
	return e
}

// User makes a user of kind staff with can_api and those permissions.
func (s *School) User(t *testing.T, permissions ...string) User {
	t.Helper()
	return s.UserWith(t, nil, append(permissions, "can_api")...)
}

// UserWith makes a user with fields of administration's record ("kind", "element_id", …) and exactly those
// permissions; "" is none.
func (s *School) UserWith(t *testing.T, fields object, permissions ...string) User {
	t.Helper()
	granted := map[string]bool{}
	for _, p := range permissions {
		if p != "" {
			granted[p] = true
		}
	}
	record := object{"name": s.Unique("User"), "email": s.Address(), "permissions": granted}
	maps.Copy(record, fields)
	a := s.Admin().Post(t, "/api/admin/users", object{"user": record}).Must(t, http.StatusCreated)
	return User{a.Int(t, "user.id"), a.Text(t, "user.name"), a.Text(t, "user.email"), a.Text(t, "user.uuid")}
}

// Login returns a client with a new session of the user.
func (s *School) Login(t *testing.T, u User) *servicetest.Client {
	t.Helper()
	c := s.Client()
	tryLogin(t, c, u.UUID).Must(t, http.StatusOK)
	valuetest.MustHold(t, c.SessionCookie() != nil, "the login gave no session cookie")
	return c
}

// As returns a client of a new user with can_api and those permissions.
func (s *School) As(t *testing.T, permissions ...string) *servicetest.Client {
	t.Helper()
	return s.Login(t, s.User(t, permissions...))
}

// Booker returns a client of a new user who may create events and notes, and is not an administrator.
func (s *School) Booker(t *testing.T) *servicetest.Client {
	t.Helper()
	return s.As(t, "can_add_events", "can_add_notes")
}

// Event creates an event of the ordinary category with the client. The fields override the defaults: a unique body
// and an hour on 10 April 2019 by set A. It ends the test unless the event is created.
func (s *School) Event(t *testing.T, c *servicetest.Client, fields object, elements ...Element) servicetest.Answer {
	t.Helper()
	return s.TryEvent(t, c, fields, elements...).Must(t, http.StatusOK)
}

// TryEvent is Event that may fail.
func (s *School) TryEvent(t *testing.T, c *servicetest.Client, fields object, elements ...Element) servicetest.Answer {
	t.Helper()
	event := object{"body": s.Unique("Event"), "event_category_id": strconv.FormatInt(s.Category.ID, 10)}
	if _, b := fields["starts_at"]; !b {
		event["starts_at_text"], event["ends_at_text"] = "2019-04-10 09:00", "2019-04-10 10:00"
	}
	for name, value := range fields {
		if event[name] = value; value == nil {
			delete(event, name)
		}
	}
	return c.Post(t, "/api/events", object{"event": event, "elements": sent(elements...)})
}

// Wire returns a local time "2019-04-10 09:00" in the format of the API: 2019-04-10T09:00:00.000+01:00.
func (s *School) Wire(t *testing.T, local string) string {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", local, s.Zone)
	errortest.None(t, err)
	return at.Format("2006-01-02T15:04:05.000-07:00")
}

// atOnce makes n concurrent calls, given by f, and returns the answers in the order of i.
func atOnce(t *testing.T, n int, f func(i int) (method, path string, body any),
	clients ...*servicetest.Client) []servicetest.Answer {
	t.Helper()
	answers := make([]servicetest.Answer, n)
	faults := make([]error, n)
	var calls sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		method, path, body := f(i)
		client := clients[i%len(clients)].Copy()
		calls.Go(func() {
			<-start
			answers[i], faults[i] = client.Try(t, method, path, body)
		})
	}
	close(start)
	calls.Wait()
	errortest.None(t, errors.Join(faults...))
	return answers
}

// equal fails the test unless both have the same text.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	valuetest.Same(t, fmt.Sprint(got), fmt.Sprint(want), what)
}
