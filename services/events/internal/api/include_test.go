package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// What is shown besides is shown to whom it is for, and only where it is asked for.
func TestClients_CategoryAndDecisionsAreToldWhereTheyAreAskedFor(t *testing.T) {
	s := loadSchool(t)
	owner, keeper := s.as(t, "owner"), s.as(t, "keeper")
	made := owner.Post(t, "/api/events", map[string]any{
		"event": s.fields("body", "Include"), "elements": []any{s.calendar, s.minibuses},
	}).Must(t, http.StatusOK)
	event := path("/api/events/%d", made.Int(t, "event.id"))
	commitment := made.Int(t, "event.commitments.0.id")
	keeper.Patch(t, path("/api/commitments/%d", commitment), map[string]any{
		"commitment": map[string]any{"status": "rejected", "reason": "Not on a <Monday>"},
	}).Must(t, http.StatusOK)

	plain := owner.Get(t, event).Must(t, http.StatusOK)
	for _, query := range []string{"?include=", "?include=staff,Category"} {
		if a := owner.Get(t, event+query).Must(t, http.StatusOK); a.Body != plain.Body {
			t.Errorf("%s: %s, want %s", query, a.Body, plain.Body)
		}
	}
	full := keeper.Get(t, event+"?include=category,%20decisions").Must(t, http.StatusOK)
	for field, want := range map[string]string{
		"event.category.name":                          "Lesson",
		"event.commitments.0.decision.asked_by.name":   "owner",
		"event.commitments.0.decision.decided_by.name": "keeper",
		"event.commitments.0.decision.reason":          "Not on a <Monday>",
		"event.requests.0.decision.asked_by.email":     "owner@school.example",
	} {
		if got := full.Text(t, field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if !strings.Contains(full.Body, `"decided_at":"20`) || !strings.Contains(full.Body,
		`"decided_by":null,"decided_at":null,"reason":null}`) {
		t.Error(full.Body)
	}
	if full.Header.Get("ETag") == plain.Header.Get("ETag") {
		t.Error("both have the tag " + full.Header.Get("ETag"))
	}
	search := "/api/events?start_date=2026-09-07&end_date=2026-09-07&text=Include"
	if a := owner.Get(t, search).Must(t, http.StatusOK); strings.Contains(a.Body, "category") {
		t.Errorf("%s has a category", a.Body)
	}
	if a := owner.Get(t, search+"&include=category,decisions"); a.Text(t, "events.0.category.name") != "Lesson" {
		t.Error(a.Body)
	}
	s.decidableBesides(t, keeper, commitment)
	s.privilegedBesides(t)
}

// decidableBesides looks at the list of what a user may decide.
func (s school) decidableBesides(t *testing.T, keeper *servicetest.Client, commitment int64) {
	t.Helper()
	list := "/api/commitments?status=rejected&limit=1000"
	if a := keeper.Get(t, list).Must(t, http.StatusOK); strings.Contains(a.Body, "decision") ||
		strings.Contains(a.Body, "category") {
		t.Errorf("%s has what was not asked for", a.Body)
	}
	var found struct {
		Commitments []struct {
			ID       int64
			Event    struct{ Category struct{ Name string } }
			Decision struct {
				Reason  string
				AskedBy struct{ Name string } `json:"asked_by"`
			}
		}
	}
	keeper.Get(t, list+"&include=category,decisions").Must(t, http.StatusOK).Decode(t, &found)
	for _, c := range found.Commitments {
		if c.ID == commitment {
			if c.Event.Category.Name != "Lesson" || c.Decision.Reason != "Not on a <Monday>" ||
				c.Decision.AskedBy.Name != "owner" {
				t.Errorf("%+v", c)
			}
			return
		}
	}
	t.Error("the commitment is not listed")
}

// privilegedBesides looks who is told of a privileged category.
func (s school) privilegedBesides(t *testing.T) {
	t.Helper()
	event := path("/api/events/%d", s.as(t, "privileged").Post(t, "/api/events", map[string]any{
		"event": s.fields("event_category_id", s.privileged),
	}).Must(t, http.StatusOK).Int(t, "event.id"))
	for user, told := range map[string]bool{"privileged": true, "nobody": false, "admin": true} {
		a := s.as(t, user).Get(t, event+"?include=category").Must(t, http.StatusOK)
		if strings.Contains(a.Body, "Secret") != told {
			t.Errorf("%s is told %v, want %v: %s", user, !told, told, a.Body)
		}
	}
}
