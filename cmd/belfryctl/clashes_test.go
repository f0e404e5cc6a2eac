package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The command with the real services: it finds clashes, prints them, writes notes, and then finds nothing new.
func TestClashes_OfAWeek(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	categories := admin.Import(t, "eventcategories",
		object{"key": "lesson", "name": "Lesson", "busy": true, "clash_check": true},
		object{"key": "trip", "name": "Trip", "busy": true})
	pupil := admin.Import(t, "pupils", object{"key": "1", "forename": "Ann", "surname": "Day"})["1"]
	var ids []int64
	for _, e := range []struct{ body, category, starts, ends string }{
		{"Maths", "lesson", "2027-03-01 09:00", "2027-03-01 10:00"},
		{"French", "lesson", "2027-03-01 10:00", "2027-03-01 11:00"},
		{"Hockey", "trip", "2027-03-01 09:30", "2027-03-01 10:00"},
	} {
		made := admin.Post(t, "/api/events", object{"elements": []any{pupil}, "event": object{
			"body": e.body, "event_category_id": categories[e.category], "starts_at": e.starts, "ends_at": e.ends}})
		ids = append(ids, made.Must(t, 200).Int(t, "event.id"))
	}
	table := func(note, line string) string {
		return fmt.Sprintf(
			"event_id  when                           body   elsewhere  note\n"+
				"%-8d  2027-03-01T09:00:00.000+00:00  Maths  1 of 1     %s\n\n"+
				"2027-03-01 to 2027-03-02: 2 events checked; %s\n",
			ids[0], note, line)
	}
	days := []string{"clashes", "--from", "2027-03-01", "--to", "2027-03-02"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(days, "--dry-run"), table("created", "notes would be: 1 created, 0 updated, 0 unchanged, 0 removed")},
		{days, table("created", "notes: 1 created, 0 updated, 0 unchanged, 0 removed")},
		{days, table("unchanged", "notes: 0 created, 0 updated, 1 unchanged, 0 removed")},
	} {
		valuetest.Same(t, o.does(t, c.args...), c.want, "%q printed", c.args)
	}
	var found struct {
		Clashes []struct {
			Event             struct{ ID int64 }
			Pupils, Elsewhere int
		}
		Unchanged int
	}
	o.reads(t, &found, days...)
	if len(found.Clashes) != 1 || found.Clashes[0].Event.ID != ids[0] || found.Clashes[0].Elsewhere != 1 ||
		found.Unchanged != 1 {
		t.Errorf("%+v", found)
	}
	valuetest.Has(t, o.does(t, "clashes", "--from", "2027-04-01", "-o=json"), `"clashes": []`)
	o.fails(t, exitUsage, `--from: "tomorrow" is not a day`, "clashes", "--from", "tomorrow")
	o.fails(t, exitFailure, "end_date is before start_date", "clashes", "--from", "2027-03-02", "--to", "2027-03-01")
}

// A check of several calls continues where the last call ended, and adds up the results of all.
func TestClashes_GoesOnUntilNothingIsNext(t *testing.T) {
	school := clienttest.NewSchool(t)
	var asked []string
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/admin/clashes" {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.RawQuery+" "+string(body))
		next := []string{`"2026-09-09"`, `"2026-09-10"`, "null"}[len(asked)-1]
		start := []string{"2026-09-07", "2026-09-09", "2026-09-10"}[len(asked)-1]
		fmt.Fprintf(w,
			`{"status":"OK","start_date":%q,"end_date":"2026-09-10","clashes":[{"event":{"id":%d},"pupils":24,`+
				`"elsewhere":%d,"note":"created"}],`+
				`"checked":10,"created":1,"updated":2,"unchanged":3,"removed":4,"next":%s}`, start, len(asked),
			len(asked), next)
		return true
	}
	out := simulated(school).does(t, "clashes", "--dry-run")
	want := `event_id  when  body  elsewhere  note
1         -     -     1 of 24    created
2         -     -     2 of 24    created
3         -     -     3 of 24    created

2026-09-07 to 2026-09-10: 30 events checked; notes would be: 3 created, 6 updated, 9 unchanged, 12 removed
`
	valuetest.Same(t, out, want)
	calls := []string{`dry_run=true {}`, `dry_run=true {"end_date":"2026-09-10","start_date":"2026-09-09"}`,
		`dry_run=true {"end_date":"2026-09-10","start_date":"2026-09-10"}`}
	valuetest.List(t, asked, calls, "asked")
}
