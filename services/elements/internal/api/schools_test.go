package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// twoSchools are two schools with a pupil of the same name each: in the first one through a year, in the second one
// directly, and one who has left.
type twoSchools struct {
	*school
	first, second, year, ann, other, left int64
}

func newTwoSchools(t *testing.T) twoSchools {
	t.Helper()
	s := twoSchools{school: newSchool(t)}
	s.first = s.add(t, "groups", "first", fields{"name": "First", "school": true})
	s.second = s.add(t, "groups", "second", fields{"name": "Second", "school": "true"})
	s.year = s.group(t, "Year")
	pupil := func(key string) int64 {
		return s.add(t, "pupils", key, fields{"forename": "Ann", "surname": s.mark})
	}
	s.other, s.ann, s.left = pupil("other"), pupil("ann"), pupil("left")
	s.member(t, s.first, s.year, "", "")
	s.member(t, s.year, s.ann, "", "")
	s.member(t, s.second, s.other, "2020-01-01", "")
	s.member(t, s.first, s.left, "", "2020-01-01")
	return s
}

// found lists the ids that a search finds.
func (s twoSchools) found(t *testing.T, path string) []int64 {
	t.Helper()
	return idsIn(t, s.Get(t, path), "elements")
}

func TestAdministration_ASearchFindsWhatBelongsToASchoolToday(t *testing.T) {
	s := newTwoSchools(t)
	for query, want := range map[string][]int64{
		"":                              {s.other, s.ann, s.left},
		path("&school=%d", s.first):     {s.ann},
		path("&school=%d", s.second):    {s.other},
		"&school=":                      {s.other, s.ann, s.left},
		"&school=own":                   {},
		"&school=first":                 {s.other, s.ann, s.left},
		path("&school=0%d", s.first):    nil,
		"&school=mine":                  nil,
		path("&school=%d", s.year):      nil,
		path("&school=%d", int64(1e15)): nil,
	} {
		for _, by := range []string{"name=Ann%20", "namelike=ann%20"} {
			url := "/api/elements?" + by + s.mark + query
			switch a := s.Get(t, url); {
			case want == nil && a.Code != http.StatusBadRequest && !strings.Contains(a.Body, "RecordNotFound"):
				t.Errorf("%s: %d %s", url, a.Code, a.Body)
			case want != nil && !slices.Equal(s.found(t, url), want):
				t.Errorf("%s: %s, not %v", url, a.Body, want)
			}
		}
	}
	all := s.found(t, path("/api/admin/elements?school=%d&limit=1000", s.first))
	valuetest.List(t, all, []int64{s.first, s.year, s.ann}, "all of a school")
	valuetest.List(t, s.found(t, path("/api/admin/elements?school=%d&entity_type=Pupil", s.first)), []int64{s.ann},
		"its pupils")
}

// The caller is of kind staff and is the pupil of the first school.
func TestAdministration_ASearchMayPutTheCallersSchoolFirst(t *testing.T) {
	s := newTwoSchools(t)
	_, s.Client = s.user(t, "ann", fields{"element": "Pupil:" + s.mark + "ann"})
	for query, want := range map[string][]int64{
		"":              {s.other, s.ann, s.left},
		"&school=first": {s.ann, s.other, s.left},
		"&school=own":   {s.ann},
	} {
		for _, by := range []string{"name=Ann%20", "namelike=ann%20"} {
			valuetest.List(t, s.found(t, "/api/elements?"+by+s.mark+query), want, "%s%s", by, query)
		}
	}
}

// A list with school=first that is cut says so, and where all of it is; with one fewer it is not cut.
func TestAdministration_AListThatBeginsWithTheCallersSchoolSaysThatItIsCut(t *testing.T) {
	s := newTwoSchools(t)
	rooms := make([]map[string]any, 101)
	for i := range rooms {
		rooms[i] = fields{"key": path("%s-%d", s.mark, i), "name": path("%s hall %03d", s.mark, i)}
	}
	ids := s.Import(t, "locations", rooms...)
	last := ids[path("%s-%d", s.mark, 100)]
	s.member(t, s.first, last, "", "")
	_, c := s.user(t, "ann", fields{"element": "Pupil:" + s.mark + "ann"})
	query := "namelike=" + s.mark + "%20hall"
	of := func(url string, want int) (link string) {
		t.Helper()
		a := c.Get(t, url).Must(t, http.StatusOK)
		if got := a.Len(t, "elements"); got != want || a.Has("next") {
			t.Errorf("%s: %d, not %d: %s", url, got, want, a.Body)
		}
		return a.Header.Get("Link")
	}
	all := "/api/elements?" + strings.ReplaceAll(query, "%20", "+")
	valuetest.Same(t, of("/api/elements?"+query+"&school=first", 100), "<"+all+`>; rel="collection"`,
		"a list that is cut")
	if got := of(all, 100); !strings.HasSuffix(got, `; rel="next"`) {
		t.Errorf("what it links to: %q", got)
	}
	s.Delete(t, path("/api/admin/elements/%d", ids[path("%s-%d", s.mark, 0)])).Must(t, http.StatusOK)
	valuetest.Same(t, of("/api/elements?"+query+"&school=first", 100), "", "a list that is all")
}

// A search by school finds only what the viewer may see.
func TestDecisionsPart9_ASearchBySchoolShowsNoMore(t *testing.T) {
	s := newTwoSchools(t)
	admin := s.Client
	for kind, want := range map[string]string{"guest": "Forbidden", "pupil": path(`"id":%d`, s.ann)} {
		s.Client = admin
		_, c := s.user(t, kind, fields{"kind": kind, "element": "Pupil:" + s.mark + "ann"})
		url := "/api/elements?name=Ann%20" + s.mark + "&school="
		a := c.Get(t, url+path("%d", s.first))
		valuetest.Has(t, a.Body, want, "a %s, its school: %d", kind, a.Code)
		c.Get(t, url+path("%d", s.second)).WantCode(t, http.StatusForbidden, "a %s, another school", kind)
		s.Client = c
		for _, of := range []string{"own", "first"} {
			if ids := s.found(t, url+of); slices.Contains(ids, s.other) {
				t.Errorf("a %s finds %v by %s", kind, ids, of)
			}
		}
	}
}

func TestAdministration_ASchoolIsAGroup(t *testing.T) {
	s := newSchool(t)
	plain := s.group(t, "plain")
	valuetest.Lacks(t, s.Get(t, path("/api/admin/elements/%d", plain)).Body, "school\"", "a group that is none")
	url := path("/api/admin/elements/%d", plain)
	for _, c := range []struct {
		element fields
		code    int
		want    string
	}{
		{fields{"school": true}, 200, `"school":true`},
		{fields{"resource": true}, 422, `"errors":{"school":["can't be a resource group"]}`},
		{fields{"name": s.mark + " renamed"}, 200, `"school":true`},
		{fields{"school": false, "resource": true}, 200, `"resource":true,"controlled"`},
		{fields{"school": "perhaps"}, 422, `"errors":{"school":[`},
	} {
		if a := s.Patch(t, url, fields{"element": c.element}); a.Code != c.code || !strings.Contains(a.Body, c.want) {
			t.Errorf("%v: %d %s", c.element, a.Code, a.Body)
		}
	}
	if a := s.Patch(t, path("/api/admin/elements/%d", s.pupil(t, "Ann")),
		fields{"element": fields{"school": true}}); a.Code != 200 || strings.Contains(a.Body, `"school":`) {
		t.Errorf("a pupil: %d %s", a.Code, a.Body)
	}
}

// Each replica answers from the change on, however deep in the school it is.
func TestAdministration_ASchoolIsTheSameAtEveryReplica(t *testing.T) {
	s := newTwoSchools(t)
	form := s.group(t, "Form")
	s.member(t, s.year, form, "", "")
	bob := s.pupil(t, "Bob")
	admin := s.Client
	want := func(when string, in bool) {
		t.Helper()
		for range 2 { // made, then from memory
			for i := range 2 {
				s.Client = admin.At(system(t).Replica("elements", i))
				for _, url := range []string{
					path("/api/admin/elements?school=%d&entity_type=Pupil", s.first),
					path("/api/elements?namelike=bob&school=%d", s.first),
				} {
					valuetest.Same(t, slices.Contains(s.found(t, url), bob), in, "%s, replica %d, %s", when, i, url)
				}
			}
		}
		s.Client = admin
	}
	want("before", false)
	s.member(t, form, bob, "", "")
	want("a member of a form", true)
	s.Delete(t, path("/api/admin/elements/%d/members/%d", s.year, form)).Must(t, http.StatusOK)
	want("the form taken out of the year", false)
	s.member(t, s.first, form, "", "")
	want("the form put into the school", true)
	s.Patch(t, path("/api/admin/elements/%d", bob), fields{"element": fields{"surname": "Other"}}).Must(t, 200)
	want("under another name", true)
	s.Delete(t, path("/api/admin/elements/%d/members/%d", form, bob)).Must(t, http.StatusOK)
	want("who has left", false)
}
