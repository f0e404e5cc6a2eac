package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestDecisionsPart4_APrivilegedCategoryNeedsPrivileged(t *testing.T) {
	proves(t, "decisions 4 privileged: a privileged category needs privileged, on create and PATCH: else 403")
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

// TestDecisionsPart4_WhoMayNotCreateIsToldSoBeforeTheFieldsAreChecked, but after the body could be read: the documents
// said that nothing comes before 403.
func TestDecisionsPart4_WhoMayNotCreateIsToldSoBeforeTheFieldsAreChecked(t *testing.T) {
	proves(t, "decisions 4 can_add_events", "decisions 1 400 JSON")
	c := school.As(t)
	c.Post(t, "/api/events", object{"event": object{}}).Want(t, http.StatusForbidden, forbidden)
	c.Do(t, http.MethodPost, "/api/events", "{").WantCode(t, http.StatusBadRequest)
	c.Post(t, "/api/events", object{}).WantCode(t, http.StatusBadRequest)
	c.Do(t, http.MethodPost, "/api/events", "{}", "Content-Type", "text/plain").WantCode(t,
		http.StatusUnsupportedMediaType)
}

func TestDecisionsPart4_TheCallerBecomesOwner(t *testing.T) {
	proves(t, "decisions 4 owner: the caller becomes owner")
	u, other := school.User(t, "can_add_events"), school.User(t)
	c := school.Login(t, u)
	a := school.Event(t, c, object{"owner_id": other.ID, "owner": object{"id": other.ID}})
	equal(t, "the owner", school.Admin().Get(t, pathIn(t, a)).At(t, "event.owner"), u.List())
}

// TestDecisionsPart4_TheOrganiserIsTheUserWhoIsThatElement: the organiser at the time of the request may take off what
// is on the event, and do no more. The table of rights has the other roles.
func TestDecisionsPart4_TheOrganiserIsTheUserWhoIsThatElement(t *testing.T) {
	proves(t, "decisions 4 organiser deletes: the organiser may delete a commitment or request of an involved element",
		"decisions 8 kinds")
	c, one, other, room := school.Booker(t), school.Staff(t), school.Staff(t), school.Location(t)
	organiser := school.Login(t, school.UserWith(t, object{"element_id": one.ID}, "can_api"))
	made := school.Event(t, c, object{"organiser_id": other.ID}, room, school.Controlled(t), one,
		school.ResourceGroup(t))
	path := pathIn(t, made)
	organiser.Delete(t, commitmentIn(t, made, 0)).Want(t, http.StatusForbidden, forbidden) // committed, no organiser
	c.Patch(t, path, wrapped("event", "organiser_id", one.ID)).Must(t, http.StatusOK)
	before := c.Get(t, path).Body
	for _, refused := range []servicetest.Answer{organiser.Patch(t, path, wrapped("event", "body", "x")),
		organiser.Put(t, path, wrapped("event", "body", "x")), organiser.Delete(t, path),
		organiser.Post(t, path+"/add", object{"elements": sent(school.Location(t))}),
		organiser.Patch(t, requestIn(t, made), quantity(1)),
		decide(t, organiser, made.Int(t, "event.commitments.1.id"), "confirmed")} {
		refused.Want(t, http.StatusForbidden, forbidden)
	}
	c.Get(t, path).Want(t, http.StatusOK, before)
	for _, entry := range []string{commitmentIn(t, made, 0), commitmentIn(t, made, 1), requestIn(t, made)} {
		organiser.Delete(t, entry).Want(t, http.StatusOK, okBody)
	}
	without := school.Event(t, c, nil, room)
	school.As(t).Delete(t, commitmentIn(t, without, 0)).Want(t, http.StatusForbidden, forbidden)
}
