package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestAdministration_AuditOfAnEventWithItsCommitmentsAndRequests(t *testing.T) {
	s, admin := loadSchool(t), system(t).Admin(t)
	owner := s.as(t, "owner")
	var made created
	owner.Post(t, "/api/events", map[string]any{"event": s.fields(),
		"elements": []int64{s.teacher, s.calendar, s.minibuses}}).Decode(t, &made)
	e := made.Event
	event := fmt.Sprintf("/api/events/%d", e.ID)
	teacher, calendar, buses := e.Commitments[0].ID, e.Commitments[1].ID, e.Requests[0].ID
	decide(t, s.as(t, "keeper"), calendar, "rejected", "reason", "full")
	owner.Post(t, event+"/add", map[string]any{"elements": []int64{s.minibuses}})
	owner.Post(t, event+"/add", map[string]any{"elements": []int64{s.teacher}}) // a failure changes nothing
	owner.Delete(t, fmt.Sprintf("/api/commitments/%d", teacher))
	owner.Delete(t, fmt.Sprintf("/api/requests/%d", buses))
	owner.Patch(t, event, map[string]any{"event": map[string]any{"body": "Physics",
		"starts_at_text": "2026-09-07 10:00", "ends_at_text": "2026-09-07 10:00"}})
	s.as(t, "stranger").Patch(t, event, map[string]any{"event": map[string]any{"body": "mine"}}) // is refused
	owner.Delete(t, event)

	c := func(id int64, field string) string { return fmt.Sprintf("commitments.%d.%s ", id, field) }
	r := func(field string) string { return fmt.Sprintf("requests.%d.%s ", buses, field) }
	const nine, ten = "2026-09-07T09:00:00.000+01:00", "2026-09-07T10:00:00.000+01:00"
	want := []string{
		fmt.Sprintf("delete Event:%d: body Physics →, event_category_id %d →, starts_at "+ten+" →, "+
			"ends_at "+ten+" →, all_day false →, owner_id %d →, ",
			e.ID, s.lesson, s.users["owner"]) + c(calendar, "element_id") + fmt.Sprintf("%d →, ",
			s.calendar) + c(calendar, "status") + "requested →",
		fmt.Sprintf("update Event:%d: body Maths → Physics, starts_at "+nine+" → "+ten+", "+
			"ends_at "+nine+" → "+ten+", ", e.ID) +
			c(calendar, "status") + "rejected → requested, " + c(calendar, "reason") + "full →",
		fmt.Sprintf("delete Request:%d: ", buses) + r("element_id") + fmt.Sprintf("%d →, ", s.minibuses) +
			r("quantity") + "2 →",
		fmt.Sprintf("delete Commitment:%d: ", teacher) + c(teacher, "element_id") + fmt.Sprintf("%d →, ", s.teacher) +
			c(teacher, "status") + "uncontrolled →",
		fmt.Sprintf("update Request:%d: ", buses) + r("quantity") + "1 → 2",
		fmt.Sprintf("decide Commitment:%d: ", calendar) + c(calendar, "status") + "requested → rejected, " +
			c(calendar, "reason") + "→ full",
		fmt.Sprintf("create Event:%d: body → Maths, event_category_id → %d, starts_at → "+nine+", "+
			"ends_at → "+nine+", all_day → false, owner_id → %d, ",
			e.ID, s.lesson, s.users["owner"]) +
			c(teacher, "element_id") + fmt.Sprintf("→ %d, ", s.teacher) + c(teacher, "status") + "→ uncontrolled, " +
			c(calendar, "element_id") + fmt.Sprintf("→ %d, ", s.calendar) + c(calendar, "status") + "→ requested, " +
			r("element_id") + fmt.Sprintf("→ %d, ", s.minibuses) + r("quantity") + "→ 1",
	}
	valuetest.Equal(t, want, admin.AuditTexts(t, "events", fmt.Sprintf("record=Event:%d", e.ID)))
	ofCalendar := admin.Audit(t, "events", fmt.Sprintf("record=Commitment:%d", calendar))
	var actions []string
	for _, l := range ofCalendar {
		actions = append(actions, l.Action)
	}
	valuetest.Equal(t, []string{"delete", "update", "decide", "create"}, actions)
	if decision := ofCalendar[2]; *decision.UserID != s.users["keeper"] || decision.OriginalID != nil {
		t.Errorf("decided by %+v", decision)
	}
}

func TestAdministration_AuditOfACategory(t *testing.T) {
	admin := system(t).Admin(t)
	var made struct{ EventCategory struct{ ID int64 } }
	admin.Post(t, "/api/admin/eventcategories",
		map[string]any{"eventcategory": map[string]any{"name": "Audited", "busy": true}}).Decode(t, &made)
	id := made.EventCategory.ID
	admin.Patch(t, fmt.Sprintf("/api/admin/eventcategories/%d", id),
		map[string]any{"eventcategory": map[string]any{"pecking_order": 7, "busy": false}})
	// changes nothing
	admin.Patch(t, fmt.Sprintf("/api/admin/eventcategories/%d", id),
		map[string]any{"eventcategory": map[string]any{"pecking_order": 7}})
	got := admin.AuditTexts(t, "events", fmt.Sprintf("record=EventCategory:%d", id))
	if len(got) != 2 || got[0] != fmt.Sprintf("update EventCategory:%d: pecking_order 0 → 7, busy true → false", id) ||
		!strings.HasPrefix(got[1], fmt.Sprintf("create EventCategory:%d: name → Audited, pecking_order → 0, ", id)) {
		t.Errorf("%q", got)
	}
}

// An import hid the events of a category, or showed them, without an entry that said so.
func TestAdministration_AuditOfAnImportSaysWhoSeesACategory(t *testing.T) {
	admin := system(t).Admin(t)
	key := uuid.NewString()
	imported := func(flags ...string) string {
		row := map[string]any{"key": key, "name": key}
		for _, flag := range flags {
			row[flag] = true
		}
		return fmt.Sprintf("EventCategory:%d", admin.Import(t, "eventcategories", row)[key])
	}
	imported()
	imported("busy", "confidential")
	record := imported("publish", "schoolwide")
	valuetest.Equal(t, []string{
		"update " + record + ": schoolwide false → true, confidential true → false",
		"update " + record + ": confidential false → true",
	}, admin.AuditTexts(t, "events", "record="+record))
}

func TestAdministration_AuditOfAnImportOfEventsIsOfTheBatch(t *testing.T) {
	loadSchool(t)
	admin := system(t).Admin(t)
	record := func(key, category string) map[string]any {
		return map[string]any{"key": key, "body": key, "category": category, "starts_at": "2026-09-07 09:00",
			"ends_at": "2026-09-07 10:00", "elements": []string{"Staff:1"}}
	}
	before := len(admin.Audit(t, "events", "record=Import:events&limit=1000"))
	ids := admin.Import(t, "events", record("audit-1", "lesson"), record("audit-2", "lesson"))
	admin.ImportBatch(t, "/api/admin/import/events", record("audit-1", "trip"), record("audit-2", "lesson"),
		record("audit-3", "none"))
	got := admin.AuditTexts(t, "events", "record=Import:events&limit=1000")
	want := []string{
		"imported Import:events: records → 3, first_key → audit-1, last_key → audit-3, created → 0, updated → 1, " +
			"unchanged → 1, failed → 1",
		"import Import:events: records → 3, first_key → audit-1, last_key → audit-3",
		"imported Import:events: records → 2, first_key → audit-1, last_key → audit-2, created → 2, updated → 0, " +
			"unchanged → 0, failed → 0",
		"import Import:events: records → 2, first_key → audit-1, last_key → audit-2",
	}
	valuetest.Equal(t, want, got[:len(got)-before])
	valuetest.Len(t, admin.Audit(t, "events", fmt.Sprintf("record=Event:%d", ids["audit-1"])), 0,
		"a record of a batch has entries")
}
