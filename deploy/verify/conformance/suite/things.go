package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Element is one that a check has made.
type Element struct {
	ID         int64
	Name       string
	EntityType string
	EntityID   int64
}

// List is the element's list form, byte for byte.
func (e Element) List() string {
	return fmt.Sprintf(`{"id":%d,"name":%s,"entity_type":%q,"entity_id":%d,"valid":true}`, e.ID, quoted(e.Name), e.EntityType, e.EntityID)
}

// Sent is the element's id as the contract's clients send it: a string.
func (e Element) Sent() string { return strconv.FormatInt(e.ID, 10) }

// User is one that a check has made.
type User struct {
	ID          int64
	Name, Email string
	UUID        string
}

// List is the user's list form, byte for byte.
func (u User) List() string {
	return fmt.Sprintf(`{"id":%d,"name":%s,"email":%s,"valid":true}`, u.ID, quoted(u.Name), quoted(u.Email))
}

// quoted writes a string as the services must: as encoding/json does, with <, >, &, U+2028 and U+2029 escaped.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string always can be
	return string(text)
}

// Unique returns a name of this run that no other thing has: "Cf3k7q2m Room 17" for "Room".
func (t *T) Unique(word string) string {
	return fmt.Sprintf("%s %s %d", t.School.Prefix, word, t.School.count.Add(1))
}

// Admin returns a client of the administrator that the suite was given. Checks must not log it out or switch it: see Login.
func (t *T) Admin() *Client { return &Client{t: t, Cookie: t.School.admin} }

// Import sends records of one kind as one batch as the administrator, ends the check unless all succeed, and returns their ids by key.
func (t *T) Import(kind string, records ...map[string]any) map[string]int64 {
	a := t.ImportBatch("/api/admin/import/"+kind, records...).Must(http.StatusOK)
	var reply struct {
		Failed  int
		Records []struct {
			Key string
			ID  int64
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &reply); err != nil || reply.Failed > 0 {
		t.Fatalf("import of %s: %s", kind, a.Body)
	}
	ids := map[string]int64{}
	for _, r := range reply.Records {
		ids[r.Key] = r.ID
	}
	return ids
}

// ImportBatch sends records as one batch to an import path, query included, as the administrator.
func (t *T) ImportBatch(path string, records ...map[string]any) Answer {
	var lines strings.Builder
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatalf("%v", err)
		}
		lines.Write(append(line, '\n'))
	}
	return t.Admin().Do(http.MethodPost, path, lines.String(), "Content-Type", "application/x-ndjson")
}

// Element makes an element from the fields of administration's record; entity_type among them.
func (t *T) Element(fields map[string]any) Element {
	a := t.Admin().Post("/api/admin/elements", map[string]any{"element": fields}).Must(http.StatusCreated)
	return Element{a.Int("element.id"), a.String("element.name"), a.String("element.entity_type"), a.Int("element.entity_id")}
}

// Staff makes a member of staff whose initials are unique in the run.
func (t *T) Staff() Element {
	initials := strings.ToUpper(t.School.Prefix[2:]) + strconv.FormatInt(t.School.count.Add(1), 10)
	return t.Element(map[string]any{"entity_type": "Staff", "initials": initials, "forename": "Ann", "surname": t.School.Prefix})
}

// Initials are those of a member of staff.
func (e Element) Initials() string { initials, _, _ := strings.Cut(e.Name, " - "); return initials }

// Pupil makes a pupil.
func (t *T) Pupil() Element {
	return t.Element(map[string]any{"entity_type": "Pupil", "forename": "Kai", "surname": t.Unique("Pupil")})
}

// Location makes a room without a short name.
func (t *T) Location() Element { return t.named("Location", "Room") }

// Property makes a property, such as a public calendar.
func (t *T) Property() Element { return t.named("Property", "Calendar") }

func (t *T) named(entityType, word string) Element {
	return t.Element(map[string]any{"entity_type": entityType, "name": t.Unique(word)})
}

// Group makes a group with members that are in it on every day.
func (t *T) Group(members ...Element) Element {
	return t.withMembers(t.named("Group", "Group"), members)
}

// ResourceGroup makes a resource group with members that are in it on every day.
func (t *T) ResourceGroup(members ...Element) Element {
	return t.withMembers(t.Element(map[string]any{"entity_type": "Group", "name": t.Unique("Minibuses"), "resource": true}), members)
}

func (t *T) withMembers(group Element, members []Element) Element {
	for _, m := range members {
		t.Member(group, m, "", "")
	}
	return group
}

// Member puts an element into a group from a day to a day, both included; "" is open.
func (t *T) Member(group, member Element, first, last string) {
	span := map[string]any{"element_id": member.ID}
	if first != "" {
		span["first_day"] = first
	}
	if last != "" {
		span["last_day"] = last
	}
	t.Admin().Post(fmt.Sprintf("/api/admin/elements/%d/members", group.ID), map[string]any{"members": []any{span}}).Must(http.StatusCreated)
}

// Administrator makes a user one of an element's administrators, which makes the element controlled.
func (t *T) Administrator(e Element, u User) {
	t.Admin().Put(fmt.Sprintf("/api/admin/elements/%d/administrators/%d", e.ID, u.ID), map[string]any{}).Must(http.StatusOK)
}

// Controlled makes a property with an administrator other than any client of the check: adding it is asking for it.
func (t *T) Controlled() Element {
	e := t.Property()
	t.Administrator(e, t.User())
	return e
}

// User makes a user of kind staff with can_api and those permissions.
func (t *T) User(permissions ...string) User {
	return t.UserWith(nil, append(permissions, "can_api")...)
}

// UserWith makes a user with fields of administration's record ("kind", "element_id", …) and exactly those permissions; "" is none.
func (t *T) UserWith(fields map[string]any, permissions ...string) User {
	n := t.School.count.Add(1)
	granted := map[string]bool{}
	for _, p := range permissions {
		if p != "" {
			granted[p] = true
		}
	}
	record := map[string]any{
		"name": fmt.Sprintf("%s User %d", t.School.Prefix, n), "email": strings.ToLower(fmt.Sprintf("%s.%d@conformance.invalid", t.School.Prefix, n)),
		"permissions": granted,
	}
	for name, value := range fields {
		record[name] = value
	}
	a := t.Admin().Post("/api/admin/users", map[string]any{"user": record}).Must(http.StatusCreated)
	return User{a.Int("user.id"), a.String("user.name"), a.String("user.email"), a.String("user.uuid")}
}

// Login returns a client with a new session of the user.
func (t *T) Login(u User) *Client {
	c := t.Client()
	c.TryLogin(u.UUID).Must(http.StatusOK)
	if c.Cookie == nil {
		t.Fatalf("the login gave no session cookie")
	}
	return c
}

// As returns a client of a new user with can_api and those permissions.
func (t *T) As(permissions ...string) *Client { return t.Login(t.User(permissions...)) }

// Booker returns a client of a new user who may create events and notes, and is no administrator.
func (t *T) Booker() *Client { return t.As("can_add_events", "can_add_notes") }

// Event creates an event of the ordinary category with the client: fields over the defaults, which are a body of its own and an hour on
// 10 April 2019 by set A. It ends the check unless it is made.
func (t *T) Event(c *Client, fields map[string]any, elements ...Element) Answer {
	return t.TryEvent(c, fields, elements...).Must(http.StatusOK)
}

// TryEvent is Event that may fail.
func (t *T) TryEvent(c *Client, fields map[string]any, elements ...Element) Answer {
	event := map[string]any{"body": t.Unique("Event"), "event_category_id": strconv.FormatInt(t.School.Category.ID, 10)}
	if _, b := fields["starts_at"]; !b {
		event["starts_at_text"], event["ends_at_text"] = "2019-04-10 09:00", "2019-04-10 10:00"
	}
	for name, value := range fields {
		if event[name] = value; value == nil {
			delete(event, name)
		}
	}
	sent := []string{}
	for _, e := range elements {
		sent = append(sent, e.Sent())
	}
	return c.Post("/api/events", map[string]any{"event": event, "elements": sent})
}

// Wire is a local time "2019-04-10 09:00" as the deployment must write it: 2019-04-10T09:00:00.000+01:00.
func (t *T) Wire(local string) string {
	at, err := time.ParseInLocation("2006-01-02 15:04", local, t.School.Zone)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return at.Format("2006-01-02T15:04:05.000-07:00")
}

// NeedsLondon skips a check whose expectations are of one zone's clock changes.
func (t *T) NeedsLondon() {
	if t.School.Zone.String() != "Europe/London" {
		t.Skipf("the deployment's zone is %s", t.School.Zone)
	}
}

// Parallel calls f n times at once and returns the answers, in order of i.
func (t *T) Parallel(n int, f func(i int) (method, path string, body any), clients ...*Client) []Answer {
	answers := make([]Answer, n)
	faults := make([]error, n)
	done := make(chan struct{})
	start := make(chan struct{})
	for i := range n {
		method, path, body := f(i)
		client := clients[i%len(clients)].Copy()
		go func() {
			<-start
			answers[i], faults[i] = client.send(method, path, body)
			done <- struct{}{}
		}()
	}
	close(start)
	for range n {
		<-done
	}
	for _, err := range faults {
		if err != nil {
			t.Fatalf("one of %d calls at once: %v", n, err)
		}
	}
	return answers
}
