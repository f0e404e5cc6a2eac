package api_test

import (
	"fmt"
	"html"
	"regexp"
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

// set is a teaching set with its pupils and the categories of its events, made for one test.
type set struct {
	admin    *servicetest.Client
	id       int64
	pupils   []int64
	lesson   int64 // a category with clash_check that is busy
	away     int64 // busy, not checked
	interest int64 // neither
}

// newSet makes a set of pupils of these names.
func newSet(t *testing.T, admin *servicetest.Client, names ...string) set {
	t.Helper()
	key := uuid.NewString()
	s := set{admin: admin, id: admin.Import(t, "groups", map[string]any{"key": key, "name": "Set " + key})[key]}
	var pupils, members []map[string]any
	for i, name := range names {
		pupil := fmt.Sprint(key, i)
		pupils = append(pupils, map[string]any{"key": pupil, "forename": name, "surname": "Day"})
		members = append(members, membership(key, "Pupil:"+pupil))
	}
	ids := admin.Import(t, "pupils", pupils...)
	for _, p := range pupils {
		s.pupils = append(s.pupils, ids[p["key"].(string)])
	}
	admin.Import(t, "memberships", members...)
	categories := admin.Import(t, "eventcategories",
		map[string]any{"key": key + "l", "name": "Lesson " + key, "busy": true, "clash_check": true},
		map[string]any{"key": key + "a", "name": "Away " + key, "busy": true},
		map[string]any{"key": key + "i", "name": "Of interest " + key})
	s.lesson, s.away, s.interest = categories[key+"l"], categories[key+"a"], categories[key+"i"]
	return s
}

// sharedSet makes a set in the system of all tests, after the school: other tests want its categories to be the first.
func sharedSet(t *testing.T, names ...string) set {
	t.Helper()
	loadSchool(t)
	return newSet(t, system(t).Admin(t), names...)
}

// book makes an event at the hours on a day.
func (s set) book(t *testing.T, body string, category int64, day, starts, ends string, elements ...any) int64 {
	t.Helper()
	return book(t, s.admin, map[string]any{"body": body, "event_category_id": category, "starts_at": day + " " + starts,
		"ends_at": day + " " + ends}, elements...).Event.ID
}

// checked is what a check answers.
type checked struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
	Clashes   []struct {
		Event             struct{ ID int64 }
		Pupils, Elsewhere int
		Note              string
	}
	Created, Removed int
	Next             *string
}

// of is what the check found of an event: "3 of 24, created"; "" when nothing.
func (c checked) of(event int64) string {
	for _, found := range c.Clashes {
		if found.Event.ID == event {
			return fmt.Sprintf("%d of %d, %s", found.Elsewhere, found.Pupils, found.Note)
		}
	}
	return ""
}

// check checks days to their end, however many calls it takes.
func check(t *testing.T, c *servicetest.Client, first, last string, dryRun bool) checked {
	t.Helper()
	var all checked
	for next := &first; next != nil; {
		got := decoded[checked](t, c.Post(t, fmt.Sprint("/api/admin/clashes?dry_run=", dryRun),
			map[string]any{"start_date": *next, "end_date": last}))
		all.Clashes = append(all.Clashes, got.Clashes...)
		all.Created, all.Removed = all.Created+got.Created, all.Removed+got.Removed
		next = got.Next
	}
	return all
}

// noted is a note as its event's list shows it.
type noted struct {
	ID           int64
	Contents     string
	HTML         string `json:"formatted_contents"`
	VisibleGuest bool   `json:"visible_guest"`
	VisibleStaff bool   `json:"visible_staff"`
	VisiblePupil bool   `json:"visible_pupil"`
	Owner        *struct{ ID int64 }
}

func notesOf(t *testing.T, c *servicetest.Client, event int64) []noted {
	t.Helper()
	return decoded[struct{ Notes []noted }](t, c.Get(t, path("/api/events/%d/notes", event))).Notes
}

// says are the contents of an event's only note, "" without one.
func says(t *testing.T, c *servicetest.Client, event int64) string {
	t.Helper()
	switch notes := notesOf(t, c, event); len(notes) {
	case 0:
		return ""
	case 1:
		return notes[0].Contents
	default:
		t.Fatalf("event %d has %+v", event, notes)
		return ""
	}
}

func TestAbsences_ANoteAppearsFollowsAndGoes(t *testing.T) {
	const day = "2027-03-01"
	s := sharedSet(t, "Ann", "Bob", "Cyd")
	field := things(t, 1)[0]
	lesson := s.book(t, "Maths", s.lesson, day, "09:00", "10:00", s.id)
	if got := check(t, s.admin, day, day, false); got.of(lesson) != "" || says(t, s.admin, lesson) != "" {
		t.Fatalf("%+v", got)
	}
	match := s.book(t, "Hockey", s.away, day, "09:30", "12:00", s.pupils[1], s.pupils[0], field)
	a := s.admin.Get(t, path("/api/events/%d", match))
	room := regexp.MustCompile(`Room [0-9a-f-]+`).FindString(a.Body)

	if got := check(t, s.admin, day, day, true); got.of(lesson) != "2 of 3, created" || says(t, s.admin, lesson) != "" {
		t.Errorf("a dry run: %+v", got)
	}
	if got := check(t, s.admin, day, day, false); got.of(lesson) != "2 of 3, created" || got.of(match) != "" ||
		got.Created < 1 {
		t.Errorf("%+v", got)
	}
	want := "2 of 3 pupils are elsewhere:\n\n- Mon 1 Mar 2027, 09\\:30 to 12\\:00, Hockey (" + room +
		"): Ann Day, Bob Day\n"
	notes := notesOf(t, s.admin, lesson)
	if len(notes) != 1 || notes[0].Contents != want || notes[0].Owner != nil || !notes[0].VisibleStaff ||
		notes[0].VisiblePupil || notes[0].VisibleGuest {
		t.Fatalf("%+v\nwant %q", notes, want)
	}
	valuetest.Has(t, s.admin.Get(t, path("/api/events/%d/notes", lesson)).Body, `"owner":null,"valid":true`,
		"owner is not null")
	if text := "<ul>\n<li>Mon 1 Mar 2027, 09:30 to 12:00, Hockey (" + room +
		"): Ann Day, Bob Day</li>\n</ul>\n"; !strings.HasSuffix(notes[0].HTML, text) {
		t.Errorf("%q", notes[0].HTML)
	}
	one := path("/api/notes/%d", notes[0].ID)
	tag := s.admin.Get(t, one).Header.Get("ETag")
	if got := check(t, s.admin, day, day, false); got.of(lesson) != "2 of 3, unchanged" ||
		s.admin.Get(t, one).Header.Get("ETag") != tag {
		t.Errorf("again: %+v", got)
	}

	s.admin.Patch(t, path("/api/events/%d", match),
		map[string]any{"event": map[string]any{"starts_at": day + " 08:00"}}).Must(t, 200)
	if got := check(t, s.admin, day, day, false); got.of(lesson) != "2 of 3, updated" ||
		says(t, s.admin, lesson) != strings.Replace(want, "09\\:30", "08\\:00", 1) {
		t.Errorf("re-timed: %+v %q", got, says(t, s.admin, lesson))
	}
	s.admin.Delete(t, path("/api/events/%d", match)).Must(t, 200)
	if got := check(t, s.admin, day, day, false); got.of(lesson) != "" || got.Removed < 1 ||
		says(t, s.admin, lesson) != "" {
		t.Errorf("resolved: %+v", got)
	}
}

// Package absence tests who is elsewhere by hours and memberships.
func TestAbsences_WhoCountsAsElsewhere(t *testing.T) {
	const day = "2027-03-03"
	s, people := sharedSet(t, "Ann", "Bob", "Cyd", "Dot"), loadSchool(t)
	if a := s.admin.Delete(t, path("/api/admin/elements/%d", s.pupils[3])); a.Code != 200 { // left the school
		t.Fatal(a)
	}
	trip := func(category int64, starts, ends string, element int64) func() int64 {
		return func() int64 { return s.book(t, "Trip", category, day, starts, ends, element) }
	}
	allDay := func() int64 {
		return book(t, s.admin, map[string]any{"body": "Trip", "event_category_id": s.away, "all_day_field": true,
			"starts_at_text": day}, s.pupils[2]).Event.ID
	}
	another := group(t, s.pupils[0], day, day)
	for name, book := range map[string]func() int64{
		"1 of 3 through another group":                      trip(s.away, "09:30", "11:00", another),
		"0 of 3 at an event of a category that is not busy": trip(s.interest, "09:00", "10:00", s.pupils[0]),
		"0 of 3 at an event without length":                 trip(s.away, "09:30", "09:30", s.pupils[0]),
		"0 of 3 when it is who has left the school":         trip(s.away, "09:00", "10:00", s.pupils[3]),
		"0 of 3 when it is the teacher":                     trip(s.away, "09:00", "10:00", people.teacher),
		"3 of 3 at another event of the set":                trip(s.away, "09:00", "10:00", s.id),
		"1 of 3 at an event of all day":                     allDay,
	} {
		t.Run(name, func(t *testing.T) {
			lesson := s.book(t, "Maths", s.lesson, day, "09:00", "10:00", s.id)
			other := book()
			want := strings.SplitAfter(name, "of 3")[0] + ", created"
			if strings.HasPrefix(want, "0") {
				want = ""
			}
			if got := check(t, s.admin, day, day, false).of(lesson); got != want {
				t.Errorf("%q, want %q: %s", got, want, says(t, s.admin, lesson))
			}
			for _, id := range []int64{lesson, other} {
				s.admin.Delete(t, path("/api/events/%d", id))
			}
		})
	}
}

// A note follows its event to days outside the check, and is removed when there is no reason for it any more.
func TestAbsences_ANoteWhoseEventIsNoLongerThere(t *testing.T) {
	const day, later = "2027-03-04", "2027-06-10"
	s := sharedSet(t, "Ann", "Bob")
	var lessons []int64
	for range 4 {
		lessons = append(lessons, s.book(t, "Maths", s.lesson, day, "09:00", "10:00", s.pupils[0]))
	}
	s.book(t, "Trip", s.away, day, "09:00", "10:00", s.pupils[0])
	s.book(t, "Trip", s.away, later, "09:00", "10:00", s.pupils[0])
	check(t, s.admin, day, day, false)
	for _, lesson := range lessons {
		valuetest.MustHold(t, says(t, s.admin, lesson) != "", "event %d has no note", lesson)
	}
	change := func(lesson int64, fields map[string]any) {
		t.Helper()
		s.admin.Patch(t, path("/api/events/%d", lesson), map[string]any{"event": fields}).Must(t, 200)
	}
	// to where another clash is
	change(lessons[0], map[string]any{"starts_at": later + " 09:00", "ends_at": later + " 10:00"})
	// to where none is
	change(lessons[1], map[string]any{"starts_at": "2027-06-11 09:00", "ends_at": "2027-06-11 10:00"})
	// no longer checked
	change(lessons[2], map[string]any{"event_category_id": s.away})
	s.admin.Delete(t, path("/api/events/%d", lessons[3])).Must(t, 200)
	check(t, s.admin, day, day, false)
	if got := says(t, s.admin, lessons[0]); !strings.Contains(got, "Thu 10 Jun 2027") || strings.Contains(got, "Mar") {
		t.Errorf("moved to another clash: %q", got)
	}
	for _, lesson := range lessons[1:3] {
		valuetest.Same(t, says(t, s.admin, lesson), "", "event %d", lesson)
	}
	left, err := system(t).DB.Collection("notes").CountDocuments(t.Context(),
		bson.D{{Key: "event_id", Value: lessons[3]}, {Key: "system.topic", Value: "absences"}})
	valuetest.Holds(t, err == nil && left == 0, "the deleted event has %d notes, %v", left, err)
}

func TestAbsences_ChecksAtOnceThroughAllReplicasMakeOneNote(t *testing.T) {
	const day = "2027-03-05"
	s := sharedSet(t, "Ann")
	lesson := s.book(t, "Maths", s.lesson, day, "09:00", "10:00", s.id)
	s.book(t, "Trip", s.away, day, "09:00", "10:00", s.pupils[0])
	var together sync.WaitGroup
	for i := range 4 {
		together.Go(func() { check(t, s.admin.At(system(t).Replica("events", i%2)), day, day, false) })
	}
	together.Wait()
	valuetest.Len(t, notesOf(t, s.admin, lesson), 1)
}

// Names and titles show as they are, whatever Markdown or HTML could be made of them.
func TestAbsences_HostileNamesAreText(t *testing.T) {
	const day = "2027-03-08"
	names := []string{
		"<script>alert(1)</script>", "*Ann* _Bob_ `Cyd`", "[x](javascript:alert(1))", "![y](http://evil.example/a.png)",
		"www.evil.example", "http://evil.example/",
		"eve@evil.example", "<http://evil.example>", "&lt;b&gt; &copy;", "\\*a\\* \\", "# a", "- b", "1. c", "> d",
		"~~e~~ |f|", "\u202eevil", "a, b: 'c' \"d\" (e)",
	}
	s := sharedSet(t, names...)
	lesson := s.book(t, "Maths", s.lesson, day, "09:00", "10:00", s.id)
	s.book(t, names[0]+names[2]+" - x", s.away, day, "09:00", "10:00", s.id)
	check(t, s.admin, day, day, false)
	notes := notesOf(t, s.admin, lesson)
	valuetest.MustSame(t, len(notes), 1, "%+v", notes)
	tags := regexp.MustCompile(`<[^>]*>`).FindAllString(notes[0].HTML, -1)
	if got := strings.Join(tags, ""); got != "<p></p><ul><li></li></ul>" {
		t.Errorf("tags %s in %s", got, notes[0].HTML)
	}
	shown := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(notes[0].HTML, ""))
	for _, name := range names {
		want := strings.Join(strings.Fields(strings.ReplaceAll(name, "\u202e", " ")), " ") + " Day"
		valuetest.Has(t, shown, want)
	}
	valuetest.Has(t, shown, names[0]+names[2]+" - x: ", "the title does not show")
}

func TestAbsences_AskingForACheck(t *testing.T) {
	s := loadSchool(t)
	admin := system(t).Admin(t)
	s.as(t, "editor").Post(t, "/api/admin/clashes", map[string]any{}).Want(t, 403, `{"status":"Forbidden","message":"needs admin"}`)
	for _, body := range []any{
		map[string]any{"start_date": "2027-02-30"},
		map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-01"}, map[string]any{"start_date": 5},
		map[string]any{"start_date": "2027-01-01", "end_date": "2028-01-02"}, map[string]any{"dry_run": true},
		"[]", "",
	} {
		admin.Do(t, "POST", "/api/admin/clashes", body).WantCode(t, 400)
	}
	london, err := time.LoadLocation("Europe/London")
	errortest.None(t, err)
	today := time.Now().In(london)
	var got checked
	a := admin.Post(t, "/api/admin/clashes?dry_run=true", map[string]any{})
	if a.Decode(t, &got); a.Code != 200 || got.StartDate != today.Format(time.DateOnly) ||
		got.EndDate != today.AddDate(0, 0, 13).Format(time.DateOnly) {
		t.Errorf("without dates: %d %s", a.Code, a.Body)
	}
	admin.Post(t, "/api/admin/clashes", map[string]any{"start_date": "2190-01-01"}).Want(t, 200,
		`{"status":"OK","start_date":"2190-01-01","end_date":"2190-01-01","clashes":[],`+
			`"checked":0,"created":0,"updated":0,"unchanged":0,"removed":0,"next":null}`)
}

// What a note says of another event follows that event at once, on a lesson that is past too: no check comes between.
func TestDecisionsPart9_ANoteOnAPastLessonFollowsTheEventThatBecomesConfidential(t *testing.T) {
	s := sharedSet(t, "Ann", "Bob")
	const day = "2024-03-06" // a Wednesday long ago, which no night checks
	lesson := s.book(t, "Lesson", s.lesson, day, "09:00", "10:00", s.id)
	other := s.book(t, "About Ann", s.away, day, "09:00", "09:30", s.pupils[0])
	check(t, s.admin, day, day, false)
	id := notesOf(t, s.admin, lesson)[0].ID
	shows := func(when, want, not string) {
		t.Helper()
		notes := notesOf(t, s.admin, lesson)
		single := s.admin.Get(t, path("/api/notes/%d", id)).Must(t, 200).Body
		exported := s.admin.Get(t, path("/api/admin/export/notes?limit=1&from_id=%d", id)).Must(t, 200).Body
		for how, text := range map[string]string{
			"listed": notes[0].Contents, "formatted": notes[0].HTML, "read": single, "exported": exported,
		} {
			if !strings.Contains(text, want) || strings.Contains(text, not) {
				t.Errorf("%s, %s: %s", when, how, text)
			}
		}
	}
	category := func(id int64, confidential bool) {
		t.Helper()
		s.admin.Patch(t, path("/api/admin/eventcategories/%d", id),
			map[string]any{"eventcategory": map[string]any{"confidential": confidential}}).Must(t, 200)
	}
	change := func(fields map[string]any) {
		t.Helper()
		s.admin.Patch(t, path("/api/events/%d", other), map[string]any{"event": fields}).Must(t, 200)
	}
	shows("at first", "About Ann", "Busy")
	category(s.away, true)
	shows("its category became confidential", "Busy", "About Ann")
	category(s.away, false)
	shows("it is so no longer", "About Ann", "Busy")
	category(s.interest, true)
	change(map[string]any{"event_category_id": s.interest})
	shows("it has moved into a confidential category", "Busy", "About Ann")
	change(map[string]any{"event_category_id": s.away, "body": "Another title"})
	shows("it has another title", "Another title", "About Ann")
	s.admin.Delete(t, path("/api/events/%d", other)).Must(t, 200)
	shows("it is deleted", "a deleted event", "title")
}
