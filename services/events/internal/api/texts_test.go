package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/apidoctest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// TestTexts_EachIsCreatedChangedShownImportedExportedAndAudited covers what the pure test of that name in package event
// can't: each text of an event by the API.
func TestTexts_EachIsCreatedChangedShownImportedExportedAndAudited(t *testing.T) {
	s := loadSchool(t)
	admin, owner := system(t).Admin(t), s.as(t, "owner")
	names := event.TextNames()
	texts := func(how string) (pairs []any) {
		for _, name := range names {
			pairs = append(pairs, name, how+" "+name)
		}
		return pairs
	}
	has := func(a servicetest.Answer, record, how string) {
		t.Helper()
		for _, name := range names {
			if !a.Has(record+"."+name) || a.Text(t, record+"."+name) != how+" "+name {
				t.Errorf("%s lacks the %s: %s", a.Request, name, a.Body)
			}
		}
	}
	id := book(t, owner, s.fields(texts("created")...)).Event.ID
	has(owner.Get(t, path("/api/events/%d", id)), "event", "created")
	owner.Patch(t, path("/api/events/%d", id), map[string]any{"event": servicetest.With(map[string]any{},
		texts("changed")...)}).Must(t, 200)
	has(owner.Get(t, path("/api/events/%d", id)), "event", "changed")
	audited := strings.Join(admin.AuditTexts(t, "events", path("record=Event:%d", id)), "\n")
	for _, name := range names {
		valuetest.Has(t, audited, name+" created "+name+" → changed "+name, "the audit lacks the change of %s", name)
	}
	id = admin.Import(t, "events", row("texts", texts("imported")...))["texts"]
	has(owner.Get(t, path("/api/events/%d", id)), "event", "imported")
	has(admin.Get(t, path("/api/admin/export/events?limit=1&from_id=%d", id)), "events.0", "imported")
	importEvents(t, admin, row("texts", texts("later")...)).Must(t, 200)
	has(owner.Get(t, path("/api/events/%d", id)), "event", "later")
}

// TestTexts_EachIsDocumented: clients that send an undocumented field are warned, and an export leaves out what is not
// a field of the import (pkg/importer/bundle).
func TestTexts_EachIsDocumented(t *testing.T) {
	const json = "application/json"
	operations := apidoctest.Operations(t)
	for call, where := range map[string][2]string{
		"POST /api/events": {json, "event"}, "PUT /api/events/{id}": {json, "event"},
		"PATCH /api/events/{id}": {json, "event"}, "POST /api/admin/import/events": {"application/x-ndjson", ""},
	} {
		fields := apidoctest.RequestFields(t, operations[call], where[0], where[1])
		for _, name := range event.TextNames() {
			if !slices.Contains(fields, name) {
				t.Errorf("%s is documented with %q, without the text %s", call, fields, name)
			}
		}
	}
}
