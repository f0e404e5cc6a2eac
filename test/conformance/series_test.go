package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// repeating is a create of Tuesdays at 9:00, from one after which the clock of most of Europe changes.
func repeating(elements []string, repeat ...any) object {
	of := servicetest.With(object{}, repeat...)
	clashes := of["clashes"] // beside repeat
	delete(of, "clashes")
	return object{"event": object{"body": school.Unique("Choir"), "event_category_id": school.Category.ID,
		"starts_at_text": "2027-03-16 09:00", "ends_at_text": "2027-03-16 10:00"},
		"elements": elements, "repeat": of, "clashes": clashes}
}

func TestClients_SeriesIsMadeOfOrdinaryEvents(t *testing.T) {
	proves(t,
		"clients series made: POST /api/events with repeat makes an ordinary event for each occurrence of the rule, "+
			"with series_id and its place",
		"clients series clock: the local times stay the same over both clock changes", "clients series left out",
		"clients series key: repeated with the same Idempotency-Key it is the same series",
		"clients series shown: GET /api/series/<id>: the events as they are, in order of their places")
	c, room := school.Booker(t), school.Location(t)
	body := repeating([]string{room.Sent()}, "rule", "FREQ=WEEKLY;COUNT=4", "except", []string{"2027-03-23"})
	key := school.Prefix + "-series"
	a := c.Do(t, http.MethodPost, "/api/events", body, "Idempotency-Key", key).Must(t, http.StatusOK)
	c.Do(t, http.MethodPost, "/api/events", body, "Idempotency-Key", key).Want(t, http.StatusOK, a.Body)
	a.Equal(t, "status", `"Created"`)
	id := a.Int(t, "series.id")
	equal(t, "events made", a.Len(t, "series.events"), 3)
	equal(t, "what was left out", a.At(t, "series.left_out.0.date")+a.At(t, "series.left_out.0.reason"),
		`"2027-03-23""except"`)
	for i, day := range []string{"2027-03-16", "2027-03-30", "2027-04-06"} {
		start := a.At(t, fmt.Sprintf("series.events.%d.starts_at", i))
		equal(t, "its start by the clock", start[1:20], day+"T09:00:00")
		one := c.Get(t, eventPath(a.Int(t, fmt.Sprintf("series.events.%d.id", i))))
		equal(t, "its series and place", fmt.Sprint(one.Int(t, "event.series_id"), one.Int(t, "event.series_place")),
			fmt.Sprint(id, i+1))
		list := c.Get(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", room.ID, day))
		equal(t, "on the room's day", list.Len(t, "commitments"), 1)
	}
	c.Delete(t, eventPath(a.Int(t, "series.events.0.id"))).WantCode(t, http.StatusOK)
	shown := c.Get(t, seriesPath(id)).Must(t, http.StatusOK)
	equal(t, "events after one was deleted", shown.Len(t, "series.events"), 2)
	equal(t, "the place of the first", shown.Int(t, "series.events.0.place"), int64(2))
	c.Get(t, seriesPath(noSuchID)).WantCode(t, http.StatusNotFound)
}

func TestClients_SeriesOfWhatClashesAndOnADryRun(t *testing.T) {
	proves(t,
		"clients series left out: except, during, not_during and clashes: the answer lists each day that is left "+
			"out, with the reason", "clients series trial: dry_run answers the same and writes nothing")
	c, room, busy := school.Booker(t), school.Location(t), school.busy(t)["event_category_id"]
	repeating := func(elements []string, repeat ...any) object {
		body := repeating(elements, repeat...)
		body["event"] = servicetest.With(body["event"].(object), "event_category_id", busy)
		return body
	}
	c.Post(t, "/api/events", repeating([]string{room.Sent()}, "rule", "FREQ=WEEKLY;COUNT=1")).Must(t, http.StatusOK)
	for clashes, code := range map[string]int{"skip": http.StatusOK, "refuse": http.StatusConflict} {
		a := c.Post(t, "/api/events?dry_run=true", repeating([]string{room.Sent()}, "rule", "FREQ=WEEKLY;COUNT=2",
			"clashes", clashes))
		a.WantCode(t, code)
		if code == http.StatusOK {
			equal(t, "events of a trial", a.Len(t, "series.events"), 1)
			equal(t, "why another is none", a.At(t, "series.left_out.0.reason"), `"clash"`)
			equal(t, "the series of a trial", a.At(t, "series.id"), "null")
		}
	}
	list := c.Get(t, elementPath(room)+"/commitments?start_date=2027-03-01&end_date=2027-04-30")
	equal(t, "events after trials", list.Len(t, "commitments"), 1)
}

func TestClients_SeriesRulesThatAreRefused(t *testing.T) {
	proves(t,
		"clients series refused: a rule without an end, of more than 400 occurrences, of less than days or of no "+
			"occurrence: 422, nothing written")
	c, room := school.Booker(t), school.Location(t)
	for _, rule := range []string{"", "FREQ=DAILY", "FREQ=DAILY;COUNT=1000000", "FREQ=SECONDLY;COUNT=2",
		"FREQ=DAILY;UNTIL=99991231", "FREQ=YEARLY;UNTIL=99991231", "FREQ=DAILY;UNTIL=20300101",
		"FREQ=MONTHLY;BYMONTHDAY=30;BYMONTH=2;COUNT=1", "FREQ=DAILY;BYDAY=MO;BYSETPOS=366;COUNT=1"} {
		a := c.Post(t, "/api/events", repeating([]string{room.Sent()}, "rule", rule))
		a.WantCode(t, http.StatusUnprocessableEntity)
	}
	list := c.Get(t, elementPath(room)+"/commitments?start_date=2027-03-01&end_date=2027-04-30")
	equal(t, "events", list.Len(t, "commitments"), 0)
}

func TestClients_SeriesAreDeletedByScope(t *testing.T) {
	proves(t,
		"clients series deleted: DELETE /api/events/<id>?scope=one, following or all: the event alone, the event "+
			"and all later ones, or all")
	c := school.Booker(t)
	made := c.Post(t, "/api/events", repeating(nil, "rule", "FREQ=WEEKLY;COUNT=6")).Must(t, http.StatusOK)
	series := seriesPath(made.Int(t, "series.id"))
	of := func(place int) string { return eventPath(made.Int(t, fmt.Sprintf("series.events.%d.id", place-1))) }
	left := func(after, want string) {
		t.Helper()
		equal(t, "places after "+after, fmt.Sprint(c.Get(t, series).Ints(t, "series.events.#.place")), want)
	}
	for _, one := range []struct {
		place int
		scope string
		code  int
		left  string
	}{
		{2, "?scope=one", http.StatusOK, "[1 3 4 5 6]"},
		{3, "", http.StatusOK, "[1 4 5 6]"},
		{5, "?scope=some", http.StatusBadRequest, "[1 4 5 6]"},
		{5, "?scope=following", http.StatusOK, "[1 4]"},
		{5, "?scope=following", http.StatusNotFound, "[1 4]"},
	} {
		a := c.Delete(t, of(one.place)+one.scope)
		a.WantCode(t, one.code)
		left(a.Request, one.left)
	}
	all, alone := of(4)+"?scope=all", pathIn(t, school.Event(t, c, nil))
	old := c.Get(t, of(4)).Header.Get("ETag")
	c.Patch(t, of(4), wrapped("event", "body", "Changed")).Must(t, http.StatusOK)
	c.Do(t, http.MethodDelete, all, nil, "If-Match", old).WantCode(t, http.StatusPreconditionFailed)
	left("a deletion of another version", "[1 4]")
	c.Do(t, http.MethodDelete, all, nil, "If-Match", c.Get(t, of(4)).Header.Get("ETag")).WantCode(t, http.StatusOK)
	left("a deletion of all", "[]")
	c.Delete(t, alone+"?scope=all").Want(t, http.StatusOK, okBody) // an event without a series
	c.Get(t, alone).WantCode(t, http.StatusNotFound)
}
