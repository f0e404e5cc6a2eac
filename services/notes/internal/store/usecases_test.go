package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
	"github.com/belfry-schools/belfry/services/notes/internal/note"
	"github.com/belfry-schools/belfry/services/notes/internal/store"
)

// school stands for events or identity in the tests of the rules; the tests of the API have the real ones. It
// counts the questions.
type school struct {
	records   map[string]int64 // key → id
	questions atomic.Int64
	away      error
	asked     func() // runs when a question comes
	sight     func(fact.SummariesQuestion)
}

func (s *school) Summaries(_ context.Context, q fact.SummariesQuestion) ([]fact.Event, error) {
	if s.sight != nil {
		s.sight(q)
	}
	return ask(s, q.IDs, q.Keys, func(id int64, key string) fact.Event {
		return fact.Event{Event: form.Event{ID: &id, Body: key, Valid: true}, Key: key}
	})
}

func (s *school) Living(_ context.Context, q fact.LivingQuestion) ([]int64, error) {
	return ask(s, q.IDs, nil, func(id int64, _ string) int64 { return id })
}

func (s *school) Users(_ context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	return ask(s, q.IDs, q.Keys, func(id int64, key string) fact.User {
		return fact.User{User: form.User{ID: id, Name: key, Valid: true}, Key: key}
	})
}

func ask[Fact any](s *school, ids []int64, keys []string, fact func(int64, string) Fact) ([]Fact, error) {
	if len(ids)+len(keys) == 0 {
		return nil, nil
	}
	s.questions.Add(1)
	if s.asked != nil {
		s.asked()
	}
	var facts []Fact
	for key, id := range s.records {
		if slices.Contains(ids, id) || slices.Contains(keys, key) {
			facts = append(facts, fact(id, key))
		}
	}
	return facts, s.away
}

// service is the use cases with their store.
type service struct {
	*note.Service
	Store *store.Notes
}

// newService is the use cases on the real store. It has two events, e1 and e2 with the ids 101 and 102, and two
// users, u1 and u2 with 1 and 2.
func newService(t *testing.T) (s *service, events, users *school) {
	t.Helper()
	notes, _ := open(t)
	events = &school{records: map[string]int64{"e1": 101, "e2": 102}}
	users = &school{records: map[string]int64{"u1": 1, "u2": 2}}
	s = &service{note.New(note.Options{
		Store: notes, Events: events, Users: users, Markdown: markdown.NewRenderer(),
		Sights: principal.Sights{Pupils: principal.SeesOwn, Guests: principal.SeesPublic},
	}), notes}
	return s, events, users
}

var author = fact.Viewer{UserID: 1, Kind: principal.Staff}

func create(t *testing.T, s *service, eventID int64, contents string) int64 {
	t.Helper()
	n, err := s.Create(t.Context(), fact.NewNote{EventID: eventID, AuthorID: author.UserID, Contents: &contents})
	valuetest.MustHold(t, err == nil && n.ID != 0, "create: %+v, %v", n, err)
	return n.ID
}

func TestDecisionsPart6_ANoteWithoutItsEventIsMissing(t *testing.T) {
	s, events, _ := newService(t)
	id := create(t, s, 101, "a")
	delete(events.records, "e1") // and no message has come
	missing := fmt.Sprintf("Couldn't find Note with 'id'=%d", id)
	for _, viewer := range []fact.Viewer{author, {UserID: 2, Admin: true}} {
		_, read := s.Get(t.Context(), viewer, id)
		_, update := s.Change(t.Context(), viewer, id, note.Edit{}, record.Match{})
		for call, err := range map[string]error{"read": read, "update": update,
			"delete": s.Delete(t.Context(), viewer, id, record.Match{})} {
			if p := problem.As(err); p == nil || p.Detail() != missing {
				t.Errorf("%s by %+v: %v", call, viewer, err)
			}
		}
	}
}

func TestDecisionsPart1_AnAbsentNeighbourIsNeverHalfAnAnswer(t *testing.T) {
	s, events, users := newService(t)
	id := create(t, s, 101, "a")
	text := "b"
	for name, neighbour := range map[string]*school{"events": events, "identity": users} {
		neighbour.away = problem.New(problem.Unavailable, "%s is away", name)
		if _, err := s.Get(t.Context(), author, id); !problem.Is(err, problem.Unavailable) {
			t.Errorf("read without %s: %v", name, err)
		}
		if _, err := s.Change(t.Context(), author, id, note.Edit{Contents: &text}, record.Match{}); !problem.Is(err,
			problem.Unavailable) {
			t.Errorf("update without %s: %v", name, err)
		}
		neighbour.away = nil
	}
	n, err := s.Get(t.Context(), author, id)
	valuetest.Holds(t, err == nil && n.Contents == "a", "an update that was refused is stored: %+v, %v", n, err)
}

// TestDecisionsPart6_Row16_StoredHTMLIsThatOfThisRendererAndSetting: readers of an old note ask no host that was taken
// from the setting.
func TestDecisionsPart6_Row16_StoredHTMLIsThatOfThisRendererAndSetting(t *testing.T) {
	s, _, _ := newService(t)
	for want, stored := range map[string]note.Note{
		`<p><a href="https://img.example/b">a</a></p>` + "\n": {Contents: "![a](https://img.example/b)",
			HTML: `<img src="https://img.example/b">`, Markup: markdown.NewRenderer("img.example").Version()},
		"<p><em>a</em></p>\n": {Contents: "*a*", HTML: "<script>", Markup: markdown.Version - 1},
	} {
		stored.EventID, stored.OwnerID = 101, 1
		shown, err := s.Get(t.Context(), author, insert(t, s.Store, stored).ID)
		valuetest.Holds(t, err == nil && shown.HTML == want, "%+v, %v", shown, err)
	}
}

// TestDecisionsPart4_ANoteAddedWhileItsEventIsDeletedGoesToo: the note is stored after the message of the deletion
// was handled.
func TestDecisionsPart4_ANoteAddedWhileItsEventIsDeletedGoesToo(t *testing.T) {
	s, events, _ := newService(t)
	create(t, s, 101, "before")
	other := create(t, s, 102, "of another event")
	delete(events.records, "e1")
	for range 2 { // the message may come twice
		errortest.None(t, s.DeleteOfEvent(t.Context(), 101))
	}
	wantNotes(t, s, 101, 0)
	create(t, s, 101, "after")
	look(t, s.Orphans(), 0, 1, 0)
	wantNotes(t, s, 101, 0)
	errortest.Report(t, errortest.Of(s.Store.Get(t.Context(), other)))
}

// TestHardToBreak_Row08_AMessageAloneDeletesNoNotes has messages that are forged, stale, or came when events is away.
func TestHardToBreak_Row08_AMessageAloneDeletesNoNotes(t *testing.T) {
	s, events, _ := newService(t)
	create(t, s, 101, "of a living event")
	errortest.Report(t, s.DeleteOfEvent(t.Context(), 101))
	wantNotes(t, s, 101, 1)
	delete(events.records, "e1")
	events.away = errors.New("away")
	errortest.Is(t, s.DeleteOfEvent(t.Context(), 101), events.away, "while events is away")
	wantNotes(t, s, 101, 1)
	events.away = nil
	errortest.Report(t, s.DeleteOfEvent(t.Context(), 101))
	wantNotes(t, s, 101, 0)
}

// TestHardToBreak_Row08_OneWrongAnswerDeletesNoNotes: an event is missing once, as in the answer of a database that
// is about to lose its lead, and is there again.
func TestHardToBreak_Row08_OneWrongAnswerDeletesNoNotes(t *testing.T) {
	s, events, _ := newService(t)
	create(t, s, 101, "a")
	create(t, s, 102, "b")
	events.records["e3"] = 103
	create(t, s, 103, "c")
	orphans := s.Orphans()
	for range 3 {
		delete(events.records, "e1")
		look(t, orphans, 0)
		events.records["e1"] = 101
		look(t, orphans, 0)
	}
	delete(events.records, "e1")
	delete(events.records, "e2")
	look(t, orphans, 0)
	events.away = errors.New("away")
	if n, err := orphans.Sweep(t.Context()); n != 0 || !errors.Is(err, events.away) {
		t.Errorf("while events is away: deleted of %d, %v", n, err)
	}
	wantNotes(t, s, 101, 1)
	events.away = nil
	look(t, orphans, 2, 0)
	wantNotes(t, s, 101, 0)
	wantNotes(t, s, 102, 0)
	wantNotes(t, s, 103, 1)
}

// look fails the test unless each look deletes the notes of that many events.
func look(t *testing.T, orphans *note.Orphans, want ...int) {
	t.Helper()
	for i, want := range want {
		if n, err := orphans.Sweep(t.Context()); n != want || err != nil {
			t.Errorf("look %d: deleted those of %d events, %v; want %d", i, n, err, want)
		}
	}
}

// wantNotes fails the test unless an event has that many notes.
func wantNotes(t *testing.T, s *service, event int64, want int) {
	t.Helper()
	if notes, err := s.Store.List(t.Context(), event); err != nil || len(notes) != want {
		t.Errorf("event %d has %d notes, %v; want %d", event, len(notes), err, want)
	}
}

// batch makes rows of JSON lines; the line is its own hash.
func batch(t *testing.T, lines ...string) []note.Row {
	t.Helper()
	rows := make([]note.Row, len(lines))
	for i, line := range lines {
		var o struct {
			Key, Event, Owner string
			Contents          *string
			VisibleGuest      *bool `json:"visible_guest"`
			VisibleStaff      *bool `json:"visible_staff"`
			VisiblePupil      *bool `json:"visible_pupil"`
		}
		errortest.None(t, json.Unmarshal([]byte(line), &o))
		rows[i] = note.Row{Row: record.Row{Key: o.Key, Hash: line}, Event: o.Event, Owner: o.Owner, Edit: note.Edit{
			Contents: o.Contents, VisibleGuest: o.VisibleGuest, VisibleStaff: o.VisibleStaff,
			VisiblePupil: o.VisiblePupil,
			Faults:       problem.Fields{},
		}}
	}
	return rows
}

func importBatch(t *testing.T, s *service, rows []note.Row, dryRun bool) []record.Outcome {
	t.Helper()
	outcomes, err := s.Import(t.Context(), rows, dryRun)
	errortest.None(t, err)
	return outcomes
}

func TestImport_CreatesUpdatesAndLeavesAlone(t *testing.T) {
	s, events, users := newService(t)
	a, b, c := `{"key":"a","event":"e1","contents":"*A*","owner":"u1","visible_pupil":true}`,
		`{"key":"b","event":"e1","contents":"B","visible_staff":false}`, `{"key":"c","event":"e2","contents":""}`
	first := importBatch(t, s, batch(t, a, b, c), false)
	for _, o := range first {
		if want := (record.Outcome{Result: record.Created, ID: o.ID}); !cmp.Equal(want, o) || o.ID == 0 {
			t.Errorf("%+v", o)
		}
	}
	if events.questions.Load() != 1 || users.questions.Load() != 1 {
		t.Errorf("a batch asked events %d times and identity %d times", events.questions.Load(), users.questions.Load())
	}
	want := note.Note{
		ID: first[0].ID, Version: 1, EventID: 101, OwnerID: 1, Contents: "*A*",
		Visibility: note.Visibility{Staff: true, Pupil: true},
		HTML:       "<p><em>A</em></p>\n", Markup: markdown.Version, Key: "a", ImportHash: a,
	}
	if got, err := s.Store.Get(t.Context(), first[0].ID); err != nil || !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got), err)
	}

	events.questions.Store(0)
	users.questions.Store(0)
	for i, r := range importBatch(t, s, batch(t, a, b, c), false) {
		valuetest.Holds(t, r.Result == record.Unchanged && r.ID == first[i].ID, "again: %+v", r)
	}
	valuetest.Holds(t, events.questions.Load()+users.questions.Load() <= 0, "an unchanged batch asks the neighbours")

	changed := `{"key":"a","event":"e2","contents":"A2","owner":"u2"}`
	for i, r := range importBatch(t, s, batch(t, b, changed), false) {
		valuetest.Same(t, r.Result, []record.Result{record.Unchanged, record.Updated}[i], "changed: %+v", r)
	}
	want = note.Note{
		ID: first[0].ID, Version: 2, EventID: 102, OwnerID: 2, Contents: "A2", Visibility: note.Visibility{Staff: true},
		HTML: "<p>A2</p>\n", Markup: markdown.Version, Key: "a", ImportHash: changed,
	}
	if got, err := s.Store.Get(t.Context(), first[0].ID); err != nil || !cmp.Equal(want, got) {
		t.Error(cmp.Diff(want, got), err)
	}
}

// TestImport_ANoteThatMovesIsFollowedUnderItsNewEvent: it was told under the event with the greater id.
func TestImport_ANoteThatMovesIsFollowedUnderItsNewEvent(t *testing.T) {
	of := func(event int64) note.Note { return note.Note{ID: 1, EventID: event} }
	for name, c := range map[string]struct {
		before, after note.Note
		want          int64
	}{
		"down": {of(9), of(3), 3}, "up": {of(3), of(9), 9},
		"created": {note.Note{}, of(3), 3}, "deleted": {of(9), note.Note{}, 9},
	} {
		valuetest.Same(t, store.Follow(c.before, c.after).EventID, c.want, name)
	}
}

func TestImport_ANoteOfAFullEventChangesWithinItsRoom(t *testing.T) {
	s, _, _ := newService(t)
	rows := func(letter string) (lines []string) {
		for i := range 4 { // a mebibyte
			lines = append(lines, fmt.Sprintf(`{"key":"n%d","event":"e1","contents":"%s%s"}`, i, letter,
				strings.Repeat("🚌", 65535)))
		}
		return lines
	}
	for _, outcome := range importBatch(t, s, batch(t, rows("a")...), false) {
		valuetest.Same(t, outcome.Result, record.Created, "at first")
	}
	for _, outcome := range importBatch(t, s, batch(t, rows("b")...), false) {
		valuetest.Same(t, outcome.Result, record.Updated, "%v", outcome.Faults)
	}
}

func TestImport_ABadRecordFailsAlone(t *testing.T) {
	s, _, _ := newService(t)
	rows := batch(t,
		`{"key":"a","event":"e9","contents":"A","owner":"u9"}`,
		`{"key":"b"}`,
		`{"key":"c"}`,
		fmt.Sprintf(`{"key":"d","event":"e1","contents":%q}`, strings.Repeat("a", note.MaxContents+1)),
		`{"key":"e","event":"e1","contents":"E"}`,
	)
	rows[1].Edit.Faults = problem.Fields{"contents": {"is not a string"}}
	rows[2].Edit.Faults = problem.Fields{
		"event": {"is not a string"}, "owner": {"is not a string"}, "visible_guest": {"is not true or false"},
	}
	for i, r := range importBatch(t, s, rows, false) {
		want := []problem.Fields{
			{"event": {"must exist"}, "owner": {"must exist"}},
			{"event": {"can't be blank"}, "contents": {"is not a string"}},
			{"event": {"is not a string"}, "owner": {"is not a string"}, "visible_guest": {"is not true or false"}},
			{"contents": {"is too long (maximum is 65536 characters)"}},
			nil,
		}[i]
		if diff := cmp.Diff(want, r.Faults); diff != "" || (r.Result == record.Failed) != (want != nil) {
			t.Errorf("%+v: %s", r, diff)
		}
	}
	if notes, err := s.Store.List(t.Context(), 101); err != nil || len(notes) != 1 {
		t.Errorf("stored: %+v, %v", notes, err)
	}
}

func TestImport_ADryRunAnswersAndWritesNothing(t *testing.T) {
	s, events, users := newService(t)
	a := `{"key":"a","event":"e1","contents":"A"}`
	id := importBatch(t, s, batch(t, a), false)[0].ID
	b := batch(t, a, `{"key":"b","event":"not there yet","owner":"nor this"}`, `{"key":"c"}`)
	events.questions.Store(0)
	users.questions.Store(0)
	want := []record.Outcome{
		{Result: record.Unchanged, ID: id},
		{Result: record.Created},
		{Result: record.Failed, Faults: problem.Fields{"event": {"can't be blank"}}},
	}
	valuetest.Equal(t, want, importBatch(t, s, b, true))
	b = batch(t, `{"key":"a","event":"e1","contents":"A2"}`)
	valuetest.Equal(t, []record.Outcome{{Result: record.Updated, ID: id}}, importBatch(t, s, b, true))
	if n, err := s.Store.Get(t.Context(), id); err != nil || n.Contents != "A" {
		t.Errorf("%+v, %v", n, err)
	}
	if found, err := s.Store.FindByKeys(t.Context(), []string{"b", "c"}); err != nil || len(found) > 0 ||
		events.questions.Load()+users.questions.Load() > 0 {
		t.Errorf("%+v, %v, %d questions", found, err, events.questions.Load()+users.questions.Load())
	}
}

func TestImport_ABatchWithoutItsNeighboursWritesNothing(t *testing.T) {
	s, events, _ := newService(t)
	events.away = problem.New(problem.Unavailable, "events is away")
	if results, err := s.Import(t.Context(), batch(t, `{"key":"a","event":"e1"}`), false); !problem.Is(err,
		problem.Unavailable) {
		t.Errorf("%+v, %v", results, err)
	}
	if found, err := s.Store.FindByKeys(t.Context(), []string{"a"}); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestPrivacy_ASystemNoteStaysWithoutThePersonsName: a note on who is elsewhere was deleted, with the names of others:
// its HTML kept the name until the next round found it there. A note without an owner that was imported is deleted.
func TestPrivacy_ASystemNoteStaysWithoutThePersonsName(t *testing.T) {
	s, _, _ := newService(t)
	const name = "Ann St. Clair (9A)"
	contents := fact.PlainMarkdown(name, 60) + ", Tom Other"
	errortest.None(t, errortest.Of(s.KeepSystemNotes(t.Context(), fact.SystemNotesQuestion{
		Topic: fact.Absences, Notes: []fact.SystemNote{{EventID: 101, Day: 20700, Contents: contents}}})))
	insert(t, s.Store, note.Note{EventID: 101, Contents: name, HTML: "<p>" + name + "</p>"})
	step := s.Erase(erasure.Person{Names: []string{name}, Instead: "Former pupil 7"})
	for next, changed := "", 1; changed > 0 || next != ""; {
		var err error
		next, changed, err = step(t.Context(), next)
		errortest.None(t, err)
	}
	left, err := s.Store.List(t.Context(), 101)
	errortest.None(t, err)
	if len(left) != 1 || left[0].Contents != "Former pupil 7, Tom Other" ||
		!strings.Contains(left[0].HTML, "Tom Other") {
		t.Errorf("left are %+v", left)
	}
}
