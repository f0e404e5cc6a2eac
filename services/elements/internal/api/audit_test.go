package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// wantAudit fails the test unless the audit has exactly those lines, the newest first. A line that ends with …
// needs only to begin so.
func (s *school) wantAudit(t *testing.T, query string, lines ...string) {
	t.Helper()
	got := s.AuditTexts(t, "elements", query)
	same := slices.EqualFunc(got, lines, func(got, want string) bool {
		begin, open := strings.CutSuffix(want, "…")
		return got == want || open && strings.HasPrefix(got, begin)
	})
	if !same {
		t.Errorf("%s:\n%s\nnot\n%s", query, strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func TestAdministration_AuditOfAnElement(t *testing.T) {
	s := newSchool(t)
	user := s.add(t, "users", "una", fields{"name": "Una", "email": strings.ToLower(s.mark) + "una@school.example"})
	id := s.Post(t, "/api/admin/elements", fields{"element": fields{"entity_type": "Property", "name": s.mark}}).
		Int(t, "element.id")
	element := path("/api/admin/elements/%d", id)
	s.Patch(t, element, fields{"element": fields{"name": s.mark + "!", "make_public": true}})
	s.Patch(t, element, fields{"element": fields{"name": s.mark + "!"}}) // changes nothing
	s.Patch(t, element, fields{"element": fields{"name": ""}})           // is refused
	s.Put(t, path("%s/administrators/%d", element, user), nil)
	s.Put(t, path("%s/administrators/%d", element, user), nil) // changes nothing
	s.Delete(t, path("%s/administrators/%d", element, user))
	s.Delete(t, element)
	record := path("Element:%d", id)
	s.wantAudit(t, "record="+record,
		"retire "+record+": current true → false",
		path("update %s: administrators %d →", record, user),
		path("update %s: administrators → %d", record, user),
		path("update %s: name %s → %[2]s!, make_public → true", record, s.mark),
		path("create %s: name → %s, entity_type → Property, …", record, s.mark))
	s.wantAudit(t, path("record=User:%d", user),
		path("update %s: administrators %d →", record, user), path("update %s: administrators → %d", record, user))
}

func TestAdministration_AuditOfMemberships(t *testing.T) {
	s := newSchool(t)
	set, ann := s.group(t, "set"), s.pupil(t, "Ann")
	s.member(t, set, ann, "2026-09-01", "")
	s.member(t, set, ann, "2026-01-01", "2026-02-01")
	s.Delete(t, path("/api/admin/elements/%d/members/%d?from=2026-12-01", set, ann))
	lines := s.Audit(t, "elements", path("record=Element:%d", ann))
	if len(lines) != 3 || !slices.Equal(lines[0].Related, []string{path("Element:%d", set), path("Element:%d", ann)}) {
		t.Fatalf("%+v", lines)
	}
	m := lines[0].Record
	s.wantAudit(t, "record="+m,
		"update "+m+": days 2026-01-01/2026-02-01,2026-09-01/.. → 2026-01-01/2026-02-01,2026-09-01/2026-11-30",
		"update "+m+": days 2026-09-01/.. → 2026-01-01/2026-02-01,2026-09-01/..",
		path("create %s: group → %d, member → %d, days → 2026-09-01/..", m, set, ann))
}

// A replacement as a whole, as an import makes it, may not lose what a change by hand has still to tell.
func TestAdministration_AuditSurvivesAnImportRightAfterAChangeByHand(t *testing.T) {
	s := newSchool(t)
	id := s.add(t, "subjects", "ma", fields{"name": "Maths"})
	for i := range 5 {
		s.Patch(t, path("/api/admin/elements/%d", id), fields{"element": fields{"name": path("by hand %d", i)}})
		a := s.ImportBatch(t, "/api/admin/import/subjects",
			fields{"key": s.mark + "ma", "name": path("%s imported %d", s.mark, i)})
		if a.Code != http.StatusOK || !strings.Contains(a.Body, `"updated":1`) {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	valuetest.Len(t, s.Audit(t, "elements", path("record=Element:%d", id)), 5, "changes by hand of 5")
}

func TestHardToBreak_Row16_AdministratorsByImportHaveEntriesOfTheirOwn(t *testing.T) {
	s := newSchool(t)
	una := s.add(t, "users", "una", fields{"name": "Una", "email": strings.ToLower(s.mark) + "una@school.example"})
	vic := s.add(t, "users", "vic", fields{"name": "Vic", "email": strings.ToLower(s.mark) + "vic@school.example"})
	hall := s.add(t, "locations", "hall", fields{"name": "Hall"})
	row := func(user string) fields {
		return fields{"key": "Location:" + s.mark + "hall/" + s.mark + user, "element": "Location:" + s.mark + "hall",
			"user": s.mark + user}
	}
	s.Import(t, "administrators", row("una"), row("vic"))
	s.Import(t, "administrators", row("una"), row("vic"))       // unchanged
	s.add(t, "locations", "hall", fields{"name": "Great hall"}) // a name is no right
	s.wantAudit(t, path("record=Element:%d", hall), path("update Element:%d: administrators → %d,%d", hall, una, vic))
	s.wantAudit(t, path("record=User:%d", vic), path("update Element:%d: administrators → %d,%d", hall, una, vic))
}

// TestHardToBreak_Row16_WhoBooksAndSeesByImportHasEntriesOfItsOwn: only changes by hand were in the audit.
func TestHardToBreak_Row16_WhoBooksAndSeesByImportHasEntriesOfItsOwn(t *testing.T) {
	s := newSchool(t)
	calendar := s.add(t, "properties", "calendar", fields{"name": "Calendar", "make_public": false})
	s.add(t, "properties", "calendar", fields{"name": "Calendar", "make_public": true})
	s.add(t, "properties", "calendar", fields{"name": "Calendar of all", "make_public": true, "open_to": "all"})
	s.add(t, "properties", "calendar", fields{"name": "Calendar of all"})
	record := path("Element:%d", calendar)
	s.wantAudit(t, "record="+record,
		"update "+record+": open_to all →, make_public true →",
		"update "+record+": open_to → all",
		"update "+record+": make_public false → true")
	house := path("Element:%d", s.add(t, "groups", "house", fields{"name": "House", "school": true}))
	s.add(t, "groups", "house", fields{"name": "House"})
	s.wantAudit(t, "record="+house, "update "+house+": school true →", "create "+house+": school → true")
}
