package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// madeSeries is the answer to a create with repeat.
type madeSeries struct {
	Status string
	Series struct {
		ID      int64
		Events  []occurrence
		LeftOut []struct {
			Date    string
			Reason  string
			EventID int64 `json:"event_id"`
		} `json:"left_out"`
	}
	Clashes []struct{ Place int }
}

// occurrence is an event of a series as answers name it.
type occurrence struct {
	Place    int
	ID       int64
	StartsAt string `json:"starts_at"`
	EndsAt   string `json:"ends_at"`
}

// starts are the days and times at which its events begin.
func (m madeSeries) starts() string {
	var all []string
	for _, e := range m.Series.Events {
		all = append(all, e.StartsAt[:16])
	}
	return strings.Join(all, " ")
}

// without are the days that were left out, with the reasons.
func (m madeSeries) without() string {
	var all []string
	for _, l := range m.Series.LeftOut {
		all = append(all, l.Date+" "+l.Reason)
	}
	return strings.Join(all, ", ")
}

// ofSeries is the body of a new series of lessons from Tuesday 2027-01-05, 9:00, on; clashes go beside repeat.
func (s school) ofSeries(title string, elements []any, repeat ...any) map[string]any {
	of := servicetest.With(map[string]any{}, repeat...)
	clashes := of["clashes"]
	delete(of, "clashes")
	return map[string]any{
		"event":    s.fields("body", title, "starts_at_text", "2027-01-05 09:00", "ends_at_text", "2027-01-05 10:00"),
		"elements": append([]any{}, elements...), "repeat": of, "clashes": clashes,
	}
}

func makeSeries(t *testing.T, c *servicetest.Client, body any) madeSeries {
	t.Helper()
	return decoded[madeSeries](t, c.Post(t, "/api/events", body))
}

// wholeDays makes an event of whole days.
func wholeDays(t *testing.T, c *servicetest.Client, category int64, body, first, last string) int64 {
	t.Helper()
	return book(t, c, map[string]any{"body": body, "event_category_id": category, "all_day_field": true,
		"starts_at_text": first, "ends_at_text": last}).Event.ID
}

func TestClients_SeriesMakesTheEventsAndSaysDayByDayWhatIsLeftOut(t *testing.T) {
	s := loadSchool(t)
	owner, admin := s.as(t, "owner"), system(t).Admin(t)
	title := uuid.NewString()
	week := admin.Import(t, "eventcategories", map[string]any{"key": title, "name": title})[title]
	wholeDays(t, owner, week, " week a", "2026-12-01", "2027-01-17")
	wholeDays(t, owner, week, "Week A", "2027-01-25", "2027-03-31")
	wholeDays(t, owner, week, "Week B", "2027-01-18", "2027-01-24")
	half := wholeDays(t, owner, week, "Half term", "2027-02-01", "2027-02-05")
	got := makeSeries(t, owner, s.ofSeries(title, []any{s.set}, "rule", "FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270211",
		"except", []string{"2027-01-14", "2027-01-15"},
		"during", map[string]any{"eventcategory_id": week, "body": "week A"},
		"not_during", []any{map[string]any{"event_category_id": week, "body": "half term"}}))
	valuetest.Same(t, got.starts(),
		"2027-01-05T09:00 2027-01-07T09:00 2027-01-12T09:00 2027-01-26T09:00 2027-01-28T09:00 "+
			"2027-02-09T09:00 2027-02-11T09:00", "made")
	want := "2027-01-14 except, 2027-01-19 during, 2027-01-21 during, 2027-02-02 not_during, 2027-02-04 not_during"
	if got.without() != want || got.Series.LeftOut[3].EventID != half {
		t.Errorf("left out %s", got.without())
	}
	owner.Get(t, "/api/series/999999").Want(t, 404,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Series with 'id'=999999"}`)
}

// A teacher's club keeps away from what it can't book: the holidays, and the exams of its school.
func TestClients_SeriesKeepsAwayFromSeveralCategoriesAlsoFromThoseThatItsMakerMayNotUse(t *testing.T) {
	s := loadSchool(t)
	owner, admin := s.as(t, "owner"), system(t).Admin(t)
	title := uuid.NewString()
	holidays := admin.Import(t, "eventcategories",
		map[string]any{"key": title, "name": title, "privileged": true})[title]
	half := wholeDays(t, admin, holidays, "Half term", "2027-01-12", "2027-01-12")
	wholeDays(t, admin, s.trip, "Fair", "2027-01-19", "2027-01-19")
	exam := wholeDays(t, admin, s.trip, title, "2027-01-26", "2027-01-26")
	calendars := []any{
		map[string]any{"eventcategory_id": holidays},
		map[string]any{"event_category_id": s.trip, "body": title},
	}
	made := makeSeries(t, owner,
		s.ofSeries(title, []any{s.set}, "rule", "FREQ=WEEKLY;COUNT=4", "not_during", calendars))
	if made.without() != "2027-01-12 not_during, 2027-01-26 not_during" ||
		made.Series.LeftOut[0].EventID != half || made.Series.LeftOut[1].EventID != exam {
		t.Errorf("left out %+v", made.Series.LeftOut)
	}
	shown := owner.Get(t, path("/api/series/%d", made.Series.ID)).Must(t, 200)
	valuetest.Has(t, shown.Body,
		path(`"not_during":[{"eventcategory_id":%d,"body":null},{"eventcategory_id":%d,"body":"%s"}]`, holidays,
			s.trip, title))
	one := makeSeries(t, owner, s.ofSeries(title, nil, "rule", "FREQ=WEEKLY;COUNT=4", "not_during", calendars[0]))
	valuetest.Same(t, one.without(), "2027-01-12 not_during", "one calendar alone leaves out")
	none := makeSeries(t, owner, s.ofSeries(title, nil, "rule", "FREQ=WEEKLY;COUNT=2", "not_during", []any{}))
	valuetest.Same(t, none.without(), "", "no calendar leaves out")
}

func TestClients_SeriesWhatClashesIsSkippedRefusedOrReported(t *testing.T) {
	s, owner := loadOwned(t)
	room := things(t, 1)[0]
	taken := book(t, owner, s.fields("starts_at_text", "2027-01-12 09:30", "ends_at_text", "2027-01-12 11:00"), room)
	title := uuid.NewString()
	body := func(clashes string) map[string]any {
		return s.ofSeries(title, []any{room}, "rule", "FREQ=WEEKLY;COUNT=3", "clashes", clashes)
	}
	a := owner.Post(t, "/api/events", body("refuse"))
	if a.Code != 409 || titled(t, system(t), title) != 0 ||
		a.At(t, "message") != `"already booked: `+s.name(t, room)+` at 2027-01-12T09:00:00.000+00:00"` ||
		a.Len(t, "clashes") != 1 || a.Int(t, "clashes.0.place") != 2 ||
		a.Int(t, "clashes.0.element.id") != room || a.Int(t, "clashes.0.event.id") != taken.Event.ID {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	got := makeSeries(t, owner, body("skip"))
	if got.starts() != "2027-01-05T09:00 2027-01-19T09:00" || got.without() != "2027-01-12 clash" ||
		got.Series.LeftOut[0].EventID != taken.Event.ID {
		t.Errorf("%+v", got)
	}
	a = owner.Post(t, "/api/events", body("skip")) // nothing is left of it
	if a.Code != 422 || !strings.Contains(a.Body, `"repeat":["leaves out every occurrence of the rule"]`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	all := makeSeries(t, owner, body("report"))
	valuetest.Holds(t, len(all.Series.Events) == 3 && len(all.Clashes) == 3 && all.Clashes[1].Place == 2, "%+v", all)
}

func TestClashes_EventsOfASeriesThatOverlapAreRefusedSkippedOrReported(t *testing.T) {
	s, owner := loadOwned(t)
	rooms, title := things(t, 2), uuid.NewString()
	body := func(room int64, clashes string) map[string]any { // each ends while the next goes on
		of := s.ofSeries(title, []any{room}, "rule", "FREQ=DAILY;COUNT=3", "clashes", clashes)
		of["event"] = servicetest.With(of["event"].(map[string]any), "ends_at_text", "2027-01-06 10:00")
		return of
	}
	for i, query := range []string{"?dry_run=true", ""} {
		a := owner.Post(t, "/api/events"+query, body(rooms[0], "refuse"))
		if a.Code != 409 || a.Len(t, "clashes") != 0 || // they are not stored
			!strings.HasSuffix(a.Text(t, "message"), " at 2027-01-06T09:00:00.000+00:00; "+
				s.name(t, rooms[0])+" at 2027-01-07T09:00:00.000+00:00") {
			t.Errorf("refused%s: %d %s", query, a.Code, a.Body)
		}
		valuetest.MustSame(t, titled(t, system(t), title), 0, "events of what was refused or tried")
		got := decoded[madeSeries](t, owner.Post(t, "/api/events"+query, body(rooms[0], "skip")))
		if got.starts() != "2027-01-05T09:00 2027-01-07T09:00" || got.without() != "2027-01-06 clash" ||
			i == 1 && got.Series.LeftOut[0].EventID != got.Series.Events[0].ID {
			t.Errorf("skipped%s: %+v", query, got)
		}
		got = decoded[madeSeries](t, owner.Post(t, "/api/events"+query, body(rooms[1], "report")))
		want := []string{"[]", "[{2} {3}]"}[i] // a trial has no ids to name
		if len(got.Series.Events) != 3 || fmt.Sprint(got.Clashes) != want {
			t.Errorf("reported%s: %+v", query, got)
		}
	}
	made := makeSeries(t, owner, body(rooms[1], "allow"))
	valuetest.Len(t, made.Series.Events, 3, "allowed")
}

func TestClients_SeriesOfManyAtOnceThatRefuseClashesOneIsMade(t *testing.T) {
	s := loadSchool(t)
	title := uuid.NewString()
	body := s.ofSeries(title, []any{things(t, 1)[0]}, "rule", "FREQ=DAILY;COUNT=60", "clashes", "refuse")
	got := codes(atOnce(6, s.through(t, "owner"), func(_ int, c *servicetest.Client) servicetest.Answer {
		return c.Post(t, "/api/events", body)
	}))
	if n := titled(t, system(t), title); got[200] != 1 || got[409]+got[422] != 5 || n != 60 {
		t.Errorf("%d events are there: %v", n, got)
	}
}

// Package series tests which rules are refused.
func TestClients_SeriesBadInputIsRefusedAndNothingIsWritten(t *testing.T) {
	s, owner := loadOwned(t)
	title := uuid.NewString()
	weekly := "FREQ=WEEKLY;COUNT=3"
	calendar := func(more ...any) map[string]any { return servicetest.With(map[string]any{}, more...) }
	for name, c := range map[string]struct {
		repeat []any
		want   string
	}{
		"without a rule":    {nil, `"repeat.rule":["can't be blank"]`},
		"a number":          {[]any{"rule", 7}, `"repeat.rule":["is not a string"]`},
		"without an end":    {[]any{"rule", "FREQ=DAILY"}, `"repeat.rule":["needs either UNTIL or COUNT"]`},
		"no days":           {[]any{"rule", weekly, "except", "2027-01-05"}, `"repeat.except":["is not an array`},
		"no date":           {[]any{"rule", weekly, "except", []string{"5/1/2027"}}, `"repeat.except":["is not a date"]`},
		"no calendar":       {[]any{"rule", weekly, "during", 7}, `"repeat.during":["is not an object"]`},
		"an empty calendar": {[]any{"rule", weekly, "not_during", calendar()}, `"repeat.not_during":["event_category_id can't`},
		"no calendars": {[]any{"rule", weekly, "not_during", []any{calendar("eventcategory_id", s.trip), 7}},
			`"repeat.not_during":["is not an object"]`},
		"too many calendars": {[]any{"rule", weekly, "not_during",
			slices.Repeat([]any{calendar("eventcategory_id", s.trip)}, 21)},
			`"repeat.not_during":["has more than 20 entries"]`},
		"no such category":    {[]any{"rule", weekly, "during", calendar("eventcategory_id", 999999)}, `"repeat.during":["must exist"]`},
		"no day of the year":  {[]any{"rule", weekly, "during", calendar("eventcategory_id", s.trip, "body", title)}, `leaves out every`},
		"everything excepted": {[]any{"rule", "FREQ=DAILY;COUNT=1", "except", []string{"2027-01-05"}}, `leaves out every`},
	} {
		a := owner.Post(t, "/api/events", s.ofSeries(title, []any{s.set}, c.repeat...))
		valuetest.Holds(t, a.Code == 422 && strings.Contains(a.Body, c.want), "%s: %d %s", name, a.Code, a.Body)
	}
	a := owner.Post(t, "/api/events", s.ofSeries(title, nil, "rule", weekly, "clashes", "shrug"))
	a.Want(t, 400, `{"status":"Bad request","message":"clashes=shrug in the body: this call takes clashes in the body `+
		`(allow, report, skip, refuse)"}`)
	body := s.ofSeries(title, nil, "rule", weekly)
	body["repeat"] = "weekly"
	if a := owner.Post(t, "/api/events", body); a.Code != 422 || !strings.Contains(a.Body, `"repeat":["is not an object"]`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	body = s.ofSeries(title, nil, "rule", weekly)
	body["repeat"] = map[string]any{"rule": weekly, "clashes": "refuse"}
	owner.Post(t, "/api/events", body).WantCode(t, 400)
	secret := map[string]any{"eventcategory_id": s.privileged}
	owner.Post(t, "/api/events", s.ofSeries(title, nil, "rule", weekly, "during", secret)).WantCode(t, 403)
	s.as(t, "stranger").Post(t, "/api/events", s.ofSeries(title, nil, "rule", "?")).WantCode(t, 403)
	valuetest.Same(t, titled(t, system(t), title), 0, "events")
}

// begun takes a made series back to the state that a process leaves when it is killed after that many of its events.
func begun(t *testing.T, m madeSeries, left int, ago time.Duration) {
	t.Helper()
	ctx := t.Context()
	at := time.Now().UTC().Add(-ago)
	var gone []int64
	for _, e := range m.Series.Events[left:] {
		gone = append(gone, e.ID)
	}
	lost := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: append(gone, 0)}}}}
	errortest.None(t, errortest.Of(system(t).DB.Collection("events").DeleteMany(ctx, lost)))
	planned := bson.D{{Key: "$set", Value: bson.D{
		{Key: "state", Value: "planned"}, {Key: "begun", Value: at}, {Key: "unmade", Value: at},
	}}}
	errortest.None(t, errortest.Of(system(t).DB.Collection("series").UpdateByID(ctx, m.Series.ID, planned)))
}

func TestClients_SeriesWhatAKilledProcessBeganIsMadeByTheSweepOrByTheRetry(t *testing.T) {
	t.Parallel() // it waits for the sweep
	s, owner := loadOwned(t)
	all := map[string]madeSeries{}
	for left := range 4 { // of three: none, one, two, all but not marked as made
		title := uuid.NewString()
		body := s.ofSeries(title, []any{s.set, s.minibuses}, "rule", "FREQ=WEEKLY;COUNT=3")
		first := keyed(t, owner, "/api/events", body, title)
		var m madeSeries
		first.Decode(t, &m)
		begun(t, m, left, 0)
		owner.Get(t, path("/api/series/%d", m.Series.ID)).WantCode(t, 404)
		forgetAnswers(t, system(t))
		keyed(t, owner, "/api/events", body, title).Want(t, 200, first.Body)
		valuetest.Same(t, titled(t, system(t), title), 3, "%d left, after the retry", left)
		begun(t, m, left, time.Hour)
		all[title] = m
	}
	for title, m := range all {
		awaitSettled(t, m.Series.ID)
		valuetest.Same(t, titled(t, system(t), title), 3, "after the sweep")
		a := owner.Get(t, path("/api/series/%d", m.Series.ID))
		valuetest.Same(t, strings.Count(a.Body, `"place":`), 3, a.Body)
	}
}

// An event of a series that is not made yet can't be deleted by itself: the process that makes it would store it again.
func TestClients_SeriesNoEventIsDeletedWhileTheyAreMade(t *testing.T) {
	t.Parallel() // it waits for the sweep
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, s.ofSeries(uuid.NewString(), []any{s.set}, "rule", "FREQ=WEEKLY;COUNT=3"))
	first := path("/api/events/%d", m.Series.Events[0].ID)
	begun(t, m, 3, 0)
	for _, scope := range []string{"", "?scope=one", "?scope=following", "?scope=all"} {
		owner.Delete(t, first+scope).Want(t, 409, `{"status":"Conflict","message":"the series is being made"}`)
	}
	s.as(t, "stranger").Delete(t, first).WantCode(t, 403)
	begun(t, m, 3, time.Hour)
	awaitSettled(t, m.Series.ID)
	owner.Delete(t, first).Want(t, 200, `{"status":"OK"}`)
	valuetest.Same(t, left(t, owner, m.Series.ID), "2 3", "left")
}

func TestClients_SeriesWhoseEventIsFencedIsTakenBackWhole(t *testing.T) {
	s, owner := loadOwned(t)
	title := uuid.NewString()
	body := s.ofSeries(title, []any{things(t, 1)[0]}, "rule", "FREQ=WEEKLY;COUNT=3", "clashes", "refuse")
	first := keyed(t, owner, "/api/events", body, title)
	var m madeSeries
	first.Decode(t, &m)
	begun(t, m, 1, 0)
	fence := bson.D{{Key: "_id", Value: m.Series.Events[2].ID}, {Key: "version", Value: int64(1)},
		{Key: "schema", Value: 3}, {Key: "deleted", Value: true}}
	errortest.None(t, errortest.Of(system(t).DB.Collection("events").InsertOne(t.Context(), fence)))
	forgetAnswers(t, system(t))
	keyed(t, owner, "/api/events", body, title).WantCode(t, 409)
	owner.Get(t, path("/api/series/%d", m.Series.ID)).WantCode(t, 404)
	valuetest.Same(t, titled(t, system(t), title), 0, "events")
	if a := keyed(t, owner, "/api/events", body, title); a.Code != 200 || titled(t, system(t), title) != 3 {
		t.Errorf("again: %d %s", a.Code, a.Body)
	}
}

// left are the places of the events that a series still has.
func left(t *testing.T, c *servicetest.Client, id int64) string {
	t.Helper()
	got := decoded[struct {
		Series struct{ Events []struct{ Place int } }
	}](t, c.Get(t, path("/api/series/%d", id)))
	var places []string
	for _, e := range got.Series.Events {
		places = append(places, fmt.Sprint(e.Place))
	}
	return strings.Join(places, " ")
}
