package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// row is a record of events.csv.
func row(key string, more ...any) map[string]any {
	r := map[string]any{"key": key, "body": "Maths", "category": "lesson", "starts_at": "2027-01-11 09:00",
		"ends_at": "2027-01-11 10:00"}
	return servicetest.With(r, more...)
}

func importEvents(t *testing.T, admin *servicetest.Client, rows ...map[string]any) servicetest.Answer {
	t.Helper()
	return admin.ImportBatch(t, "/api/admin/import/events", rows...)
}

func TestAdministration_ImportedEventsAreWholeAndImportingAgainChangesNothing(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	r := row("whole", "organiser", "1", "owner", "owner", "elements",
		[]string{"Staff:2", "Group:buses", "Property:1", "Group:buses"})
	ids := admin.Import(t, "events", r)
	got := get(t, s.as(t, "stranger"), ids["whole"]).Event
	if got.Owner == nil || got.Owner.ID != s.users["owner"] || got.Organiser == nil || got.Organiser.ID != s.teacher ||
		got.StartsAt != "2027-01-11T09:00:00.000+00:00" || got.EndsAt != "2027-01-11T10:00:00.000+00:00" {
		t.Errorf("imported: %+v", got)
	}
	if len(got.Commitments) != 2 || got.Commitments[1].Status != "requested" || len(got.Requests) != 1 ||
		got.Requests[0].Quantity != 2 {
		t.Errorf("its elements: %+v", got)
	}
	want := fmt.Sprintf(`{"status":"OK","created":0,"updated":0,"unchanged":1,"failed":0,"records":[{"index":0,"key":"whole","result":"unchanged","id":%d}]}`, ids["whole"])
	importEvents(t, admin, r).Want(t, 200, want)
	// Changes by hand stay until the row changes.
	s.as(t, "owner").Patch(t, path("/api/events/%d", ids["whole"]),
		map[string]any{"event": map[string]any{"body": "By hand"}})
	importEvents(t, admin, r).Want(t, 200, want)
	valuetest.Same(t, get(t, admin, ids["whole"]).Event.Body, "By hand", "body")
}

func TestAdministration_AChangedRowChangesItsEventAndKeepsTheCommitmentsThatStay(t *testing.T) {
	s := loadSchool(t)
	admin, keeper := system(t).Admin(t), s.as(t, "keeper")
	r := row("changed", "elements", []string{"Staff:2", "Property:1", "Group:buses", "Group:buses", "Location:1"})
	id := admin.Import(t, "events", r)["changed"]
	before := get(t, admin, id).Event
	decide(t, keeper, before.Commitments[1].ID, "confirmed")

	r["body"], r["elements"] = "Physics", []string{"Property:1", "Location:1", "Group:9A", "Group:buses"}
	importEvents(t, admin, r).Want(t, 200,
		fmt.Sprintf(`{"status":"OK","created":0,"updated":1,"unchanged":0,"failed":0,"records":[{"index":0,"key":"changed","result":"updated","id":%d}]}`, id))
	got := get(t, admin, id).Event
	if got.Body != "Physics" || len(got.Commitments) != 3 || got.Commitments[0].ID != before.Commitments[1].ID ||
		got.Commitments[0].Status != "confirmed" ||
		got.Commitments[1].ID != before.Commitments[2].ID || got.Commitments[2].Element.ID != s.set ||
		got.Requests[0].ID != before.Requests[0].ID || got.Requests[0].Quantity != 1 {
		t.Errorf("the event became %+v", got)
	}

	r["ends_at"] = "2027-01-11 11:00" // re-timed: the calendar has to be asked again
	importEvents(t, admin, r)
	if got := get(t, admin, id).Event; got.Commitments[0].Status != "requested" ||
		got.Commitments[0].ID != before.Commitments[1].ID {
		t.Errorf("after a new time: %+v", got.Commitments)
	}
}

// Who asked is told of entries that need no decision, that wait, and that were given back, and of requests. Where a row
// does not say it, who is known stays.
func TestAdministration_WhoAskedIsImported(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	told := func(element, status string, more ...any) map[string]any {
		return servicetest.With(map[string]any{"element": element, "status": status}, more...)
	}
	r := row("asked", "owner", "owner", "elements", []string{"Staff:2", "Property:1", "Group:buses"}, "decisions",
		[]any{told("Staff:2", "uncontrolled", "asked_by", "owner"),
			told("Property:1", "requested", "asked_by", "stranger", "reason", "Ask again", "decided_by", "keeper",
				"decided_at", "2025-03-04T05:06:07Z"),
			told("Group:buses", "requested", "asked_by", "stranger")})
	id := admin.Import(t, "events", r)["asked"]
	shows := func(want ...string) {
		t.Helper()
		a := s.as(t, "keeper").Get(t, path("/api/events/%d?include=decisions", id)).Must(t, 200)
		holds(t, a.Body, want...)
		for place, user := range map[string]string{"commitments.0": "owner", "commitments.1": "stranger",
			"requests.0": "stranger"} {
			valuetest.Same(t, a.Int(t, "event."+place+".decision.asked_by.id"), s.users[user],
				"%s was asked for by …: %s", place, a.Body)
		}
	}
	shows(`"reason":"Ask again"`, `"decided_at":"2025-03-04T05:06:07.000+00:00"`)
	r["decisions"] = []any{told("Property:1", "confirmed")}
	importEvents(t, admin, r)
	shows(`"status":"confirmed"`)

	got := importEvents(t, admin, row("unasked", "elements", []string{"Staff:2", "Property:1", "Group:buses"},
		"decisions", []any{told("Staff:2", "uncontrolled"), told("Property:1", "noted", "asked_by", "x"),
			told("Group:buses", "noted", "asked_by", "owner")}))
	holds(t, got.Body, "Staff:2 is not included in the list", "Property:1 asked_by must exist",
		"Group:buses must exist")
}

func TestAdministration_WhatWasDecidedStaysDecided(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	decided := func(status, reason, by string) []map[string]string {
		return []map[string]string{{"element": "Property:1", "status": status, "reason": reason, "decided_by": by}}
	}
	r := row("decided", "elements", []string{"Staff:2", "Property:1"}, "decisions",
		decided("rejected", "Full", "keeper"))
	id := admin.Import(t, "events", r)["decided"]
	want := func(status, reason string, by int64) int64 {
		t.Helper()
		var stored struct {
			Commitments []struct {
				ID             int64
				Status, Reason string
				DecidedBy      int64 `bson:"decided_by"`
			}
		}
		err := system(t).DB.Collection("events").FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&stored)
		errortest.None(t, err)
		c := stored.Commitments
		if len(c) != 2 || c[0].Status != "uncontrolled" || c[1].Status != status || c[1].Reason != reason ||
			c[1].DecidedBy != by {
			t.Fatalf("%+v, want %s for %q by %d", c, status, reason, by)
		}
		return c[1].ID
	}
	commitment := want("rejected", "Full", s.users["keeper"])
	importEvents(t, admin, r) // unchanged: what is decided since stays
	decide(t, s.as(t, "keeper"), commitment, "confirmed")
	importEvents(t, admin, r)
	want("confirmed", "", s.users["keeper"])
	r["ends_at"], r["decisions"] = "2027-01-11 11:00", decided("noted", "", "") // of the new time
	importEvents(t, admin, r)
	valuetest.Same(t, want("noted", "", 0), commitment, "another commitment")
	timed := decided("confirmed", "", "keeper")
	timed[0]["decided_at"] = "2025-03-04T05:06:07.000+01:00"
	r["decisions"] = timed
	importEvents(t, admin, r)
	want("confirmed", "", s.users["keeper"])
	moment := time.Date(2025, 3, 4, 4, 6, 7, 0, time.UTC)
	n, err := system(t).DB.Collection("events").CountDocuments(t.Context(), bson.D{{Key: "_id", Value: id},
		{Key: "commitments.decided_at", Value: moment}})
	errortest.None(t, err)
	valuetest.Same(t, n, 1, "decided at another time")
	r["decisions"] = decided("noted", "", "")
	importEvents(t, admin, r)
	delete(r, "decisions") // as of a release or a bundle that knows none
	r["body"] = "Physics"
	importEvents(t, admin, r)
	want("noted", "", 0)
	bad := row("undecided", "elements", []string{"Property:1", "Group:buses"}, "decisions", []map[string]string{
		{"element": "Property:1", "status": "perhaps"}, {"element": "Staff:2", "status": "noted"},
		{"element": "Group:buses", "status": "noted"}, {"element": "Property:1", "status": "noted", "decided_by": "x"},
		{"element": "Location:1", "status": "noted", "decided_at": "May"}})
	got := importEvents(t, admin, bad, row("list", "decisions", "none"))
	holds(t, got.Body, "Property:1 is not included in the list", "Staff:2 must exist", "Group:buses must exist",
		"Property:1 has already been taken", "Property:1 decided_by must exist",
		"Location:1 decided_at is not an instant", "is not an array of decisions")
}

func TestAdministration_ABadRecordFailsAlone(t *testing.T) {
	loadSchool(t)
	admin := system(t).Admin(t)
	a := importEvents(t, admin, row("good"),
		row("references", "category", "none", "organiser", "99", "owner", "none", "elements",
			[]string{"Staff:1", "Staff:99"}),
		row("twice", "elements", []string{"Staff:1", "Staff:1"}),
		row("times", "starts_at", "2027-02-30", "body", " "),
		row("noend", "ends_at", nil, "category", nil),
		row("set", "all_day", true))
	var got struct {
		Created, Failed int
		Records         []struct {
			Key, Result string
			Errors      map[string][]string
		}
	}
	a.Decode(t, &got)
	valuetest.MustHold(t, a.Code == 200 && got.Created == 1 && got.Failed == 5, a.Body)
	for i, want := range []map[string][]string{
		nil,
		{"category": {"must exist"}, "organiser": {"must be a staff element"}, "owner": {"must exist"},
			"elements": {"Staff:99 must exist"}},
		{"elements": {"Staff:1 has already been taken"}},
		{"starts_at": {"is not a date"}, "body": {"can't be blank"}},
		{"ends_at": {"can't be blank"}, "category": {"can't be blank"}},
		{"starts_at": {"is not a date"}, "ends_at": {"is not a date"}},
	} {
		valuetest.Same(t, fmt.Sprint(got.Records[i].Errors), fmt.Sprint(want), got.Records[i].Key)
	}
	importEvents(t, admin, row("x"), map[string]any{"body": "no key"}).Want(t, 400,
		`{"status":"Bad request","message":"line 2: key is missing"}`)
}

func TestAdministration_ADryRunSaysTheSameAndWritesNothing(t *testing.T) {
	loadSchool(t)
	admin := system(t).Admin(t)
	admin.Import(t, "events", row("dry-old"))
	rows := []map[string]any{row("dry-old"), row("dry-new", "elements", []string{"Staff:404"}),
		row("dry-bad", "body", "")}
	want := `"created":1,"updated":0,"unchanged":1,"failed":1`
	a := admin.ImportBatch(t, "/api/admin/import/events?dry_run=true", rows...)
	valuetest.Holds(t, strings.Contains(a.Body, want) && !strings.Contains(a.Body, "must exist"), a.Body)
	rows[0]["body"], rows[1]["elements"] = "Changed", []string{"Staff:1"}
	valuetest.Has(t, admin.ImportBatch(t, "/api/admin/import/events?dry_run=true", rows...).Body,
		`"created":1,"updated":1,"unchanged":0,"failed":1`)
	valuetest.Has(t, importEvents(t, admin, rows...).Body, `"created":1,"updated":1,"unchanged":0,"failed":1`,
		"the real run after it")
}

// Holidays are privileged, so that not everyone makes them, and yet every series may leave them out.
func TestClients_ASeriesFindsTheHolidaysThatItMayLeaveOut(t *testing.T) {
	s := loadSchool(t)
	made := s.as(t, "admin").Import(t, "eventcategories",
		map[string]any{"key": "avoid", "name": "Holiday", "privileged": true, "schoolwide": true},
		map[string]any{"key": "avoid not", "name": "Hearing", "privileged": true},
		map[string]any{"key": "avoid never", "name": "Care", "privileged": true, "schoolwide": true,
			"confidential": true})
	const list = "/api/eventcategories?for=not_during"
	for who, want := range map[string][3]bool{"owner": {true, false, false}, "privileged": {true, true, true}} {
		got := listed(t, s.as(t, who).Get(t, list))
		plain := listed(t, s.as(t, who).Get(t, "/api/eventcategories"))
		for i, key := range []string{"avoid", "avoid not", "avoid never"} {
			valuetest.Same(t, slices.Contains(got, made[key]), want[i], "%s: %q is listed", who, key)
			valuetest.Same(t, slices.Contains(plain, made[key]), who == "privileged",
				"%s: %q is in the plain list: %v", who, key, plain)
		}
		valuetest.Holds(t, slices.Contains(got, s.lesson), "%s lacks what it may use: %v", who, got)
	}
	s.as(t, "owner").Get(t, "/api/eventcategories?for=x").WantCode(t, http.StatusBadRequest)
}

// The reasons of one event had no bound together: a row's thousand made a notice that no document holds, so the event
// could not be deleted, and a detail of 24 MB.
func TestHardToBreak_Row01_TheReasonsOfOneEventHaveABound(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	const most = 42 // of 4,096 characters with six bytes each
	var rooms []map[string]any
	var elements []string
	var decisions []map[string]string
	for i := range most + 1 {
		key := fmt.Sprint("long", i)
		rooms = append(rooms, map[string]any{"key": key, "name": "Long room " + key})
		elements = append(elements, "Location:"+key)
		decisions = append(decisions, map[string]string{"element": "Location:" + key, "status": "confirmed",
			"reason": strings.Repeat("<", 4096), "decided_by": "keeper"})
	}
	last := admin.Import(t, "locations", rooms...)[fmt.Sprint("long", most)]
	administers(t, s.as(t, "keeper"), last)

	r := row("long", "elements", elements, "decisions", decisions)
	valuetest.Has(t, importEvents(t, admin, r).Body, "is too long: the reasons of one event", "too many are imported")
	decisions[most]["reason"], decisions[most]["status"] = "", "requested"
	id := admin.Import(t, "events", r)["long"]
	keeper := s.as(t, "keeper")
	at := path("/api/events/%d", id)
	entry := keeper.Get(t, at).Must(t, 200).Int(t, fmt.Sprintf("event.commitments.%d.id", most))
	decide := func(reason string) servicetest.Answer {
		return decide(t, keeper, entry, "rejected", "reason", reason)
	}
	if a := decide(strings.Repeat("<", 4096)); a.Code != 422 || !strings.Contains(a.Body, "the reasons of one event") {
		t.Errorf("one more: %d %.300s", a.Code, a.Body)
	}
	decide("Full").Must(t, 200)
	admin.Delete(t, at).Must(t, 200)
}

func TestAdministration_1000EventsInOneBatch(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	rows := make([]map[string]any, 1000)
	for i := range rows {
		rows[i] = row(fmt.Sprint("many-", i), "starts_at", fmt.Sprintf("2028-%02d-%02d 09:00", 1+i/28%12, 1+i%28),
			"ends_at", fmt.Sprintf("2028-%02d-%02d 10:00", 1+i/28%12, 1+i%28),
			"elements", []string{"Staff:1", "Location:1", "Group:9A", "Pupil:1"})
	}
	for _, what := range []string{"new", "unchanged", "changed"} {
		if what == "changed" {
			for _, r := range rows {
				r["body"] = "Changed"
			}
		}
		admin.Import(t, "events", rows...)
	}
	if got := day(t, admin, s.teacher, "2028-01-05"); len(got) != 3 { // 336 days, three times
		t.Errorf("%d events on a day, want 3", len(got))
	}
}
