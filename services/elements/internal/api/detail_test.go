package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// detail reads an element's detail with what differs from run to run replaced.
func (s *school) detail(t *testing.T, id int64) string {
	t.Helper()
	a := s.Get(t, path("/api/elements/%d", id))
	var reply struct {
		Element struct {
			UUID     string
			EntityID int64 `json:"entity_id"`
		}
	}
	a.Decode(t, &reply)
	if len(reply.Element.UUID) != 36 || reply.Element.EntityID < 1 {
		t.Errorf("uuid or entity_id is missing: %s", a.Body)
	}
	return strings.NewReplacer(reply.Element.UUID, "UUID", s.mark, "MARK", path(`"id":%d,`, id), `"id":ID,`, path(`"entity_id":%d,`, reply.Element.EntityID), `"entity_id":N,`).Replace(a.Body)
}

func TestPart2_1_DetailForms(t *testing.T) {
	s := newSchool(t)
	for _, c := range []struct {
		kind   string
		record fields
		want   string
	}{
		{"staff", fields{"initials": "JRS", "forename": "John", "surname": "Smith", "title": "Mr", "email": "jrs@school.org"},
			`"name":"JRS - John Smith","entity_type":"Staff","entity_id":N,"current":true,"uuid":"UUID","email":"jrs@school.org","title":"Mr","initials":"JRS","forename":"John","surname":"Smith"`},
		{"staff", fields{"initials": "X", "forename": "A", "surname": "B", "current": false},
			`"name":"X - A B","entity_type":"Staff","entity_id":N,"current":false,"uuid":"UUID","email":null,"title":null,"initials":"X","forename":"A","surname":"B"`},
		{"pupils", fields{"forename": "Ann", "surname": "Lee", "known_as": "Nan", "year_group": "Year 9", "house_name": "Red", "tutor_group": "9A", "email": "a@b.org"},
			`"name":"Nan Lee (9A)","entity_type":"Pupil","entity_id":N,"current":true,"uuid":"UUID","email":"a@b.org","forename":"Ann","surname":"Lee","known_as":"Nan","year_group":"Year 9","house_name":"Red"`},
		{"pupils", fields{"forename": "Ann", "surname": "Lee"},
			`"name":"Ann Lee","entity_type":"Pupil","entity_id":N,"current":true,"uuid":"UUID","email":null,"forename":"Ann","surname":"Lee","known_as":null,"year_group":null,"house_name":null`},
		{"locations", fields{"name": "Hall", "short_name": "H"}, `"name":"MARK Hall","entity_type":"Location","entity_id":N,"current":true,"uuid":"UUID"`},
		{"groups", fields{"name": "9A", "description": "Tutor group"}, `"name":"MARK 9A","entity_type":"Group","entity_id":N,"current":true,"uuid":"UUID","description":"Tutor group","members":0`},
		{"groups", fields{"name": "Set 1"}, `"name":"MARK Set 1","entity_type":"Group","entity_id":N,"current":true,"uuid":"UUID","description":"Group","members":0`},
		{"groups", fields{"name": "Minibuses", "resource": true}, `"name":"MARK Minibuses","entity_type":"Group","entity_id":N,"current":true,"uuid":"UUID","description":"Resource group","members":0`},
		{"properties", fields{"name": "Calendar", "make_public": true}, `"name":"MARK Calendar","entity_type":"Property","entity_id":N,"current":true,"uuid":"UUID","make_public":true`},
		{"properties", fields{"name": "Diary"}, `"name":"MARK Diary","entity_type":"Property","entity_id":N,"current":true,"uuid":"UUID","make_public":null`},
		{"services", fields{"name": "Catering"}, `"name":"MARK Catering","entity_type":"Service","entity_id":N,"current":true,"uuid":"UUID"`},
		{"subjects", fields{"name": "Maths"}, `"name":"MARK Maths","entity_type":"Subject","entity_id":N,"current":true,"uuid":"UUID"`},
	} {
		id := s.add(t, c.kind, c.kind+path("%v", c.record), c.record)
		if got, want := s.detail(t, id), `{"status":"OK","element":{"id":ID,`+c.want+`}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestDecisionsPart3_MembersCountsDistinctCurrentPeopleAndThings(t *testing.T) {
	s := newSchool(t)
	today := time.Now()
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	school, year, set, empty := s.group(t, "school"), s.group(t, "year"), s.group(t, "set"), s.group(t, "empty")
	ann, bob, cat, dan := s.pupil(t, "Ann"), s.pupil(t, "Bob"), s.pupil(t, "Cat"), s.pupil(t, "Dan")
	s.member(t, school, year, "", "")
	s.member(t, year, set, day(-30), "")
	s.member(t, year, empty, "", "")
	s.member(t, set, school, "", "") // a cycle
	s.member(t, set, ann, "", "")
	s.member(t, year, ann, "", "")        // twice
	s.member(t, set, bob, "", day(-3))    // ended
	s.member(t, set, cat, day(3), "")     // not yet
	s.member(t, year, dan, day(-1), "")   // has left
	s.member(t, school, bob, day(-9), "") // still
	s.Delete(t, path("/api/admin/elements/%d", dan))
	for group, want := range map[int64]int{school: 2, year: 2, set: 2, empty: 0} {
		var reply struct{ Element struct{ Members int } }
		s.Get(t, path("/api/elements/%d", group)).Decode(t, &reply)
		if reply.Element.Members != want {
			t.Errorf("group %d of school %d, year %d, set %d has %d members, not %d", group, school, year, set, reply.Element.Members, want)
		}
	}
}

func TestPart7_2_MissingElementIsAnExceptionBody(t *testing.T) {
	s := newSchool(t)
	const body = `{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=9223372036854775807"}`
	want := strings.ReplaceAll(body, "'", `'`)
	for _, p := range []string{"", "/commitments", "/requests"} {
		a := s.Get(t, "/api/elements/9223372036854775807"+p)
		a.Want(t, http.StatusNotFound, want)
	}
	s.Get(t, "/api/admin/elements/9223372036854775807").Want(t, http.StatusNotFound, want)
}

func TestDecisionsPart1_AnIDThatIsNoneIsNotFound(t *testing.T) {
	s := newSchool(t)
	for _, id := range []string{"0", "01", "-1", "+1", "1.0", "x", "9223372036854775808", "%201"} {
		for _, p := range []string{"/api/elements/%s", "/api/elements/%s/commitments", "/api/elements/%s/requests", "/api/admin/elements/%s"} {
			s.Get(t, path(p, id)).Want(t, http.StatusNotFound, `{"status":"Not found"}`)
		}
	}
}
