package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// editors are users who may edit all events: a pupil, who sees its own, and staff, who see those of the category as
// Busy.
func (s school) editors(t *testing.T) (pupil, staff *servicetest.Client, confidential int64) {
	t.Helper()
	name := uuid.NewString()
	confidential = system(t).Admin(t).Import(t, "eventcategories", map[string]any{
		"key": name, "name": "Care " + name, "busy": true, "confidential": true,
	})[name]
	return enter(t, "kind", "pupil", "element", "Pupil:1", "edit_all_events", true), enter(t, "edit_all_events", true),
		confidential
}

// Through one event of a series, a user changes and deletes only those others that it may change one by one. It is
// shown none that it does not see.
func TestDecisionsPart9_OfASeriesOnlyWhatOneMayChangeAloneIsChangedOrDeleted(t *testing.T) {
	s := loadSchool(t)
	owner, admin := s.as(t, "owner"), s.as(t, "admin")
	pupil, staff, confidential := s.editors(t)
	to := map[string]any{"body": "Taken", "event_category_id": s.lesson,
		"starts_at_text": "2027-01-05 14:00", "ends_at_text": "2027-01-05 15:00"}
	for who, c := range map[string]struct {
		client *servicetest.Client
		hide   func(m madeSeries) // all events but the first
		sees   bool               // that they are there
	}{
		"a pupil who does not see the others": {pupil, func(m madeSeries) {
			add(t, owner, m.Series.Events[0].ID, s.pupil)
		}, false},
		"staff to whom the others are Busy": {staff, func(m madeSeries) {
			hidden := change(map[string]any{"event_category_id": confidential})
			for place := 2; place <= 3; place++ {
				admin.Patch(t, m.of(place, ""), hidden).WantCode(t, 200)
			}
		}, true},
	} {
		m := makeSeries(t, owner, s.ofSeries("Secret", nil, "rule", "FREQ=WEEKLY;COUNT=3"))
		c.hide(m)
		c.client.Patch(t, m.of(2, ""), change(to)).WantCode(t, 403)
		c.client.Patch(t, m.of(2, "?scope=all"), change(to)).WantCode(t, 403)
		before := stands(t, admin, m.Series.ID)
		others := before[strings.Index(before, "; "):]
		check := func(what string, a servicetest.Answer) {
			t.Helper()
			got := strings.Contains(a.Body, fmt.Sprintf(`"id":%d,`, m.Series.Events[1].ID)) &&
				strings.Contains(a.Body, `"starts_at":"2027-01-12T09:00`)
			if got != c.sees || strings.Contains(a.Body, "Secret") || strings.Count(a.Body, `"reason":"forbidden"`) != 2 ||
				!c.sees && strings.Contains(a.Body, "2027-01-12") {
				t.Errorf("%s by %s: %d %s", what, who, a.Code, a.Body)
			}
			if now := stands(t, admin, m.Series.ID); !strings.HasSuffix(now, others) {
				t.Errorf("after %s by %s the series is\n %s, was\n %s", what, who, now, before)
			}
		}
		for i, of := range []struct {
			query string
			more  []any
		}{
			{"&dry_run=true", nil}, {"&dry_run=true", []any{"clashes", "report"}}, {}, {"", []any{"clashes", "skip"}},
		} {
			key, more := fmt.Sprint("key", i), of.more
			a := c.client.Do(t, "PATCH", m.of(1, "?scope=all"+of.query), change(to, append(more, "overwrite", true)...),
				"Idempotency-Key", key)
			valuetest.Same(t, changed(t, a).places(), "1 2:forbidden 3:forbidden",
				"%v by %s: %d %s", of, who, a.Code, a.Body)
			check(fmt.Sprint("a change ", of), a)
			if of.query == "" && len(more) == 0 {
				forgetAnswers(t, system(t))
				check("the same change again", c.client.Do(t, "PATCH", m.of(1, "?scope=all"),
					change(to, "overwrite", true), "Idempotency-Key", key))
			}
		}
		a := c.client.Delete(t, m.of(1, "?scope=following"))
		a.WantCode(t, 200)
		others = others[2:]
		check("a deletion", a)
		valuetest.Same(t, stands(t, admin, m.Series.ID), others, "%s left", who)
		owner.Delete(t, m.of(2, "?scope=all")).Want(t, 200, `{"status":"OK"}`)
	}
}

// An event is not moved into the category of another school by one that is in it already.
func TestDecisionsPart9_OfASeriesNoEventIsMovedIntoACategoryThatIsOfAnotherSchool(t *testing.T) {
	s := loadSchool(t)
	name := uuid.NewString()
	admin := system(t).Admin(t)
	admin.Import(t, "groups", map[string]any{"key": name, "name": name, "school": true})
	theirs := admin.Import(t, "eventcategories", map[string]any{"key": name, "name": name, "school": name})[name]
	owner := s.as(t, "owner")
	m := makeSeries(t, owner, s.ofSeries("Choir", nil, "rule", "FREQ=WEEKLY;COUNT=2"))
	into := change(map[string]any{"event_category_id": theirs})
	admin.Patch(t, m.of(1, ""), into).WantCode(t, 200)
	owner.Patch(t, m.of(2, ""), into).WantCode(t, 403)
	owner.Patch(t, m.of(1, ""), into).WantCode(t, 200)
	got := changed(t, owner.Patch(t, m.of(1, "?scope=all"), into))
	valuetest.Same(t, got.places(), "1 2:forbidden", "%+v", got)
	// When the group is no longer a school, admins move no event into the category either.
	admin.Import(t, "groups", map[string]any{"key": name, "name": name, "school": false})
	wantInvalid(t, admin.Patch(t, m.of(2, ""), into), "event", "event_category_id", "must exist")
	admin.Patch(t, m.of(1, ""), into).WantCode(t, 200)
	if got := changed(t, admin.Patch(t, m.of(1, "?scope=all"), into)); got.places() != "1 2:forbidden" {
		t.Errorf("%+v", got)
	}
}

// Of one event a pupil could repeat the organiser that it is shown and can't find; of several it could not.
func TestDecisionsPart9_OfASeriesTheOrganiserThatIsShownMayBeRepeated(t *testing.T) {
	s := loadSchool(t)
	o := s.onlookers(t)
	m := makeSeries(t, o.pupil, s.ofSeries("Own", nil, "rule", "FREQ=DAILY;COUNT=2"))
	of := func(organiser int64) map[string]any { return change(map[string]any{"organiser_id": organiser}) }
	o.admin.Patch(t, m.of(1, "?scope=all"), of(s.teacher)).WantCode(t, 200)
	for _, scope := range []string{"?scope=one", "?scope=following", "?scope=all"} {
		o.pupil.Patch(t, m.of(1, scope), of(s.teacher)).WantCode(t, 200)
		wantInvalid(t, o.pupil.Patch(t, m.of(1, scope), of(s.colleague)), "event", "organiser_id",
			"must be a staff element")
	}
}
