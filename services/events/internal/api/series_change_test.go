package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// changedSeries is the answer to a change of several events of a series.
type changedSeries struct {
	Event struct {
		ID   int64
		Body string
	}
	Series struct {
		Changed []occurrence
		LeftOut []struct {
			Place     int
			ID        int64
			Reason    string
			Alone     []string `json:"changed_alone"`
			EventID   int64    `json:"event_id"`
			ElementID int64    `json:"element_id"`
		} `json:"left_out"`
	}
	Clashes []struct{ Place int }
}

// places are the places of what was changed, and of what was left out with the reasons.
func (c changedSeries) places() string {
	var all []string
	for _, e := range c.Series.Changed {
		all = append(all, fmt.Sprint(e.Place))
	}
	for _, l := range c.Series.LeftOut {
		all = append(all, fmt.Sprintf("%d:%s", l.Place, l.Reason))
	}
	return strings.Join(all, " ")
}

// of is the path of an event of a series.
func (m madeSeries) of(place int, query string) string {
	return path("/api/events/%d", m.Series.Events[place-1].ID) + query
}

// change is the body of a change, with more beside the event.
func change(fields map[string]any, more ...any) map[string]any {
	return servicetest.With(map[string]any{"event": fields}, more...)
}

func changed(t *testing.T, a servicetest.Answer) changedSeries {
	t.Helper()
	return decoded[changedSeries](t, a)
}

// stands shows the events of a series: place, start by the clock, title and what was changed alone.
func stands(t *testing.T, c *servicetest.Client, id int64) string {
	t.Helper()
	var got struct {
		Series struct {
			Events []struct {
				Place int
				Event struct {
					Body     string
					StartsAt string `json:"starts_at"`
					EndsAt   string `json:"ends_at"`
				}
				Alone []string `json:"changed_alone"`
			}
		}
	}
	c.Get(t, path("/api/series/%d", id)).Must(t, 200).Decode(t, &got)
	var all []string
	for _, e := range got.Series.Events {
		line := fmt.Sprintf("%d %s-%s %s", e.Place, e.Event.StartsAt[5:16], e.Event.EndsAt[11:16], e.Event.Body)
		if len(e.Alone) > 0 {
			line += " (" + strings.Join(e.Alone, ",") + ")"
		}
		all = append(all, line)
	}
	return strings.Join(all, "; ")
}

func wantStands(t *testing.T, c *servicetest.Client, id int64, want string) {
	t.Helper()
	valuetest.Same(t, stands(t, c, id), want, "the series")
}

func TestClients_SeriesOneTheFollowingOrAllEventsAreChanged(t *testing.T) {
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, s.ofSeries("Choir", []any{s.set}, "rule", "FREQ=WEEKLY;COUNT=4"))
	owner.Patch(t, m.of(3, "?scope=one"), change(times("2027-01-20 11:00", "2027-01-20 12:00"))).WantCode(t, 200)
	one := owner.Patch(t, m.of(1, ""), change(map[string]any{"body": "Choir"})) // as it is: not changed alone
	valuetest.Holds(t, one.Code == 200 && !strings.Contains(one.Body, `"series":`), "%d %s", one.Code, one.Body)
	wantStands(t, owner, m.Series.ID, "1 01-05T09:00-10:00 Choir; 2 01-12T09:00-10:00 Choir; "+
		"3 01-20T11:00-12:00 Choir (times); 4 01-26T09:00-10:00 Choir")

	got := changed(t, owner.Patch(t, m.of(2, "?scope=following"), change(map[string]any{
		"body": "Band", "starts_at_text": "2027-01-13 09:30", "ends_at_text": "2027-01-13 10:00"})))
	if got.places() != "2 4 3:changed" || got.Event.Body != "Band" || len(got.Series.LeftOut[0].Alone) != 1 {
		t.Errorf("%+v", got)
	}
	wantStands(t, owner, m.Series.ID, "1 01-05T09:00-10:00 Choir; 2 01-13T09:30-10:00 Band; "+
		"3 01-20T11:00-12:00 Choir (times); 4 01-27T09:30-10:00 Band")

	// An overwritten event takes the given fields, and keeps its other own values.
	got = changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(map[string]any{"body": "Orchestra"},
		"overwrite", true)))
	valuetest.Same(t, got.places(), "1 2 3 4", "%+v", got)
	wantStands(t, owner, m.Series.ID, "1 01-05T09:00-10:00 Orchestra; 2 01-13T09:30-10:00 Orchestra; "+
		"3 01-20T11:00-12:00 Orchestra (times); 4 01-27T09:30-10:00 Orchestra")
	got = changed(t, owner.Patch(t, m.of(4, "?scope=all"),
		change(times("2027-01-27 10:30", "2027-01-27 11:30"), "overwrite", true)))
	wantStands(t, owner, m.Series.ID, "1 01-05T10:00-11:00 Orchestra; 2 01-13T10:30-11:30 Orchestra; "+
		"3 01-20T10:30-11:30 Orchestra; 4 01-27T10:30-11:30 Orchestra")

	// An event without a series is changed alone.
	alone := book(t, owner, s.fields())
	a := owner.Patch(t, path("/api/events/%d?scope=all", alone.Event.ID), change(map[string]any{"body": "Art"}))
	valuetest.Holds(t, a.Code == 200 && !strings.Contains(a.Body, `"series":`), "%d %s", a.Code, a.Body)
}

func TestClients_SeriesAreMovedByTheClockOverBothOfItsChanges(t *testing.T) {
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, map[string]any{
		"event":  s.fields("body", "Watch", "starts_at_text", "2027-03-27 01:30", "ends_at_text", "2027-03-27 02:10"),
		"repeat": map[string]any{"rule": "FREQ=MONTHLY;BYMONTHDAY=27,28,30,31;COUNT=36"},
	})
	at := func(day string) string {
		a := owner.Get(t, path("/api/series/%d", m.Series.ID))
		_, rest, _ := strings.Cut(a.Body, `"starts_at":"`+day)
		start, end, _ := strings.Cut(rest[:min(len(rest), 70)], `","ends_at":"`)
		return start + " " + end[:min(len(end), 29)]
	}
	valuetest.MustSame(t, at("2027-03-28"), "T02:30:00.000+01:00 2027-03-28T03:10:00.000+01:00")
	owner.Patch(t, m.of(1, "?scope=all"), change(times("2027-03-27 02:45", "2027-03-27 03:25"))).WantCode(t, 200)
	for day, want := range map[string]string{
		"2027-03-28": "T02:45:00.000+01:00 2027-03-28T03:25:00.000+01:00", // not an hour later, as the gap had moved it
		"2027-10-30": "T02:45:00.000+01:00 2027-10-30T03:25:00.000+01:00",
		"2027-10-31": "T02:45:00.000+00:00 2027-10-31T03:25:00.000+00:00",
	} {
		valuetest.Same(t, at(day), want, day)
	}
	owner.Patch(t, m.of(3, "?scope=all"), change(map[string]any{"all_day": true})).WantCode(t, 200)
	for day, want := range map[string]string{
		"2027-03-28": "T00:00:00.000+00:00 2027-03-29T00:00:00.000+01:00",
		"2027-10-31": "T00:00:00.000+01:00 2027-11-01T00:00:00.000+00:00",
	} {
		valuetest.Same(t, at(day), want, day)
	}
}

// A trial reported clashes with events of the series as they stood, which the call moves away.
func TestClients_SeriesATrialOfAMoveReportsTheClashesOfTheCall(t *testing.T) {
	s := loadSchool(t)
	owner, room := s.as(t, "owner"), things(t, 1)[0]
	m := makeSeries(t, owner, s.ofSeries("Choir", []any{room}, "rule", "FREQ=WEEKLY;COUNT=2"))
	book(t, owner, s.fields("starts_at_text", "2027-01-19 09:00", "ends_at_text", "2027-01-19 10:00"), room)
	move := change(times("2027-01-12 09:00", "2027-01-12 10:00"), "clashes", "report")
	trial := changed(t, owner.Patch(t, m.of(1, "?scope=all&dry_run=true"), move))
	got := changed(t, owner.Patch(t, m.of(1, "?scope=all"), move))
	if len(got.Clashes) != 1 || got.Clashes[0].Place != 2 || fmt.Sprint(got.Clashes) != fmt.Sprint(trial.Clashes) {
		t.Errorf("%+v, tried %+v", got.Clashes, trial.Clashes)
	}
}

func TestClients_SeriesChangesSkipRefuseOrReportClashes(t *testing.T) {
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	room, hall := rooms[0], rooms[1]
	m := makeSeries(t, owner, s.ofSeries("Choir", []any{room}, "rule", "FREQ=DAILY;COUNT=4"))
	taken := book(t, owner, s.fields("starts_at_text", "2027-01-07 12:30", "ends_at_text", "2027-01-07 14:00"), room)
	noon := times("2027-01-05 12:00", "2027-01-05 13:00")
	before := stands(t, owner, m.Series.ID)
	a := owner.Patch(t, m.of(1, "?scope=all"), change(noon, "clashes", "refuse"))
	if a.Code != 409 ||
		a.At(t, "message") != `"already booked: `+s.name(t, room)+` at 2027-01-07T12:00:00.000+00:00"` ||
		a.Int(t, "clashes.0.place") != 3 || a.Int(t, "clashes.0.event.id") != taken.Event.ID {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := owner.Patch(t, m.of(3, "?scope=all"), change(times("2027-01-07 12:00", "2027-01-07 13:00"),
		"clashes", "skip")); a.Code != 409 { // the event named clashes itself
		t.Errorf("%d %s", a.Code, a.Body)
	}
	wantStands(t, owner, m.Series.ID, before)
	got := changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(noon, "clashes", "report")))
	valuetest.Holds(t, got.places() == "1 2 3 4" && len(got.Clashes) == 1 && got.Clashes[0].Place == 3, "%+v", got)
	changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(times("2027-01-05 09:00", "2027-01-05 10:00"))))
	got = changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(noon, "clashes", "skip")))
	if got.places() != "1 2 4 3:clash" || got.Series.LeftOut[0].EventID != taken.Event.ID ||
		got.Series.LeftOut[0].ElementID != room {
		t.Errorf("%+v", got)
	}

	// Moved by a day each goes where the next was, but for the one before one that stays.
	d := makeSeries(t, owner, s.ofSeries("Band", []any{hall}, "rule", "FREQ=DAILY;COUNT=4"))
	book(t, owner, s.fields("starts_at_text", "2027-01-09 09:30", "ends_at_text", "2027-01-09 11:00"), hall)
	a = owner.Patch(t, d.of(1, "?scope=all"), change(times("2027-01-06 09:00", "2027-01-06 10:00"), "clashes", "skip"))
	if a.Code != 409 { // each stays because the next one does, the event named too
		t.Errorf("%d %s", a.Code, a.Body)
	}
	owner.Delete(t, d.of(2, "")).WantCode(t, 200)
	got = changed(t, owner.Patch(t, d.of(1, "?scope=all"), change(times("2027-01-06 09:00", "2027-01-06 10:00"),
		"clashes", "skip")))
	valuetest.Same(t, got.places(), "1 3:clash 4:clash", "%+v", got)
}

func TestDecisionsPart5_AnItemIsHeldOnceAfterAChangeOfASeries(t *testing.T) {
	s, owner := loadOwned(t)
	group, items := stock(t)
	m := makeSeries(t, owner, s.ofSeries("Choir", []any{group}, "rule", "FREQ=DAILY;COUNT=2"))
	for place := range 2 {
		e := owner.Get(t, m.of(place+1, "")).Must(t, 200)
		allocate(t, s.as(t, "driver"), e.Int(t, "event.requests.0.id"), items[0])
	}
	longer := times("2027-01-05 09:00", "2027-01-06 10:00")
	a := owner.Patch(t, m.of(1, "?scope=all"), change(longer, "clashes", "refuse"))
	valuetest.Holds(t, a.Code == 409 && a.Int(t, "clashes.0.element.id") == items[0], "%d %s", a.Code, a.Body)
}

// Of many that move series to one room and time with clashes refused, none appears twice, however slow they are.
func TestClients_SeriesOfManyThatMoveToOnePlaceOneGetsIt(t *testing.T) {
	s, owner := loadOwned(t)
	room := things(t, 1)[0]
	var all []madeSeries
	for i := range 4 {
		body := s.ofSeries("Choir", []any{room}, "rule", "FREQ=DAILY;COUNT=20")
		body["event"] = servicetest.With(body["event"].(map[string]any), "starts_at_text",
			fmt.Sprintf("2027-01-05 %02d:00", 10+i), "ends_at_text", fmt.Sprintf("2027-01-05 %02d:50", 10+i))
		all = append(all, makeSeries(t, owner, body))
	}
	to := change(times("2027-01-05 20:00", "2027-01-05 20:50"), "clashes", "refuse")
	answers := atOnce(len(all), s.through(t, "owner"), func(i int, c *servicetest.Client) servicetest.Answer {
		return c.Patch(t, all[i].of(1, "?scope=all"), to)
	})
	told := 0 // how many have moved
	for _, a := range answers {
		var got changedSeries
		a.Decode(t, &got)
		valuetest.Holds(t, a.Code == 200 || a.Code == 409, "%d %s", a.Code, a.Body)
		told += len(got.Series.Changed)
	}
	there := map[string]int{} // by day
	list := owner.Get(t, path("/api/elements/%d/commitments?start_date=2027-01-05&end_date=2027-01-31", room))
	for _, start := range list.Texts(t, "commitments.#.event.starts_at") {
		if strings.Contains(start, "T20:00") {
			there[start]++
			valuetest.Same(t, there[start], 1, "events at "+start)
		}
	}
	valuetest.Holds(t, told > 0 && told == len(there), "%d were told to have moved; there are %v", told, there)
}

func TestClients_SeriesMovedReturnDecisionsToRequested(t *testing.T) {
	f, s := loadFleet(t), loadSchool(t)
	owner, keeper := s.as(t, "owner"), s.as(t, "keeper")
	m := makeSeries(t, owner, s.ofSeries("Fair", []any{s.calendar, f.group}, "rule", "FREQ=WEEKLY;COUNT=2"))
	t.Cleanup(func() { owner.Delete(t, m.of(1, "?scope=all")) })
	confirm := func(status string) {
		t.Helper()
		for i := range 2 {
			e := get(t, owner, m.Series.Events[i].ID).Event
			decide(t, keeper, e.Commitments[0].ID, status).WantCode(t, 200)
		}
	}
	statuses := func() string {
		first, second := get(t, owner, m.Series.Events[0].ID), get(t, owner, m.Series.Events[1].ID)
		return first.Event.Commitments[0].Status + " " + second.Event.Commitments[0].Status
	}
	r := get(t, owner, m.Series.Events[1].ID).Event.Requests[0]
	allocate(t, s.as(t, "driver"), r.ID, f.many[7])
	confirm("confirmed")
	changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(map[string]any{"body": "Fête"})))
	valuetest.Same(t, statuses(), "confirmed confirmed", "after another title")
	changed(t, owner.Patch(t, m.of(1, "?scope=all"), change(map[string]any{"starts_at_text": "2027-01-05 09:30"})))
	valuetest.Same(t, statuses(), "requested requested", "after another time")
	if e := get(t, owner, m.Series.Events[1].ID).Event; e.Requests[0].NumAllocated != 1 { // allocations stay
		t.Errorf("%+v", e.Requests)
	}
	confirm("confirmed")
	longer := change(map[string]any{"ends_at_text": "2027-01-05 10:30"})
	changed(t, s.as(t, "admin").Patch(t, m.of(1, "?scope=all"), longer))
	if got := statuses(); got != "requested requested" { // an admin does not administer it
		t.Errorf("moved by an admin: %s", got)
	}
}

func TestClients_SeriesChangesThatAreNotRightWriteNothing(t *testing.T) {
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, s.ofSeries("Choir", nil, "rule", "FREQ=WEEKLY;COUNT=3"))
	alone := path("/api/events/%d", book(t, owner, s.fields()).Event.ID)
	before := stands(t, owner, m.Series.ID)
	title := map[string]any{"body": "Band"}
	for name, c := range map[string]struct {
		as, path string
		body     any
		code     int
		want     string
	}{
		"another's":        {"stranger", m.of(1, "?scope=all"), change(title), 403, ""},
		"overwrite of one": {"owner", m.of(1, ""), change(title, "overwrite", true), 400, "overwrite needs scope"},
		"elements":         {"owner", m.of(1, "?scope=all"), change(title, "elements", []any{}), 422, `"elements":["can't be changed"]`},
		"an owner":         {"owner", m.of(1, "?scope=all"), change(map[string]any{"owner_id": 7}), 422, `"owner_id":["can't be changed"]`},
		"a repeat":         {"owner", m.of(1, "?scope=all"), change(title, "repeat", map[string]any{}), 422, `"repeat":["can't`},
		"no title":         {"owner", m.of(1, "?scope=all"), change(map[string]any{"body": " "}), 422, `"body":["can't be blank"]`},
		"no such category": {"owner", m.of(1, "?scope=all"), change(map[string]any{"event_category_id": 999999}), 422, `must exist`},
		"a privileged one": {"owner", m.of(1, "?scope=all"),
			change(map[string]any{"event_category_id": s.privileged}), 403, ""},
		"year 9999": {"owner", m.of(1, "?scope=all"),
			change(map[string]any{"starts_at_text": "9999-12-31"}), 422, "1970 to 2199"},
		"past the last year":       {"owner", m.of(1, "?scope=all"), change(times("2199-12-20 09:00", "2199-12-20 10:00")), 422, `"starts_at":["moves event 3 of the series out of the years 1970 to 2199"]`},
		"before the first":         {"owner", m.of(3, "?scope=all"), change(times("1970-01-10 09:00", "1970-01-10 10:00")), 422, `"starts_at":["moves event 1 of the series out of the years 1970 to 2199"]`},
		"a trial of one":           {"owner", m.of(1, "?dry_run=true"), change(title), 200, `"dry_run":true`},
		"a trial without a series": {"owner", alone + "?scope=all&dry_run=true", change(title), 200, `"body":"Band"`},
		"no event":                 {"owner", "/api/events/99999999?scope=all", change(title), 404, "RecordNotFound"},
	} {
		a := s.as(t, c.as).Patch(t, c.path, c.body)
		valuetest.Holds(t, a.Code == c.code && strings.Contains(a.Body, c.want), "%s: %d %s", name, a.Code, a.Body)
	}
	for _, scope := range []string{"", "?scope=one", "?scope=all"} { // the first two took a key that can be none
		owner.Do(t, "PATCH", m.of(1, scope), change(title), "Idempotency-Key", "\xc3\xa9").WantCode(t, 400)
	}
	tag := owner.Get(t, m.of(1, "")).Header.Get("ETag")
	owner.Post(t, m.of(1, "/add"), map[string]any{"elements": []any{s.set}}).WantCode(t, 200)
	owner.Do(t, "PATCH", m.of(1, "?scope=all"), change(title), "If-Match", tag).WantCode(t, 412)
	wantStands(t, owner, m.Series.ID, before)
	tag = owner.Get(t, m.of(1, "")).Header.Get("ETag")
	owner.Do(t, "PATCH", m.of(1, "?scope=all"), change(title), "If-Match", tag).WantCode(t, 200)
}

// A key is of one scope: of one event alone the header is ignored.
func TestClients_SeriesAKeyIsOfOneScope(t *testing.T) {
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, s.ofSeries("Choir", nil, "rule", "FREQ=WEEKLY;COUNT=3"))
	for _, c := range []struct {
		query string
		code  int
	}{{"?scope=all", 200}, {"?scope=following", 409}, {"", 200}} {
		for i := range 2 { // the second time only the series knows it
			if i == 1 {
				forgetAnswers(t, system(t))
			}
			owner.Do(t, "PATCH", m.of(1, c.query), change(map[string]any{"body": "Band"}), "Idempotency-Key", "k").
				WantCode(t, c.code)
		}
	}
}

// interrupted takes a series back to the state that a process leaves when it is killed after that many events have
// taken a change: its record says that the change is under way.
func interrupted(t *testing.T, id int64, ago time.Duration, committed bool, fields bson.D, events ...bson.D) {
	t.Helper()
	at := time.Now().UTC().Add(-ago)
	changing := append(bson.D{
		{Key: "number", Value: int64(1)}, {Key: "since", Value: at}, {Key: "actor", Value: bson.D{}},
		{Key: "committed", Value: committed}, {Key: "events", Value: events},
	}, fields...)
	set := bson.D{{Key: "$set", Value: bson.D{
		{Key: "changes", Value: int64(1)}, {Key: "changing", Value: changing}, {Key: "unmade", Value: at},
	}}}
	errortest.None(t, errortest.Of(system(t).DB.Collection("series").UpdateByID(t.Context(), id, set)))
}

// awaitSettled waits until nothing of these series is under way, or of any when none is given.
func awaitSettled(t *testing.T, ids ...int64) {
	t.Helper()
	pending := bson.D{{Key: "unmade", Value: bson.D{{Key: "$exists", Value: true}}}}
	if len(ids) > 0 {
		pending = append(pending, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}})
	}
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		n, err := system(t).DB.Collection("series").CountDocuments(t.Context(), pending)
		valuetest.MustHold(t, err == nil && !time.Now().After(end), "%d are not done: %v", n, err)
		if n == 0 {
			return
		}
	}
}

// A change whose process died is done by the sweep, each event once; one whose event named is another by then is not.
// While it is under way nothing else is done to several of the events, and one alone is changed for good.
func TestClients_SeriesChangesThatAKilledProcessBeganAreDoneByTheSweep(t *testing.T) {
	t.Parallel() // it waits for the sweep
	s, owner := loadOwned(t)
	begin := func(m madeSeries, ago time.Duration, version int64, committed bool) {
		var events []bson.D
		for i, e := range m.Series.Events {
			events = append(events, bson.D{{Key: "id", Value: e.ID}, {Key: "place", Value: i + 1},
				{Key: "version", Value: version}, {Key: "starts", Value: time.Now()}, {Key: "ends", Value: time.Now()}})
		}
		interrupted(t, m.Series.ID, ago, committed,
			bson.D{
				{Key: "event_id", Value: m.Series.Events[0].ID}, {Key: "texts", Value: bson.A{"body", "New"}},
			}, events...)
	}
	weekly := func() madeSeries {
		return makeSeries(t, owner, s.ofSeries("Old", nil, "rule", "FREQ=WEEKLY;COUNT=3"))
	}
	m, outdated, half := weekly(), weekly(), weekly()
	begin(m, 0, 1, false)
	title := change(map[string]any{"body": "Other"})
	conflict := `{"status":"Conflict","message":"the series is being changed"}`
	owner.Patch(t, m.of(2, "?scope=all"), title).Want(t, 409, conflict)
	owner.Delete(t, m.of(2, "?scope=all")).Want(t, 409, conflict)
	owner.Patch(t, m.of(2, ""), change(map[string]any{"body": "Alone"})).WantCode(t, 200)
	owner.Delete(t, m.of(3, "")).WantCode(t, 200)
	begin(m, time.Hour, 1, false)
	begin(outdated, time.Hour, 7, false)
	begin(half, time.Hour, 1, true)
	awaitSettled(t, m.Series.ID, outdated.Series.ID, half.Series.ID)
	wantStands(t, owner, m.Series.ID, "1 01-05T09:00-10:00 New; 2 01-12T09:00-10:00 Alone (body)")
	wantStands(t, owner, outdated.Series.ID,
		"1 01-05T09:00-10:00 Old; 2 01-12T09:00-10:00 Old; 3 01-19T09:00-10:00 Old")
	if got := strings.Count(stands(t, owner, half.Series.ID), "New"); got != 2 { // the first was written before
		t.Errorf("%d took a change that had been decided", got)
	}
	owner.Patch(t, m.of(1, "?scope=all"), title).WantCode(t, 200)
}

// killedSeries are a series that is made, one that is changed and one that is deleted while their process is killed,
// and which of these were acknowledged.
type killedSeries struct {
	title                                  string // of the one that is made
	changes, goes                          madeSeries
	wasMade, wasChanged, wasDeleted, again bool // again: its clients repeat their requests
}

// A process is killed while it makes a series of 300, changes one of 200 and deletes another. A client that repeats its
// request gets all of it; what no client repeats is done to all events at the end, or to none.
func TestClients_SeriesWhoseProcessIsKilledAreMadeChangedAndDeletedWholeOrNotAtAll(t *testing.T) {
	s, owner := loadOwned(t)
	old := func() madeSeries {
		return makeSeries(t, owner, s.ofSeries("Old", []any{s.set}, "rule", "FREQ=DAILY;COUNT=200"))
	}
	create := func(k *killedSeries) servicetest.Answer {
		body := s.ofSeries(k.title, []any{s.set, s.room}, "rule", "FREQ=DAILY;COUNT=300", "clashes", "report")
		return keyed(t, owner, "/api/events", body, k.title)
	}
	to := change(map[string]any{
		"body": "New", "starts_at_text": "2027-01-05 14:00", "ends_at_text": "2027-01-05 15:00",
	})
	alter := func(k *killedSeries) servicetest.Answer {
		return owner.Do(t, "PATCH", k.changes.of(1, "?scope=all"), to, "Idempotency-Key", "killed")
	}
	var all []*killedSeries
	for i := range 4 {
		all = append(all, &killedSeries{title: uuid.NewString(), changes: old(), goes: old(), again: i%2 == 0})
	}
	for i, k := range all {
		var calls sync.WaitGroup
		calls.Go(func() { k.wasMade = create(k).Code == http.StatusOK })
		calls.Go(func() { k.wasChanged = alter(k).Code == http.StatusOK })
		calls.Go(func() { k.wasDeleted = owner.Delete(t, k.goes.of(1, "?scope=all")).Code == http.StatusOK })
		time.Sleep([]time.Duration{20, 50, 120, 250}[i] * time.Millisecond)
		system(t).Kill(t, "events")
		calls.Wait()
		system(t).Restart(t, "events")
	}
	for _, k := range all { // after all kills, so that their waits overlap
		for end := time.Now().Add(2 * time.Minute); k.again && time.Now().Before(end); time.Sleep(time.Second / 5) {
			made, changes := create(k), alter(k)
			if k.wasMade = made.Code == http.StatusOK; k.wasMade && changes.Code == http.StatusOK {
				valuetest.Same(t, len(changed(t, changes).Series.Changed), 200, changes.Body)
				k.wasChanged = true
				break
			}
		}
		valuetest.Holds(t, !k.again || k.wasMade && k.wasChanged, "repeated in vain: %+v", k)
	}
	awaitSettled(t)
	for _, k := range all {
		made := titled(t, system(t), k.title)
		changes := strings.Count(stands(t, owner, k.changes.Series.ID), "T14:00-15:00 New")
		gone := 200 - len(strings.Fields(left(t, owner, k.goes.Series.ID)))
		t.Logf("%d were made, %d changed and %d deleted", made, changes, gone)
		valuetest.Holds(t, made == 300 || made == 0 && !k.wasMade, "%d are made; acknowledged: %t", made, k.wasMade)
		valuetest.Holds(t, changes == 200 || changes == 0 && !k.wasChanged, "%d of 200 are changed; acknowledged: %t",
			changes, k.wasChanged)
		valuetest.Holds(t, gone == 200 || gone == 0 && !k.wasDeleted, "%d of 200 are deleted; acknowledged: %t", gone,
			k.wasDeleted)
	}
}

// Clients change, move and delete the events of one series at once. At the end each event is as one order of what was
// acknowledged leaves it.
func TestClients_SeriesChangedByManyAtOnceOneComesAfterTheOther(t *testing.T) {
	s, owner := loadOwned(t)
	m := makeSeries(t, owner, s.ofSeries("Old", nil, "rule", "FREQ=DAILY;COUNT=20"))
	var mu sync.Mutex
	var titles, codes []string
	answers := atOnce(8, s.through(t, "owner"), func(i int, c *servicetest.Client) servicetest.Answer {
		title := fmt.Sprint("New ", i)
		a := c.Patch(t, m.of(1+i, "?scope=all"), change(map[string]any{"body": title}))
		mu.Lock()
		defer mu.Unlock()
		if codes = append(codes, fmt.Sprint(a.Code)); a.Code == http.StatusOK {
			titles = append(titles, title)
		}
		return a
	})
	for _, a := range answers {
		if a.Code != http.StatusOK && a.Code != http.StatusConflict {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	now := stands(t, owner, m.Series.ID)
	if !slices.ContainsFunc(titles, func(title string) bool { return strings.Count(now, title) == 20 }) {
		t.Errorf("%v: %s", codes, now)
	}

	// A deletion beside a change: all of them are gone, or all are there and changed.
	both := atOnce(2, s.through(t, "owner"), func(i int, c *servicetest.Client) servicetest.Answer {
		if i == 0 {
			return c.Patch(t, m.of(5, "?scope=all"), change(map[string]any{"body": "Last"}))
		}
		return c.Delete(t, m.of(5, "?scope=all"))
	})
	awaitSettled(t, m.Series.ID)
	now = stands(t, owner, m.Series.ID)
	if gone := both[1].Code == http.StatusOK; (gone && now != "") ||
		(!gone && (both[1].Code != http.StatusConflict || strings.Count(now, "Last") != 20)) {
		t.Errorf("%d and %d: %s", both[0].Code, both[1].Code, now)
	}
}

// half leaves a move of a series of four by a day as a process does that is killed: while it holds the events whose
// places others take, or before.
func half(t *testing.T, m madeSeries, ago time.Duration, held bool) {
	t.Helper()
	version := int64(1)
	var events []bson.D
	for i, e := range m.Series.Events {
		starts := time.Date(2027, 1, 6+i, 9, 0, 0, 0, time.UTC)
		events = append(events, bson.D{{Key: "id", Value: e.ID}, {Key: "place", Value: i + 1},
			{Key: "version", Value: version}, {Key: "held", Value: i > 0}, {Key: "starts", Value: starts},
			{Key: "ends", Value: starts.Add(time.Hour)}})
		if held && i > 0 {
			hold := bson.D{{Key: "series_held", Value: int64(1)}, {Key: "version", Value: int64(2)}}
			errortest.None(t,
				errortest.Of(system(t).DB.Collection("events").UpdateByID(t.Context(), e.ID,
					bson.D{{Key: "$set", Value: hold}})))
		}
	}
	interrupted(t, m.Series.ID, ago, false,
		bson.D{{Key: "event_id", Value: m.Series.Events[0].ID}, {Key: "times", Value: true}}, events...)
}

// A process that moves a series by a day is killed: what another changed before it held it makes the whole move void,
// and no other change touches what it holds, or takes its place, until another process has moved it.
func TestClients_SeriesWhoseMoveIsKilledBookNoTimeTwice(t *testing.T) {
	t.Parallel() // it waits for the sweep
	s, owner := loadOwned(t)
	rooms := things(t, 2)
	daily := func(elements ...any) madeSeries {
		return makeSeries(t, owner, s.ofSeries("Old", elements, "rule", "FREQ=DAILY;COUNT=4"))
	}
	renamed := daily(rooms[0])
	owner.Patch(t, renamed.of(3, ""), change(map[string]any{"body": "Alone"})).WantCode(t, 200)
	half(t, renamed, time.Hour, false)

	m, hall := daily(rooms[1], s.calendar), rooms[1]
	half(t, m, -time.Hour, true)
	conflict := `{"status":"Conflict","message":"the series is being changed"}`
	owner.Patch(t, m.of(3, ""), change(map[string]any{"body": "Alone"})).Want(t, 409, conflict)
	owner.Post(t, m.of(3, "/add"), map[string]any{"elements": []any{s.set}}).Want(t, 409, conflict)
	entry := get(t, owner, m.Series.Events[2].ID).Event.Commitments[1].ID
	decide(t, s.as(t, "keeper"), entry, "confirmed").Want(t, 409, conflict)
	reserve(t, hall, m.Series.Events[3].ID, "2027-01-09T09:00:00Z", "2027-01-09T10:00:00Z")
	owner.Post(t, "/api/events", map[string]any{"event": s.at("2027-01-09", "09:30", "09:45"),
		"elements": []any{hall}, "clashes": "refuse"}).Want(t, 409, conflict)
	owner.Delete(t, m.of(2, "")).WantCode(t, 200) // it leaves its place all the same
	half(t, m, time.Hour, false)
	awaitSettled(t, renamed.Series.ID, m.Series.ID)
	wantStands(t, owner, renamed.Series.ID, "1 01-05T09:00-10:00 Old; 2 01-06T09:00-10:00 Old; "+
		"3 01-07T09:00-10:00 Alone (body); 4 01-08T09:00-10:00 Old")
	wantStands(t, owner, m.Series.ID, "1 01-06T09:00-10:00 Old; 3 01-08T09:00-10:00 Old; 4 01-09T09:00-10:00 Old")
	owner.Patch(t, m.of(3, ""), change(map[string]any{"body": "Alone"})).WantCode(t, 200)
	owner.Patch(t, renamed.of(4, ""), change(map[string]any{"body": "Alone"})).WantCode(t, 200)
}
