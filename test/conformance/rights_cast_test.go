package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/test/rights"
)

// cast is one user of each kind, with what belongs to each, and what the keeper administers.
type cast struct {
	school   *School
	actors   map[string]*actor // by kind
	stranger *actor            // a user beside these, with a session of its own
	switcher *actor            // the user who switched
	calendar Element           // on every event; the keeper administers it
	other    Element           // on every event; the stranger administers it
	room     Element           // on every event
	spare    Element           // on none
	buses    Element           // asked for by every event; the keeper administers it
	bus      Element           // one of them
	buried   *actor            // a user who was deactivated, with a feed from before
	house    Element           // the school of the head
	teacher  Element           // in it; no user is that
	both     Element           // a teacher of it and of another school
	lesson   int64             // a category of it
}

// actor is a user of one kind.
type actor struct {
	kind    string
	key     string
	uuid    string
	id      int64
	element Element
	client  *servicetest.Client
	event   booking
	// The feed of its own element; 0 and "" when it may have none.
	feedID   int64
	feedPath string
}

// booking is an event with the ids of what is in it.
type booking struct {
	id         int64
	ofCalendar int64 // the commitment of the keeper's calendar
	ofOther    int64 // the commitment of the other calendar
	ofBuses    int64 // the request
	hidden     int64 // a note that is shown to no one
	forStaff   int64
	forPupils  int64
	forGuests  int64
}

// granted are the permissions of a kind besides can_api.
var granted = map[string][]string{
	"adder": {"can_add_events", "can_add_notes"}, "editor": {"edit_all_events"}, "privileged": {"privileged"},
	"su": {"can_su"}, "admin": {"admin"}, "switcher": {"can_su"},
}

// cast makes the users and what belongs to them.
func (s *School) cast(t *testing.T) *cast {
	t.Helper()
	c := &cast{school: s, actors: map[string]*actor{}}
	for _, kind := range rights.Kinds() {
		c.actors[kind] = &actor{kind: kind}
	}
	c.stranger, c.switcher, c.buried = &actor{kind: "stranger"}, &actor{kind: "switcher"}, &actor{kind: "buried"}
	c.hire(t, append(c.users(), c.stranger, c.switcher, c.buried))
	c.furnish(t)
	for _, a := range append(c.users(), c.stranger) {
		a.event = c.book(t, a)
		if a.kind != "guest" {
			c.subscribe(t, a)
		}
		a.client = c.session(t, a)
	}
	c.subscribe(t, c.buried)
	for _, a := range []*actor{c.actors["deactivated"], c.buried} {
		s.change(t, User{ID: a.id}, object{"active": false})
	}
	none := c.actors["none"]
	none.client, none.uuid, none.id = s.Client(), uuid.NewString(), c.stranger.id
	none.element, none.event, none.feedID = c.stranger.element, c.stranger.event, c.stranger.feedID
	return c
}

// users are the actors that are users.
func (c *cast) users() []*actor {
	var all []*actor
	for _, kind := range rights.Kinds() {
		if kind != "none" {
			all = append(all, c.actors[kind])
		}
	}
	return all
}

// hire makes the actors' users, each with an element of its own.
func (c *cast) hire(t *testing.T, all []*actor) {
	t.Helper()
	var users []object
	for _, a := range all {
		a.key, a.uuid = c.school.Unique(a.kind), uuid.NewString()
		kind := "staff"
		a.element = c.school.Staff(t)
		if a.kind == "pupil" || a.kind == "guest" {
			kind = a.kind
		}
		if a.kind == "pupil" {
			a.element = c.school.Pupil(t)
		}
		record := object{"key": a.key, "name": a.key, "email": c.email(a), "uuid": a.uuid, "kind": kind,
			"can_api": true}
		for _, permission := range granted[a.kind] {
			record[permission] = true
		}
		users = append(users, record)
	}
	ids := c.school.Import(t, "users", users...)
	for _, a := range all {
		a.id = ids[a.key]
		c.school.change(t, User{ID: a.id}, object{"element_id": a.element.ID})
	}
}

func (c *cast) email(a *actor) string {
	return fmt.Sprintf("%s@%s.conformance.invalid", a.uuid[:8], c.school.Prefix)
}

// furnish makes what the events need.
func (c *cast) furnish(t *testing.T) {
	t.Helper()
	c.calendar, c.other = c.imported(t, "properties", "Property"), c.imported(t, "properties", "Property")
	c.room, c.spare = c.imported(t, "locations", "Location"), c.imported(t, "locations", "Location")
	c.bus = c.school.Location(t)
	c.buses = c.imported(t, "groups", "Group")
	c.school.Member(t, c.buses, c.bus, "", "")
	c.school.Administrator(t, c.calendar, User{ID: c.actors["keeper"].id})
	c.school.Administrator(t, c.buses, User{ID: c.actors["keeper"].id})
	c.school.Administrator(t, c.other, User{ID: c.stranger.id})
	head := c.actors["head"]
	c.house = c.school.Element(t, object{"entity_type": "Group", "name": c.school.Unique("School"), "school": true})
	c.teacher = c.newTeacher(t)
	c.ofHouse(t, head.element)
	another := c.school.Element(t, object{"entity_type": "Group", "name": c.school.Unique("School"), "school": true})
	c.both = c.newTeacher(t)
	c.school.Member(t, another, c.both, "", "")
	c.school.change(t, User{ID: head.id}, object{"admin_of": []int64{c.house.ID}})
	c.lesson = c.school.category(t, object{"name": c.school.Unique("Lesson"), "school_id": c.house.ID})
}

// newTeacher is a teacher of the head's school who has no user.
func (c *cast) newTeacher(t *testing.T) Element {
	t.Helper()
	return c.ofHouse(t, c.school.Staff(t))
}

// ofHouse makes an element belong to the head's school.
func (c *cast) ofHouse(t *testing.T, e Element) Element {
	t.Helper()
	c.school.Member(t, c.house, e, "", "")
	return e
}

// colleague is a new user who is a new teacher of the head's school, with these permissions besides can_api.
func (c *cast) colleague(t *testing.T, permissions ...string) User {
	t.Helper()
	return c.school.UserWith(t, object{"element_id": c.newTeacher(t).ID}, append(permissions, "can_api")...)
}

// imported makes an element whose key is its name, so that an imported event can name it.
func (c *cast) imported(t *testing.T, kind, entityType string) Element {
	t.Helper()
	name := c.school.Unique(entityType)
	record := object{"key": name, "name": name}
	if kind == "groups" {
		record["resource"] = true
	}
	return Element{ID: c.school.Import(t, kind, record)[name], Name: name, EntityType: entityType}
}

// book makes an event with notes that belong to the actor. It is imported, so that any user can own it.
func (c *cast) book(t *testing.T, owner *actor) booking {
	t.Helper()
	if owner.key == "" {
		owner = c.stranger
	}
	key := c.school.Unique("Event")
	elements := []string{"Property:" + c.calendar.Name, "Property:" + c.other.Name, "Location:" + c.room.Name,
		"Group:" + c.buses.Name}
	b := booking{}
	b.id = c.school.Import(t, "events", object{"key": key, "body": key, "category": c.school.Category.Name,
		"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00", "owner": owner.key, "elements": elements})[key]
	made := decode[booked](t, c.school.Admin().Get(t, eventPath(b.id)).Must(t, http.StatusOK)).Event
	for _, one := range made.Commitments {
		switch one.Element.ID {
		case c.calendar.ID:
			b.ofCalendar = one.ID
		case c.other.ID:
			b.ofOther = one.ID
		}
	}
	if len(made.Requests) != 1 || b.ofCalendar == 0 || b.ofOther == 0 {
		t.Fatalf("the event that was imported is shown with other entries: %+v", made)
	}
	b.ofBuses = made.Requests[0].ID
	note := func(name string, staff, pupils, guests bool) object {
		return object{"key": key + name, "event": key, "contents": name, "owner": owner.key,
			"visible_staff": staff, "visible_pupil": pupils, "visible_guest": guests}
	}
	ids := c.school.Import(t, "notes", note("hidden", false, false, false), note("staff", true, false, false),
		note("pupils", false, true, false), note("guests", false, false, true))
	b.hidden, b.forStaff = ids[key+"hidden"], ids[key+"staff"]
	b.forPupils, b.forGuests = ids[key+"pupils"], ids[key+"guests"]
	return b
}

// signIn returns a client with a new session of the user itself, not switched.
func (c *cast) signIn(t *testing.T, a *actor) *servicetest.Client {
	t.Helper()
	return c.school.Login(t, User{UUID: a.uuid})
}

// subscribe makes a feed of the actor's own element.
func (c *cast) subscribe(t *testing.T, a *actor) {
	t.Helper()
	made := c.signIn(t, a).Post(t, feedsPath(a.element), nil).Must(t, http.StatusCreated)
	a.feedID, a.feedPath = made.Int(t, "feed.id"), made.Text(t, "feed.path")
}

// session returns a client with a new session as the actor has one: none, switched, or, of a user who was deactivated,
// the one from before.
func (c *cast) session(t *testing.T, a *actor) *servicetest.Client {
	t.Helper()
	switch {
	case a.kind == "none":
		return c.school.Client()
	case a.kind == "deactivated" && a.client != nil:
		return a.client.Copy()
	case a.kind == "switched":
		client := c.signIn(t, c.switcher)
		client.Put(t, "/api/sessions/1", wrapped("session", "user_id", fmt.Sprint(a.id))).Must(t, http.StatusOK)
		return client
	}
	return c.signIn(t, a)
}
