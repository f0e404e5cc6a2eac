package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// An answer includes the category and decisions where the client asks for them and may see them.
func TestClients_CategoryAndDecisionsAreToldWhereTheyAreAskedFor(t *testing.T) {
	s := loadSchool(t)
	owner, keeper := s.as(t, "owner"), s.as(t, "keeper")
	made := owner.Post(t, "/api/events", map[string]any{
		"event": s.fields("body", "Include"), "elements": []any{s.calendar, s.minibuses},
	}).Must(t, http.StatusOK)
	event := path("/api/events/%d", made.Int(t, "event.id"))
	commitment := made.Int(t, "event.commitments.0.id")
	decide(t, keeper, commitment, "rejected", "reason", "Not on a <Monday>").Must(t, http.StatusOK)

	plain := owner.Get(t, event).Must(t, http.StatusOK)
	for _, query := range []string{"?include=", "?include=x,Category"} {
		valuetest.Same(t, owner.Get(t, event+query).Must(t, http.StatusOK).Body, plain.Body, query)
	}
	changed := owner.Patch(t, event+"?include=category", map[string]any{"event": map[string]any{}})
	valuetest.Same(t, changed.Must(t, http.StatusOK).Text(t, "event.category.name"), "Lesson",
		"a change shows %s", changed.Body)
	full := keeper.Get(t, event+"?include=category,%20decisions").Must(t, http.StatusOK)
	for field, want := range map[string]string{
		"event.category.name":                          "Lesson",
		"event.commitments.0.decision.asked_by.name":   "owner",
		"event.commitments.0.decision.decided_by.name": "keeper",
		"event.commitments.0.decision.reason":          "Not on a <Monday>",
		"event.requests.0.decision.asked_by.email":     "owner@school.example",
	} {
		valuetest.Same(t, full.Text(t, field), want, field)
	}
	if !strings.Contains(full.Body, `"decided_at":"20`) || !strings.Contains(full.Body,
		`"decided_by":null,"decided_at":null,"reason":null,"deciders":[{"id":`) {
		t.Error(full.Body)
	}
	if full.Header.Get("ETag") == plain.Header.Get("ETag") {
		t.Error("both have the tag " + full.Header.Get("ETag"))
	}
	search := "/api/events?start_date=2026-09-07&end_date=2026-09-07&text=Include"
	valuetest.Lacks(t, owner.Get(t, search).Must(t, http.StatusOK).Body, "category", "has a category")
	a := owner.Get(t, search+"&include=category,decisions")
	valuetest.Same(t, a.Text(t, "events.0.category.name"), "Lesson", a.Body)
	s.staffAndLocationsEverywhere(t)
	s.listedIncludes(t, keeper, commitment)
	s.privilegedIncludes(t)
}

// staffAndLocationsEverywhere reads the same texts on every route that shows events.
func (s school) staffAndLocationsEverywhere(t *testing.T) {
	t.Helper()
	owner, admin, keeper := s.as(t, "owner"), s.as(t, "admin"), s.as(t, "keeper")
	element := func(fields map[string]any) int64 {
		return admin.Post(t, "/api/admin/elements", map[string]any{"element": fields}).Must(t, http.StatusCreated).
			Int(t, "element.id")
	}
	gym := element(map[string]any{"entity_type": "Location", "name": "Old gym", "short_name": "Gym"})
	yard := element(map[string]any{"entity_type": "Location", "name": "Yard"})
	coach := element(map[string]any{"entity_type": "Staff", "initials": "CO", "forename": "C", "surname": "O"})
	made := makeSeries(t, owner, s.ofSeries("Everywhere", []any{yard, s.calendar, coach, gym, s.minibuses}, "rule",
		"FREQ=DAILY;COUNT=1"))
	event := made.Series.Events[0].ID
	day := owner.Get(t, path("/api/events/%d", event)).Text(t, "event.starts_at")[:len("2027-01-05")]
	const want = `"staff":"CO","locations":"Yard,Gym"`
	for _, list := range []struct {
		as   *servicetest.Client
		path string
	}{
		{owner, path("/api/events/%d?", event)},
		{owner, path("/api/events?text=Everywhere")},
		{owner, path("/api/series/%d?", made.Series.ID)},
		{keeper, "/api/commitments?limit=1000"},
		{s.as(t, "driver"), "/api/requests?limit=1000"},
		{owner, path("/api/elements/%d/commitments?start_date=%s", gym, day)},
		{owner, path("/api/elements/%d/requests?start_date=%s", s.minibuses, day)},
		{owner, path("/api/timetables?elements=%d&start_date=%s", gym, day)},
	} {
		plain := list.as.Get(t, list.path).Must(t, http.StatusOK)
		for _, word := range []string{`"staff":`, `"locations":`, `"category":`, `"busy":`, `"decision":`} {
			valuetest.Lacks(t, plain.Body, word, "%s has %s", list.path, word)
		}
		a := list.as.Get(t, list.path+"&include=staff,locations,category,busy,decisions").Must(t, http.StatusOK)
		if !strings.Contains(a.Body, want) || !strings.Contains(a.Body, `"category":{`) ||
			!strings.Contains(a.Body, `"busy":true`) {
			t.Errorf("%s shows %s, want %s", list.path, a.Body, want)
		}
		valuetest.Same(t, !strings.Contains(list.path, "text=") && !strings.Contains(list.path, "/series/"),
			strings.Contains(a.Body, `"decision":{`), "%s shows decisions", list.path)
	}
}

// listedIncludes reads a commitment in the lists of an element and of what a user decides on, which include nothing
// that was not asked for.
func (s school) listedIncludes(t *testing.T, keeper *servicetest.Client, commitment int64) {
	t.Helper()
	days := "start_date=2026-09-07&end_date=2026-09-07"
	list := path("/api/elements/%d/commitments?"+days, s.calendar)
	many := path("/api/timetables?elements=%d&"+days, s.calendar)
	type entry struct {
		ID       int64
		Event    struct{ Category struct{ Name string } }
		Decision *struct {
			Reason    string
			AskedBy   *struct{ Name string } `json:"asked_by"`
			DecidedBy *struct{ Name string } `json:"decided_by"`
			DecidedAt string                 `json:"decided_at"`
		}
	}
	decidable := "/api/commitments?status=rejected&limit=1000"
	of := func(as *servicetest.Client, list string) entry {
		t.Helper()
		var alone struct{ Commitments []entry }
		as.Get(t, list+"&include=category,%20decisions,x").Must(t, http.StatusOK).Decode(t, &alone)
		i := slices.IndexFunc(alone.Commitments, func(e entry) bool { return e.ID == commitment })
		valuetest.MustHold(t, i >= 0, "the commitment is not listed")
		return alone.Commitments[i]
	}
	for _, plain := range []string{list, many, decidable} {
		a := keeper.Get(t, plain).Must(t, http.StatusOK)
		if b := keeper.Get(t, plain+"&include=x,Decisions"); b.Body != a.Body || strings.Contains(a.Body, "decision") {
			t.Errorf("%s tells what was not asked for: %s", plain, a.Body)
		}
	}
	for as, e := range map[string]entry{
		"keeper": of(keeper, list), "keeper who decides": of(keeper, decidable), "owner": of(s.as(t, "owner"), list),
		"stranger": of(s.as(t, "stranger"), list), "admin": of(s.as(t, "admin"), list),
	} {
		if e.Event.Category.Name != "Lesson" || e.Decision == nil || e.Decision.Reason != "Not on a <Monday>" ||
			e.Decision.AskedBy.Name != "owner" || e.Decision.DecidedBy.Name != "keeper" || e.Decision.DecidedAt == "" {
			t.Errorf("%s is told %+v, %+v", as, e, e.Decision)
		}
	}
	one, all := keeper.Get(t, list+"&include=decisions"), keeper.Get(t, many+"&include=decisions")
	if _, inner, _ := strings.Cut(one.Body, `"commitments":`); !strings.HasSuffix(all.Body, inner[:len(inner)-1]+"}]}") {
		t.Errorf("the timetable is\n%s, the list\n%s", all.Body, one.Body)
	}
	s.listedToPupils(t)
}

// listedToPupils reads as pupils: they are shown decisions on elements on which they decide, and no user but
// themselves and who asked.
func (s school) listedToPupils(t *testing.T) {
	t.Helper()
	admin := s.as(t, "admin")
	decides := enter(t, "kind", "pupil", "element", "Pupil:1", "name", "decides")
	other := enter(t, "kind", "pupil", "element", "Pupil:1")
	court := admin.Post(t, "/api/admin/elements", map[string]any{"element": map[string]any{
		"entity_type": "Location", "name": "Court",
	}}).Must(t, http.StatusCreated).Int(t, "element.id")
	administers(t, decides, court)
	made := s.as(t, "owner").Post(t, "/api/events", map[string]any{
		"event": s.fields("body", "On the court"), "elements": []any{court, s.pupil},
	}).Must(t, http.StatusOK)
	decide(t, decides, made.Int(t, "event.commitments.0.id"), "confirmed").Must(t, http.StatusOK)
	list := "/api/elements/%d/commitments?start_date=2026-09-07&end_date=2026-09-07&include=decisions"
	a := decides.Get(t, path(list, court)).Must(t, http.StatusOK)
	valuetest.Has(t, a.Body, `"decision":{"asked_by":{"id":`+path("%d", s.users["owner"])+
		`,"name":"owner","email":"hidden@belfry.invalid","valid":true},"decided_by":{"id":`+text(whoIs(t, decides))+
		`,"name":"decides"`, "who decides is told")
	for _, a := range []servicetest.Answer{
		decides.Get(t, path(list, s.pupil)), other.Get(t, path(list, court)), other.Get(t, path(list, s.pupil)),
	} {
		if a.Must(t, http.StatusOK); !strings.Contains(a.Body, "On the court") || strings.Contains(a.Body, "decision") {
			t.Errorf("who does not decide is told %s", a.Body)
		}
	}
}

// privilegedIncludes reads a privileged category.
func (s school) privilegedIncludes(t *testing.T) {
	t.Helper()
	event := path("/api/events/%d", s.as(t, "privileged").Post(t, "/api/events", map[string]any{
		"event": s.fields("event_category_id", s.privileged),
	}).Must(t, http.StatusOK).Int(t, "event.id"))
	for user, told := range map[string]bool{"privileged": true, "stranger": false, "admin": true} {
		a := s.as(t, user).Get(t, event+"?include=category").Must(t, http.StatusOK)
		valuetest.Same(t, strings.Contains(a.Body, "Secret"), told,
			"%s is told %v, want %v: %s", user, !told, told, a.Body)
	}
}
