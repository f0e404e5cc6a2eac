package suite

import (
	"fmt"
	"net/http"
	"strings"
)

func decisionChecks() []Check {
	return []Check{
		prove("TestPart3_1_ControlledIsRequestedUnlessTheCallerAdministersIt", controlled, "3.1 requested", "3.1 uncontrolled", "decisions 5 controlled", "decisions 5 requested", "decisions 8 not implied"),
		prove("TestPart3_1_ADecisionByTheElementsAdministrator", decisionForm, "3.1 confirmed", "3.1 rejected", "3.1 noted", "decisions 5 decide", "decisions 1 key order"),
		prove("TestDecisionsPart5_EveryMove", everyMove, "decisions 5 transitions", "decisions 5 uncontrolled", "decisions 5 illegal", "decisions 1 409 transition"),
		prove("TestDecisionsPart5_OthersMayNotDecide", othersMayNotDecide, "decisions 5 others", "decisions 8 not implied"),
		prove("TestDecisionsPart5_ADecisionThatCannotBeRead", unreadableDecision, "decisions 5 decide", "decisions 1 400 wrapper", "decisions 1 exception"),
	}
}

// decide moves a commitment to a status.
func decide(c *Client, commitment int64, status string) Answer {
	return c.Patch(fmt.Sprintf("/api/commitments/%d", commitment), map[string]any{"commitment": map[string]any{"status": status}})
}

func controlled(t *T) {
	keeper, other, calendar := t.User("can_add_events"), t.User("can_add_events"), t.Property()
	k, c := t.Login(keeper), t.Login(other)
	t.Equal("without an administrator", statuses(t.Event(c, nil, calendar)), "uncontrolled")
	t.Administrator(calendar, keeper)
	made := t.Event(c, nil, calendar)
	t.Equal("with one", statuses(made), "requested")
	t.Equal("by an admin, who is none of them", statuses(t.Event(t.As("admin"), nil, calendar)), "requested")
	t.Equal("by its administrator", statuses(t.Event(k, nil, calendar)), "uncontrolled")
	t.Administrator(calendar, other)
	t.Equal("by its second administrator", statuses(t.Event(c, nil, calendar)), "uncontrolled")
	t.Equal("what was requested before", statuses(c.Get(eventPath(made.Int("event.id")))), "requested")
	for _, u := range []User{keeper, other} {
		t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d/administrators/%d", calendar.ID, u.ID)).Must(http.StatusOK)
	}
	t.Equal("with none any more", statuses(t.Event(k, nil, calendar)), "uncontrolled")
	added := t.Event(c, nil)
	t.Administrator(calendar, keeper)
	t.Equal("added", statuses(add(c, added.Int("event.id"), calendar)), "requested")
}

func decisionForm(t *T) {
	c, keeper, calendar := t.Booker(), t.User(), t.Property()
	t.Administrator(calendar, keeper)
	k := t.Login(keeper)
	for _, status := range []string{"confirmed", "rejected", "noted"} {
		made := t.Event(c, nil, calendar)
		id := made.Int("event.commitments.0.id")
		a := k.Patch(fmt.Sprintf("/api/commitments/%d", id), map[string]any{"commitment": map[string]any{"status": status, "reason": "Größe <b>"}})
		a.Want(http.StatusOK, strings.Replace(t.golden("commitment_decided.json", "30001", id, "10001", calendar.ID, "Sample calendar", calendar.Name, "20001", calendar.EntityID,
			"40001", made.Int("event.id"), "Sample concert", made.String("event.body")), `"confirmed"`, quoted(status), 1))
		t.Equal("as the event shows it", statuses(c.Get(eventPath(made.Int("event.id")))), status)
		t.Equal("as the listing shows it", decode[struct{ Commitments []struct{ Status string } }](on(c, calendar, "start_date=2019-04-10")).Commitments[0].Status, status)
		c.Delete(eventPath(made.Int("event.id"))).Must(http.StatusOK)
	}
}

// moves are the statuses that each status may become by a decision.
var moves = map[string]string{
	"requested": "confirmed rejected noted", "noted": "confirmed rejected requested", "rejected": "confirmed noted requested", "confirmed": "rejected requested", "uncontrolled": "",
}

func everyMove(t *T) {
	c, keeper, calendar := t.Booker(), t.User("can_add_events"), t.Property()
	t.Administrator(calendar, keeper)
	k := t.Login(keeper)
	for from, allowed := range moves {
		for to := range moves {
			creator := c
			if from == "uncontrolled" {
				creator = k
			}
			made := t.Event(creator, nil, calendar)
			id := made.Int("event.commitments.0.id")
			if from != "requested" && from != "uncontrolled" {
				decide(k, id, from).Must(http.StatusOK)
			}
			a := decide(k, id, to)
			if strings.Contains(" "+allowed+" ", " "+to+" ") {
				t.Equal(from+" to "+to, fmt.Sprint(a.Code, " ", statuses(c.Get(eventPath(made.Int("event.id"))))), "200 "+to)
				continue
			}
			t.Equal(from+" to "+to, fmt.Sprint(a.Code, " ", a.String("status"), " ", statuses(c.Get(eventPath(made.Int("event.id"))))), "409 Conflict "+from)
		}
	}
}

func othersMayNotDecide(t *T) {
	owner, keeper, calendar, teacher := t.User("can_add_events"), t.User(), t.Property(), t.Staff()
	t.Administrator(calendar, keeper)
	made := t.Event(t.Login(owner), map[string]any{"organiser_id": teacher.ID}, calendar)
	id := made.Int("event.commitments.0.id")
	elsewhere := t.User()
	t.Administrator(t.Property(), elsewhere)
	for role, c := range map[string]*Client{
		"owner": t.Login(owner), "admin": t.As("admin"), "editor": t.As("edit_all_events"), "administrator of another element": t.Login(elsewhere), "stranger": t.As(),
		"organiser": t.Login(t.UserWith(map[string]any{"element_id": teacher.ID}, "can_api")),
	} {
		for _, status := range []string{"confirmed", "requested", "maybe"} {
			a := decide(c, id, status)
			t.Equal(status+" by "+role, fmt.Sprint(a.Code, " ", a.Body), "403 "+forbidden)
		}
	}
	t.Equal("the commitment", statuses(t.Admin().Get(eventPath(made.Int("event.id")))), "requested")
	t.Admin().Delete(fmt.Sprintf("/api/admin/elements/%d/administrators/%d", calendar.ID, keeper.ID)).Must(http.StatusOK)
	decide(t.Login(keeper), id, "confirmed").Want(http.StatusForbidden, forbidden) // no administrator any more
}

func unreadableDecision(t *T) {
	c, keeper, calendar := t.Booker(), t.User(), t.Property()
	t.Administrator(calendar, keeper)
	k := t.Login(keeper)
	made := t.Event(c, nil, calendar)
	path := fmt.Sprintf("/api/commitments/%d", made.Int("event.commitments.0.id"))
	for _, body := range []string{`{}`, `{"commitment":null}`, `{"status":"confirmed"}`, `{`, ``} {
		k.Do(http.MethodPatch, path, body).WantCode(http.StatusBadRequest)
	}
	for _, status := range []any{"maybe", "", nil, 7, "Confirmed"} {
		a := k.Patch(path, map[string]any{"commitment": map[string]any{"status": status}})
		a.WantCode(http.StatusUnprocessableEntity)
		t.Equal("the field that is wrong", a.Keys("commitment.errors"), "status")
	}
	t.Equal("the commitment", statuses(c.Get(eventPath(made.Int("event.id")))), "requested")
	decide(k, noSuchID, "confirmed").Want(http.StatusNotFound, missing("Not found", "Commitment", noSuchID))
	k.Patch("/api/commitments/0", map[string]any{"commitment": map[string]any{"status": "confirmed"}}).WantCode(http.StatusNotFound)
}
