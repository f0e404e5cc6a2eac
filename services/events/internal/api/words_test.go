package api_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestWords_ACategoryHasThreeNamesAndAnErrorTheOneThatWasSent(t *testing.T) {
	s, owner := loadOwned(t)
	try := func(fields map[string]any) servicetest.Answer {
		fields["body"], fields["starts_at_text"] = "A word", "2031-05-06 09:00"
		return owner.Post(t, "/api/events", map[string]any{"event": fields})
	}
	e := try(map[string]any{"category": s.lesson}).Must(t, 200).Int(t, "event.id")
	try(map[string]any{"category": text(s.lesson), "event_category_id": s.lesson}).Must(t, 200)
	for name, message := range map[string]string{"category": "must exist", "event_category_id": "must exist"} {
		wantInvalid(t, try(map[string]any{name: 999999}), "event", name, message)
	}
	wantInvalid(t, try(map[string]any{"category": ""}), "event", "category", "can't be blank")
	for _, name := range []string{"event_category_id", "eventcategory_id"} {
		try(map[string]any{"category": s.lesson, name: s.trip}).Must(t, 400).
			Equal(t, "message", `"category and `+name+` differ"`)
		found := bodies(t, owner, "start_date=2031-05-06&end_date=2031-05-06&"+name+"="+text(s.lesson))
		want := bodies(t, owner, "start_date=2031-05-06&end_date=2031-05-06&category="+text(s.lesson))
		if len(found) < 2 || !slices.Equal(found, want) {
			t.Errorf("by %s: %q, by category: %q", name, found, want)
		}
	}
	at := path("/api/events/%d", e)
	owner.Patch(t, at, map[string]any{"event": map[string]any{"category": s.trip}}).Must(t, 200)
	wantInvalid(t, owner.Patch(t, at, map[string]any{"event": map[string]any{"category": 999999}}), "event", "category",
		"must exist")
}

// TestWords_ANullBesideAnotherNameOfTheFieldCountsAsAbsent: a client of the contract that sent all names of a category
// was refused when the one of Belfry was null.
func TestWords_ANullBesideAnotherNameOfTheFieldCountsAsAbsent(t *testing.T) {
	s, owner := loadOwned(t)
	for _, name := range []string{"event_category_id", "eventcategory_id"} {
		for _, given := range []map[string]any{{"category": nil, name: s.lesson}, {"category": s.lesson, name: nil}} {
			e := map[string]any{"body": "A word", "starts_at_text": "2031-05-07 09:00"}
			maps.Copy(e, given)
			owner.Post(t, "/api/events?dry_run=true", map[string]any{
				"event": e,
				"repeat": map[string]any{
					"rule": "FREQ=DAILY;COUNT=2", "during": given, "not_during": []any{map[string]any{
						"category": nil, name: s.trip,
					}},
				},
			}).Must(t, 422).Equal(t, "event.errors", `{"repeat":["leaves out every occurrence of the rule"]}`)
		}
		wantInvalid(t, owner.Post(t, "/api/events", map[string]any{"event": map[string]any{
			"body": "A word", "starts_at_text": "2031-05-07 09:00", "category": nil, name: 999999,
		}}), "event", "event_category_id", "must exist")
	}
}
