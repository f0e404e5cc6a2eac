package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const notFound = `{"status":"Not found","elements":[]}`

func TestDecisionsPart3_OneTwoAndMoreLettersAreEnough(t *testing.T) {
	s := newSchool(t)
	s.add(t, "subjects", "1", fields{"name": "☀☁"})
	for _, part := range []string{"☀", "☀☁", " ☀☁", s.mark + " ☀☁"} {
		if got := s.names(t, "namelike", part); !slices.Contains(got, s.mark+" ☀☁") {
			t.Errorf("%q: %q", part, got)
		}
	}
}

// hits is an answer of GET /api/elements; the link is that of its header.
type hits struct {
	Elements []struct {
		ID   int64
		Name string
	}
	Next *int64
	link string
}

func found(t *testing.T, c *servicetest.Client, address string) (h hits) {
	t.Helper()
	a := c.Get(t, address).Must(t, http.StatusOK)
	a.Decode(t, &h)
	if text := a.Header.Get("Link"); text != "" {
		link, cut := strings.CutSuffix(strings.TrimPrefix(text, "<"), `>; rel="next"`)
		if h.link = link; !cut {
			t.Errorf("the link of %s is %s", address, text)
		}
	}
	if paged := strings.Contains(address, "limit=") || strings.Contains(address, "after="); a.Has("next") != paged ||
		paged && (h.Next != nil) != (h.link != "") {
		t.Errorf("%s is answered %s with the link %q", address, a.Body, h.link)
	}
	return h
}

func TestClients_ASearchForElementsGoesOnBeyondItsHundred(t *testing.T) {
	s := newSchool(t)
	const all = 105
	records := make([]map[string]any, all)
	for i := range records {
		records[i] = fields{"key": fmt.Sprint(s.mark, i), "name": fmt.Sprintf("%s Item %03d", s.mark, (i*11)%all)}
	}
	s.Import(t, "subjects", records...)
	s.add(t, "locations", "room", fields{"name": "Item 050"})
	part := "/api/elements?namelike=" + s.mark + "+item+"
	first := found(t, s.Client, part)
	if len(first.Elements) != 100 || first.link == "" {
		t.Fatalf("%d elements, and the link %q", len(first.Elements), first.link)
	}
	if rest := found(t, s.Client, first.link); len(rest.Elements) != all+1-100 || rest.link != "" {
		t.Errorf("then %d elements, and the link %q", len(rest.Elements), rest.link)
	}
	var names []string
	for address := part + "&entity_type=Subject&limit=20"; address != ""; {
		page := found(t, s.Client, address)
		for _, e := range page.Elements {
			names = append(names, e.Name)
		}
		address = page.link
	}
	if len(names) != all || !slices.IsSorted(names) || len(slices.Compact(names)) != all {
		t.Errorf("the pages have %q", names)
	}
	if of := found(t, s.Client, "/api/elements?entity_type=Subject&limit=5"); len(of.Elements) != 5 || of.Next == nil {
		t.Errorf("of a type: %+v", of)
	}
	s.Get(t, part+"&entity_type=Pupil").Want(t, http.StatusNotFound, notFound)
	same := "/api/elements?name=" + s.mark + "+Item+050"
	if two := found(t, s.Client, same); len(two.Elements) != 2 || two.link != "" {
		t.Errorf("by name: %+v", two)
	}
	one := found(t, s.Client, same+"&limit=1")
	two := found(t, s.Client, one.link)
	if len(one.Elements) != 1 || len(two.Elements) != 1 || one.Elements[0].ID >= two.Elements[0].ID || two.link != "" {
		t.Errorf("by name, one by one: %+v, then %+v", one, two)
	}
	for _, query := range []string{"entity_type=Teacher", "entity_type=Staff&limit=0", "entity_type=Staff&limit=1001",
		"entity_type=Staff&after=x", "entity_type=Staff&after=999999999"} {
		s.Get(t, "/api/elements?"+query).WantCode(t, http.StatusBadRequest)
	}
}

func TestDecisionsPart9_APlaceInASearchTellsNothingOfWhoIsHidden(t *testing.T) {
	s := newSchool(t)
	ann, bea := s.pupil(t, "Ann"), s.pupil(t, "Bea")
	_, uuid := s.person(t, "ann", fields{"kind": "pupil", "element": "Pupil:" + s.mark + "Ann"})
	own := system(t).Login(t, uuid)
	if all := found(t, own, "/api/elements?entity_type=Pupil"); len(all.Elements) != 1 || all.Elements[0].ID != ann {
		t.Errorf("a pupil finds %+v", all)
	}
	own.Get(t, path("/api/elements?entity_type=Pupil&after=%d", ann)).WantCode(t, http.StatusOK)
	own.Get(t, path("/api/elements?entity_type=Pupil&after=%d", bea)).WantCode(t, http.StatusBadRequest)
}
