package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// keeper makes a user who may create events, with a calendar that it administers.
func (s *School) keeper(t *testing.T) (*servicetest.Client, Element) {
	t.Helper()
	u, calendar := s.User(t, "can_add_events", "can_add_notes"), s.Property(t)
	s.Administrator(t, calendar, u)
	return s.Login(t, u), calendar
}

// decide changes the status of a commitment.
func decide(t *testing.T, c *servicetest.Client, commitment int64, status string) servicetest.Answer {
	t.Helper()
	return c.Patch(t, commitmentPath(commitment), object{"commitment": object{"status": status}})
}

func TestPart3_1_ControlledIsRequestedUnlessTheCallerAdministersIt(t *testing.T) {
	proves(t, "3.1 requested: creating or adding a controlled element: requested",
		"3.1 uncontrolled: creating or adding a freely allocated element: uncontrolled", "decisions 5 controlled",
		"decisions 5 requested: adding a controlled element: requested, unless the caller administers it: uncontrolled",
		"decisions 8 not implied")
	keeper, other, calendar := school.User(t, "can_add_events"), school.User(t, "can_add_events"), school.Property(t)
	k, c := school.Login(t, keeper), school.Login(t, other)
	equal(t, "without an administrator", statuses(t, school.Event(t, c, nil, calendar)), "uncontrolled")
	school.Administrator(t, calendar, keeper)
	made := school.Event(t, c, nil, calendar)
	equal(t, "with one", statuses(t, made), "requested")
	equal(t, "by an admin, who is none of them", statuses(t, school.Event(t, school.As(t, "admin"), nil, calendar)),
		"requested")
	equal(t, "by its administrator", statuses(t, school.Event(t, k, nil, calendar)), "uncontrolled")
	school.Administrator(t, calendar, other)
	equal(t, "by its second administrator", statuses(t, school.Event(t, c, nil, calendar)), "uncontrolled")
	equal(t, "what was requested before", statuses(t, c.Get(t, pathIn(t, made))), "requested")
	for _, u := range []User{keeper, other} {
		school.Admin().Delete(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", calendar.ID, u.ID)).Must(t,
			http.StatusOK)
	}
	equal(t, "after the last administrator has gone", statuses(t, school.Event(t, k, nil, calendar)), "uncontrolled")
	decide(t, k, made.Int(t, "event.commitments.0.id"), "confirmed").Want(t, http.StatusForbidden, forbidden)
	added := school.Event(t, c, nil)
	school.Administrator(t, calendar, keeper)
	equal(t, "added", statuses(t, add(t, c, added.Int(t, "event.id"), calendar)), "requested")
}

func TestPart3_1_ADecisionByTheElementsAdministrator(t *testing.T) {
	proves(t, "3.1 confirmed: requested, accepted by the administrator: confirmed",
		"3.1 rejected: requested, refused: rejected", "3.1 noted: requested, more is needed: noted",
		"decisions 5 decide", "decisions 1 key order",
		"3.1 values: a commitment is uncontrolled, confirmed, requested, rejected or noted", "2.2 fields")
	c := school.Booker(t)
	k, calendar := school.keeper(t)
	for _, status := range []string{"confirmed", "rejected", "noted"} {
		made := school.Event(t, c, nil, calendar)
		id := made.Int(t, "event.commitments.0.id")
		a := k.Patch(t, commitmentPath(id), object{"commitment": object{"status": status, "reason": "Größe <b>"}})
		a.Want(t, http.StatusOK, strings.Replace(school.golden(t, "commitment_decided.json",
			"30001", id, "10001", calendar.ID, "Sample calendar", calendar.Name, "20001", calendar.EntityID, "40001",
			made.Int(t, "event.id"), "Sample concert", made.Text(t, "event.body")), `"confirmed"`, quoted(status), 1))
		equal(t, "as the event shows it", statuses(t, c.Get(t, pathIn(t, made))), status)
		equal(t, "as the listing shows it",
			on(t, c, calendar, "start_date=2019-04-10").Text(t, "commitments.0.status"), status)
		c.Delete(t, pathIn(t, made)).Must(t, http.StatusOK)
	}
}

// moves has, for each status, the statuses to which a decision may change it.
var moves = map[string]string{
	"requested": "confirmed rejected noted", "noted": "confirmed rejected requested",
	"rejected": "confirmed noted requested", "confirmed": "rejected requested", "uncontrolled": "",
}

func TestDecisionsPart5_EveryMove(t *testing.T) {
	proves(t, "decisions 5 transitions", "decisions 5 uncontrolled: uncontrolled never moves", "decisions 5 illegal",
		"decisions 1 409 transition: an illegal commitment transition: 409")
	c := school.Booker(t)
	k, calendar := school.keeper(t)
	for from, allowed := range moves {
		for to := range moves {
			creator := c
			if from == "uncontrolled" {
				creator = k
			}
			made := school.Event(t, creator, nil, calendar)
			id := made.Int(t, "event.commitments.0.id")
			if from != "requested" && from != "uncontrolled" {
				decide(t, k, id, from).Must(t, http.StatusOK)
			}
			a := decide(t, k, id, to)
			if strings.Contains(" "+allowed+" ", " "+to+" ") {
				equal(t, from+" to "+to, fmt.Sprint(a.Code, " ", statuses(t, c.Get(t, pathIn(t, made)))), "200 "+to)
				continue
			}
			equal(t, from+" to "+to, fmt.Sprint(a.Code, " ", a.Text(t, "status"), " ",
				statuses(t, c.Get(t, pathIn(t, made)))), "409 Conflict "+from)
		}
	}
}

func TestDecisionsPart5_ADecisionThatCannotBeRead(t *testing.T) {
	proves(t, "decisions 5 decide: PATCH of a commitment by an administrator of the element: OK and the commitment",
		"decisions 1 400 wrapper", "decisions 1 exception")
	c := school.Booker(t)
	k, calendar := school.keeper(t)
	made := school.Event(t, c, nil, calendar)
	path := commitmentIn(t, made, 0)
	for _, body := range []string{`{}`, `{"commitment":null}`, `{"status":"confirmed"}`, `{`, ``} {
		k.Do(t, http.MethodPatch, path, body).WantCode(t, http.StatusBadRequest)
	}
	for _, status := range []any{"maybe", "", nil, 7, "Confirmed"} {
		a := k.Patch(t, path, object{"commitment": object{"status": status}})
		a.WantCode(t, http.StatusUnprocessableEntity)
		equal(t, "the field that is wrong", a.Keys(t, "commitment.errors"), "status")
	}
	equal(t, "the commitment", statuses(t, c.Get(t, pathIn(t, made))), "requested")
	decide(t, k, noSuchID, "confirmed").Want(t, http.StatusNotFound, missing("Not found", "Commitment", noSuchID))
	k.Patch(t, "/api/commitments/0", object{"commitment": object{"status": "confirmed"}}).WantCode(t,
		http.StatusNotFound)
}
