package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestDecisionsPart4_WhoMayDoWhatToAnEvent makes every call that changes an event in every role, each on a new
// event.
func TestDecisionsPart4_WhoMayDoWhatToAnEvent(t *testing.T) {
	proves(t, "decisions 4 edit rights", "decisions 4 adding and deleting", "decisions 4 organiser deletes",
		"decisions 4 administrator deletes", "decisions 4 403", "4.2 rule 10", "4.2 rule 11", "5 rule 11")
	owner, teacher := school.User(t, "can_add_events"), school.Staff(t)
	keeper, driver := school.User(t, "can_add_events"), school.User(t)
	calendar, buses := school.Property(t), school.ResourceGroup(t)
	school.Administrator(t, calendar, keeper)
	school.Administrator(t, buses, driver)
	everythingElse := []string{"can_api", "can_su", "can_add_events", "can_add_notes", "privileged"}
	roles := map[string]*servicetest.Client{
		"admin": school.As(t, "admin"), "editor": school.As(t, "edit_all_events"), "owner": school.Login(t, owner),
		"keeper": school.Login(t, keeper), "driver": school.Login(t, driver),
		"organiser": school.Login(t, school.UserWith(t, object{"element_id": teacher.ID}, "can_api")),
		"stranger":  school.Login(t, school.UserWith(t, nil, everythingElse...)),
		"member":    school.Login(t, school.UserWith(t, object{"element_id": school.Staff(t).ID}, everythingElse...)),
		"pupil":     school.Login(t, school.UserWith(t, object{"kind": "pupil"}, everythingElse...)),
		"guest":     school.Login(t, school.UserWith(t, object{"kind": "guest"}, everythingElse...)),
	}
	editors := map[string]bool{"admin": true, "editor": true, "owner": true}
	with := func(more string) map[string]bool {
		return map[string]bool{"admin": true, "editor": true, "owner": true, "organiser": true, more: true}
	}
	room := school.Location(t)
	for name, call := range map[string]struct {
		do      func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer
		allowed map[string]bool
	}{
		"PATCH": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return c.Patch(t, pathIn(t, made), object{"event": object{"body": "x"}})
		}, editors},
		"PUT": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return c.Put(t, pathIn(t, made), object{"event": object{"body": "x"}})
		}, editors},
		"add": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return add(t, c, made.Int(t, "event.id"), room)
		}, editors},
		"DELETE event": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return c.Delete(t, pathIn(t, made))
		}, editors},
		"DELETE the commitment of the calendar": {func(c *servicetest.Client,
			made servicetest.Answer) servicetest.Answer {
			return c.Delete(t, commitmentIn(t, made, 0))
		}, with("keeper")},
		"DELETE another commitment": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return c.Delete(t, commitmentIn(t, made, 1))
		}, with("")},
		"DELETE the request": {func(c *servicetest.Client, made servicetest.Answer) servicetest.Answer {
			return c.Delete(t, requestIn(t, made))
		}, with("driver")},
	} {
		for role, c := range roles {
			made := school.Event(t, roles["owner"], object{"organiser_id": teacher.ID}, calendar, teacher, buses)
			path := pathIn(t, made)
			before := school.Admin().Get(t, path).Must(t, http.StatusOK).Body
			a := call.do(c, made)
			if call.allowed[role] {
				equal(t, name+" as "+role, a.Code, http.StatusOK)
				continue
			}
			equal(t, name+" as "+role, fmt.Sprint(a.Code, " ", a.Body), "403 "+forbidden)
			equal(t, "the event after "+name+" as "+role, school.Admin().Get(t, path).Body, before)
		}
	}
}

func TestDecisionsPart4_CreatingNeedsCanAddEvents(t *testing.T) {
	proves(t, "decisions 4 can_add_events", "decisions 4 403")
	room := school.Location(t)
	for _, c := range []*servicetest.Client{school.As(t), school.As(t, allBut("can_add_events", "admin")...)} {
		school.TryEvent(t, c, nil, room).Want(t, http.StatusForbidden, forbidden)
	}
	equal(t, "what came of them", listed(t, on(t, school.As(t), room, "start_date=2019-04-10")), "")
	for _, kind := range []string{"staff", "pupil", "guest"} {
		school.Event(t, school.Login(t, school.UserWith(t, object{"kind": kind}, "can_api", "can_add_events")), nil)
	}
	school.Event(t, school.As(t, "admin"), nil) // it implies every other permission
}

func TestDecisionsPart4_APrivilegedCategoryNeedsPrivileged(t *testing.T) {
	proves(t, "decisions 4 privileged")
	exam := object{"event_category_id": school.Privileged.ID}
	c := school.As(t, "can_add_events", "edit_all_events")
	school.TryEvent(t, c, exam).Want(t, http.StatusForbidden, forbidden)
	school.TryEvent(t, c, object{"event_category_id": nil,
		"eventcategory_id": fmt.Sprint(school.Privileged.ID)}).Want(t, http.StatusForbidden, forbidden)
	path := pathIn(t, school.Event(t, c, nil))
	c.Patch(t, path, object{"event": exam}).Want(t, http.StatusForbidden, forbidden)
	c.Put(t, path, object{"event": exam}).Want(t, http.StatusForbidden, forbidden)
	for _, permission := range []string{"privileged", "admin"} {
		c := school.As(t, "can_add_events", "edit_all_events", permission)
		school.Event(t, c, exam)
		c.Patch(t, path, object{"event": exam}).WantCode(t, http.StatusOK)
	}
	// the event has the category already, and the change does not mention it
	c.Patch(t, path, object{"event": object{"body": "x"}}).WantCode(t, http.StatusOK)
}

func TestDecisionsPart4_TheCallerBecomesOwner(t *testing.T) {
	proves(t, "decisions 4 owner")
	u, other := school.User(t, "can_add_events"), school.User(t)
	c := school.Login(t, u)
	a := school.Event(t, c, object{"owner_id": other.ID, "owner": object{"id": other.ID}})
	equal(t, "the owner", school.Admin().Get(t, pathIn(t, a)).At(t, "event.owner"), u.List())
}

// TestDecisionsPart4_TheOrganiserIsTheUserWhoIsThatElement: the organiser is the one of the event at the time of
// the request.
func TestDecisionsPart4_TheOrganiserIsTheUserWhoIsThatElement(t *testing.T) {
	proves(t, "decisions 4 organiser deletes", "decisions 8 kinds")
	c, one, other, room := school.Booker(t), school.Staff(t), school.Staff(t), school.Location(t)
	organiser := school.Login(t, school.UserWith(t, object{"element_id": one.ID}, "can_api"))
	made := school.Event(t, c, object{"organiser_id": other.ID}, room, one)
	commitment := commitmentIn(t, made, 0)
	organiser.Delete(t, commitment).Want(t, http.StatusForbidden, forbidden) // committed, but not the organiser
	c.Patch(t, pathIn(t, made), object{"event": object{"organiser_id": one.ID}}).Must(t, http.StatusOK)
	organiser.Delete(t, commitment).Want(t, http.StatusOK, `{"status":"OK"}`)
	unorganised := school.Event(t, c, nil, room) // a caller without an element is not its organiser
	school.As(t).Delete(t, commitmentIn(t, unorganised, 0)).Want(t, http.StatusForbidden, forbidden)
}
