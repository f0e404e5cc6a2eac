package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestHardToBreak_Row17_ElementsWithoutADeciderAreListed(t *testing.T) {
	s := newSchool(t)
	una, vic := s.account(t, "una", nil), s.account(t, "vic", nil)
	script := s.account(t, "script", fields{"can_api": false})
	room := func(key string, administrators ...int64) int64 {
		id := s.add(t, "locations", key, fields{"name": key})
		for _, user := range administrators {
			s.Put(t, path("/api/admin/elements/%d/administrators/%d", id, user), nil).Must(t, http.StatusOK)
		}
		return id
	}
	free, hers, both, his, its := room("free"), room("hers", una), room("both", una, vic), room("his", vic),
		room("its", script)
	old := room("old", una)
	s.Delete(t, path("/api/admin/elements/%d", old)).Must(t, http.StatusOK)

	// listed are those of the test's elements that are listed, a page at a time: others may be there besides.
	listed := func(query string) []int64 {
		t.Helper()
		var ids []int64
		after := ""
		for after != "null" {
			a := s.Get(t, "/api/admin/elements?limit=1"+query+after).Must(t, http.StatusOK)
			if a.Len(t, "elements") > 0 {
				if id := a.Int(t, "elements.0.id"); slices.Contains([]int64{free, hers, both, his, its, old}, id) {
					ids = append(ids, id)
				}
			}
			if after = a.At(t, "next"); after != "null" {
				after = "&after=" + a.Text(t, "next")
			}
		}
		return ids
	}
	want := func(when, query string, ids ...int64) {
		t.Helper()
		slices.Sort(ids) // replicas take ids in blocks
		valuetest.List(t, listed(query), ids, "%s%s", when, query)
	}
	want("all are active", "&unattended=true", its)
	s.Delete(t, path("/api/admin/users/%d", una)).Must(t, http.StatusOK)
	want("Una is deactivated", "&unattended=true", hers, its, old)
	want("Una is deactivated", "&unattended=true&current=true&entity_type=Location", hers, its)
	want("Una is deactivated", "&unattended=true&entity_type=Group")
	s.Delete(t, path("/api/admin/users/%d", vic)).Must(t, http.StatusOK)
	want("Vic is too", "&unattended=true&current=true", hers, both, his, its)
	s.Delete(t, path("/api/admin/elements/%d/administrators/%d", hers, una)).Must(t, http.StatusOK)
	want("it has no administrator", "&unattended=true&current=true", both, his, its)
	for _, query := range []string{"unattended=yes", "entity_type=Ghost", "current=maybe", "school=x"} {
		s.Get(t, "/api/admin/elements?"+query).WantCode(t, http.StatusBadRequest)
	}
}
