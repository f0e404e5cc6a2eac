package api_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// onlookers are users who don't see everything of a school, and an admin, who does.
type onlookers struct {
	pupil, guest, staff, admin *servicetest.Client

	own, other, public int64 // the pupil, another one, and a public property
	room               int64
	lesson, care, wide int64 // categories: of all, a confidential one, and a school-wide one
	wideToo            int64 // confidential and school-wide
}

func (s school) onlookers(t *testing.T) onlookers {
	t.Helper()
	admin, key := system.Admin(t), uuid.NewString()
	o := onlookers{admin: admin}
	pupils := admin.Import(t, "pupils", map[string]any{"key": key, "forename": "Ina", "surname": "Own"},
		map[string]any{"key": key + "2", "forename": "Joel", "surname": "Other"})
	o.own, o.other = pupils[key], pupils[key+"2"]
	o.public = admin.Import(t, "properties",
		map[string]any{"key": key, "name": "Public " + key, "make_public": true})[key]
	o.room = admin.Import(t, "locations", map[string]any{"key": key, "name": "Room " + key})[key]
	categories := admin.Import(t, "eventcategories",
		map[string]any{"key": key, "name": key, "busy": true},
		map[string]any{"key": key + "c", "name": key + "c", "confidential": true},
		map[string]any{"key": key + "w", "name": key + "w", "schoolwide": true},
		map[string]any{"key": key + "x", "name": key + "x", "schoolwide": true, "confidential": true})
	o.lesson, o.care = categories[key], categories[key+"c"]
	o.wide, o.wideToo = categories[key+"w"], categories[key+"x"]
	enter := func(name string, more ...any) *servicetest.Client {
		id := uuid.NewString()
		record := servicetest.With(map[string]any{"key": key + name, "name": name, "email": key + name + "@a.example",
			"uuid": id, "can_api": true, "can_add_events": true}, more...)
		admin.Import(t, "users", record)
		return system.Login(t, id)
	}
	o.pupil = enter("pupil", "kind", "pupil", "element", "Pupil:"+key)
	o.guest = enter("guest", "kind", "guest")
	o.staff = enter("staff")
	return o
}

// Which days a series leaves out told on which days there were events that its maker does not see: by a trial a pupil
// learned when the meetings about another were.
func TestDecisionsPart9_ASeriesLooksOnlyAtEventsThatItsMakerSees(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	day := func(body string, category int64, date string, elements ...any) {
		book(t, owner, map[string]any{"body": body, "event_category_id": category, "starts_at_text": date + " 11:00",
			"ends_at_text": date + " 12:00"}, elements...)
	}
	day("Seen", o.lesson, "2027-01-05", o.own, o.public)
	day("Seen by all", o.wide, "2027-01-06")
	type trial struct {
		who   *servicetest.Client
		name  string
		field string
		of    map[string]any
	}
	var trials []trial
	for name, who := range map[string]*servicetest.Client{"pupil": o.pupil, "guest": o.guest, "staff": o.staff} {
		for _, field := range []string{"during", "not_during"} {
			of := func(category int64, body any) {
				if name == "staff" && category == o.lesson {
					return // which it sees
				}
				trials = append(trials, trial{who, name, field,
					map[string]any{"event_category_id": category, "body": body}})
			}
			of(o.lesson, nil)
			of(o.lesson, "Meeting about Joel")
			of(o.care, nil)
			of(o.care, "Busy")
			of(o.care, "Meeting about Joel")
			of(o.wideToo, nil)
			of(o.wideToo, "Busy")
		}
	}
	try := func(tr trial) string {
		a := tr.who.Post(t, "/api/events", s.ofSeries("Trial", []any{}, "rule", "FREQ=DAILY;COUNT=7", "dry_run", true,
			tr.field, tr.of))
		return fmt.Sprint(a.Code, a.Body)
	}
	before := make([]string, len(trials))
	for i, tr := range trials {
		before[i] = try(tr)
	}
	for n, date := range []string{"2027-01-05", "2027-01-06", "2027-01-08"} {
		day("Meeting about Joel", o.lesson, date, o.other, o.room)
		day("Meeting about Joel", o.care, date, o.other, o.room)
		day("Meeting about Joel", o.wideToo, date, o.public)
		day(fmt.Sprint("Other ", n), o.lesson, date)
	}
	for i, tr := range trials {
		if got := try(tr); got != before[i] {
			t.Errorf("%s, %s %v:\nbefore %s\n after %s", tr.name, tr.field, tr.of, before[i], got)
		}
	}
	for _, of := range []int64{o.lesson, o.care} { // what was planted counts for who sees it
		made := o.admin.Post(t, "/api/events", s.ofSeries("Trial", []any{}, "rule", "FREQ=DAILY;COUNT=7", "dry_run", true,
			"not_during", map[string]any{"event_category_id": of, "body": "meeting about joel"})).Must(t, 200)
		if got := made.Len(t, "series.left_out"); got != 3 {
			t.Errorf("an admin's series leaves out %d days: %s", got, made.Body)
		}
	}
}

// A pupil that had made a series was told the ids of the events because of which days were left out, once it read the
// series; and a series told all staff the title of confidential events that it was not to be on the days of.
func TestDecisionsPart9_ASeriesTellsOfNoEventThatIsNotSeen(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	owner := s.as(t, "owner")
	book(t, owner, map[string]any{"body": "Taken", "event_category_id": o.lesson, "starts_at_text": "2027-01-06 09:00",
		"ends_at_text": "2027-01-06 10:00"}, o.room)
	made := makeSeries(t, o.pupil, s.ofSeries("Own", []any{o.room}, "rule", "FREQ=DAILY;COUNT=3", "clashes", "skip"))
	a := o.pupil.Get(t, path("/api/series/%d", made.Series.ID)).Must(t, 200)
	if a.Len(t, "series.left_out") != 1 || a.At(t, "series.left_out.0.event_id") != "null" {
		t.Errorf("its maker reads %s", a.Body)
	}
	made = makeSeries(t, o.admin, s.ofSeries("Club", []any{}, "rule", "FREQ=DAILY;COUNT=3",
		"not_during", map[string]any{"event_category_id": o.care, "body": "Meeting about Joel"},
		"during", nil))
	for name, c := range map[string]*servicetest.Client{"staff": o.staff, "admin": o.admin} {
		a := c.Get(t, path("/api/series/%d", made.Series.ID)).Must(t, 200)
		if got := a.Has("series.not_during.body"); got != (name == "admin") {
			t.Errorf("%s reads %s", name, a.Body)
		}
	}
}
