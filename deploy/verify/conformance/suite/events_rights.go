package suite

import (
	"fmt"
	"net/http"
)

func eventRightChecks() []Check {
	return []Check{
		prove("TestDecisionsPart4_WhoMayDoWhatToAnEvent", whoMayDoWhat, "decisions 4 edit rights", "decisions 4 adding and deleting", "decisions 4 organiser deletes",
			"decisions 4 administrator deletes", "decisions 4 403", "4.2 rule 10", "4.2 rule 11", "5 rule 11"),
		prove("TestDecisionsPart4_CreatingNeedsCanAddEvents", creatingNeedsCanAddEvents, "decisions 4 can_add_events", "decisions 4 403"),
		prove("TestDecisionsPart4_APrivilegedCategoryNeedsPrivileged", privilegedCategory, "decisions 4 privileged"),
		prove("TestDecisionsPart4_TheCallerBecomesOwner", callerBecomesOwner, "decisions 4 owner"),
		prove("TestDecisionsPart4_TheOrganiserIsTheUserWhoIsThatElement", organiserFollowsTheEvent, "decisions 4 organiser deletes", "decisions 8 kinds"),
	}
}

// whoMayDoWhat tries every call that changes an event as every role, each on an event of its own.
func whoMayDoWhat(t *T) {
	owner, teacher := t.User("can_add_events"), t.Staff()
	keeper, driver := t.User("can_add_events"), t.User()
	calendar, buses := t.Property(), t.ResourceGroup()
	t.Administrator(calendar, keeper)
	t.Administrator(buses, driver)
	everythingElse := []string{"can_api", "can_su", "can_add_events", "can_add_notes", "privileged"}
	roles := map[string]*Client{
		"admin": t.As("admin"), "editor": t.As("edit_all_events"), "owner": t.Login(owner), "keeper": t.Login(keeper), "driver": t.Login(driver),
		"organiser": t.Login(t.UserWith(map[string]any{"element_id": teacher.ID}, "can_api")),
		"stranger":  t.Login(t.UserWith(nil, everythingElse...)),
		"member":    t.Login(t.UserWith(map[string]any{"element_id": t.Staff().ID}, everythingElse...)),
		"pupil":     t.Login(t.UserWith(map[string]any{"kind": "pupil"}, everythingElse...)),
		"guest":     t.Login(t.UserWith(map[string]any{"kind": "guest"}, everythingElse...)),
	}
	editors := map[string]bool{"admin": true, "editor": true, "owner": true}
	with := func(more string) map[string]bool {
		return map[string]bool{"admin": true, "editor": true, "owner": true, "organiser": true, more: true}
	}
	room := t.Location()
	for name, call := range map[string]struct {
		do      func(c *Client, made Answer) Answer
		allowed map[string]bool
	}{
		"PATCH": {func(c *Client, made Answer) Answer {
			return c.Patch(eventPath(made.Int("event.id")), map[string]any{"event": map[string]any{"body": "x"}})
		}, editors},
		"PUT": {func(c *Client, made Answer) Answer {
			return c.Put(eventPath(made.Int("event.id")), map[string]any{"event": map[string]any{"body": "x"}})
		}, editors},
		"add":          {func(c *Client, made Answer) Answer { return add(c, made.Int("event.id"), room) }, editors},
		"DELETE event": {func(c *Client, made Answer) Answer { return c.Delete(eventPath(made.Int("event.id"))) }, editors},
		"DELETE the commitment of the calendar": {func(c *Client, made Answer) Answer {
			return c.Delete(fmt.Sprintf("/api/commitments/%d", made.Int("event.commitments.0.id")))
		}, with("keeper")},
		"DELETE another commitment": {func(c *Client, made Answer) Answer {
			return c.Delete(fmt.Sprintf("/api/commitments/%d", made.Int("event.commitments.1.id")))
		}, with("")},
		"DELETE the request": {func(c *Client, made Answer) Answer {
			return c.Delete(fmt.Sprintf("/api/requests/%d", made.Int("event.requests.0.id")))
		}, with("driver")},
	} {
		for role, c := range roles {
			made := t.Event(roles["owner"], map[string]any{"organiser_id": teacher.ID}, calendar, teacher, buses)
			path := eventPath(made.Int("event.id"))
			before := c.Get(path).Must(http.StatusOK).Body // everybody may read
			a := call.do(c, made)
			if call.allowed[role] {
				t.Equal(name+" as "+role, a.Code, http.StatusOK)
				continue
			}
			t.Equal(name+" as "+role, fmt.Sprint(a.Code, " ", a.Body), "403 "+forbidden)
			t.Equal("the event after "+name+" as "+role, c.Get(path).Body, before)
		}
	}
}

func creatingNeedsCanAddEvents(t *T) {
	room := t.Location()
	for _, c := range []*Client{t.As(), t.As("edit_all_events", "privileged", "can_su", "can_add_notes")} {
		t.TryEvent(c, nil, room).Want(http.StatusForbidden, forbidden)
	}
	t.Equal("what came of them", listed(on(t.As(), room, "start_date=2019-04-10")), "")
	for _, kind := range []string{"staff", "pupil", "guest"} {
		t.Event(t.Login(t.UserWith(map[string]any{"kind": kind}, "can_api", "can_add_events")), nil)
	}
	t.Event(t.As("admin"), nil) // it implies every other permission
}

func privilegedCategory(t *T) {
	exam := map[string]any{"event_category_id": t.School.Privileged.ID}
	c := t.As("can_add_events", "edit_all_events")
	t.TryEvent(c, exam).Want(http.StatusForbidden, forbidden)
	t.TryEvent(c, map[string]any{"event_category_id": nil, "eventcategory_id": fmt.Sprint(t.School.Privileged.ID)}).Want(http.StatusForbidden, forbidden)
	path := eventPath(t.Event(c, nil).Int("event.id"))
	c.Patch(path, map[string]any{"event": exam}).Want(http.StatusForbidden, forbidden)
	c.Put(path, map[string]any{"event": exam}).Want(http.StatusForbidden, forbidden)
	for _, permission := range []string{"privileged", "admin"} {
		c := t.As("can_add_events", "edit_all_events", permission)
		t.Event(c, exam)
		c.Patch(path, map[string]any{"event": exam}).WantCode(http.StatusOK)
	}
	c.Patch(path, map[string]any{"event": map[string]any{"body": "x"}}).WantCode(http.StatusOK) // it has the category already, and the change names none
}

func callerBecomesOwner(t *T) {
	u, other := t.User("can_add_events"), t.User()
	c := t.Login(u)
	a := t.Event(c, map[string]any{"owner_id": other.ID, "owner": map[string]any{"id": other.ID}})
	t.Equal("the owner", t.Admin().Get(eventPath(a.Int("event.id"))).At("event.owner"), u.List())
}

// organiserFollowsTheEvent: who organises is decided by the event as it is when it is asked.
func organiserFollowsTheEvent(t *T) {
	c, one, other, room := t.Booker(), t.Staff(), t.Staff(), t.Location()
	organiser := t.Login(t.UserWith(map[string]any{"element_id": one.ID}, "can_api"))
	made := t.Event(c, map[string]any{"organiser_id": other.ID}, room, one)
	commitment := fmt.Sprintf("/api/commitments/%d", made.Int("event.commitments.0.id"))
	organiser.Delete(commitment).Want(http.StatusForbidden, forbidden) // committed, but not the organiser
	c.Patch(eventPath(made.Int("event.id")), map[string]any{"event": map[string]any{"organiser_id": one.ID}}).Must(http.StatusOK)
	organiser.Delete(commitment).Want(http.StatusOK, `{"status":"OK"}`)
	nobody := t.Event(c, nil, room)
	t.As().Delete(fmt.Sprintf("/api/commitments/%d", nobody.Int("event.commitments.0.id"))).Want(http.StatusForbidden, forbidden) // no organiser is nobody's
}
