package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const notFound = `{"status":"Not found","elements":[]}`

// hits is an answer of GET /api/elements; the link is that of its header.
type hits struct {
	Elements []struct {
		ID   int64
		Name string
	}
	Next *string
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
	paged := !strings.Contains(address, "name") || strings.Contains(address, "limit=") ||
		strings.Contains(address, "after=")
	if a.Has("next") != paged ||
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
	s.Get(t, part+"&entity_type=Pupil&limit=5").Want(t, http.StatusNotFound, notFound)
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
	_, own := s.user(t, "ann", fields{"kind": "pupil", "element": "Pupil:" + s.mark + "Ann"})
	if all := found(t, own, "/api/elements?entity_type=Pupil"); len(all.Elements) != 1 || all.Elements[0].ID != ann {
		t.Errorf("a pupil finds %+v", all)
	}
	first := found(t, s.Client, "/api/elements?entity_type=Pupil&limit=1")
	s.Get(t, first.link).WantCode(t, http.StatusOK)
	for _, after := range []string{*first.Next, path("%d", ann), path("%d", bea)} {
		own.Get(t, "/api/elements?entity_type=Pupil&limit=1&after="+after).WantCode(t, http.StatusBadRequest)
	}
}

func TestWords_AFilterAloneListsElements(t *testing.T) {
	s := newTwoSchools(t)
	ids := s.found(t, path("/api/elements?school=%d&type=Pupil", s.first))
	valuetest.List(t, ids, []int64{s.ann}, "the pupils of a school")
	if all := s.found(t, path("/api/elements?school=%d", s.first)); !slices.Contains(all, s.ann) ||
		!slices.Contains(all, s.year) {
		t.Errorf("all of a school: %d", all)
	}
	s.Get(t, path("/api/elements?school=%d&type=Service", s.first)).
		Want(t, http.StatusOK, `{"status":"OK","elements":[],"next":null}`)
}

func TestWords_ATypeHasTwoNamesAndAnErrorTheOneThatWasSent(t *testing.T) {
	s := newSchool(t)
	for query, message := range map[string]string{
		"elements?type=Teacher":                         "type is not an entity type",
		"elements?entity_type=Teacher":                  "entity_type is not an entity type",
		"elements?type=Staff&entity_type=Pupil":         "type and entity_type differ",
		"admin/elements?type=Teacher":                   "type is not an entity type",
		"admin/elements?type=Staff&entity_type=Subject": "type and entity_type differ",
		"free?entity_type=Pupil":                        "entity_type is not Location, Staff or Property",
		"timetables?entity_type=Teacher":                "entity_type is not an entity type",
	} {
		s.Get(t, "/api/"+query).Must(t, http.StatusBadRequest).Equal(t, "message", `"`+message+`"`)
	}
	for _, query := range []string{"type=Pupil", "type=Pupil&entity_type=Pupil", "entity_type=Pupil"} {
		s.Get(t, "/api/elements?limit=1&"+query).WantCode(t, http.StatusOK)
	}
	create := func(element fields) servicetest.Answer {
		return s.Post(t, "/api/admin/elements", fields{"element": element})
	}
	made := create(fields{"type": "Location", "name": s.mark}).Must(t, http.StatusCreated)
	made.Equal(t, "element.entity_type", `"Location"`)
	at := path("/api/admin/elements/%d", made.Int(t, "element.id"))
	valuetest.Same(t, made.Header.Get("Location"), at, "it is at")
	for sent, elements := range map[string][]fields{ // null is absent
		"type":        {{"type": "Room"}, {"type": "Room", "entity_type": nil}},
		"entity_type": {{"entity_type": "Room"}, {"type": nil, "entity_type": "Room"}},
	} {
		for _, element := range elements {
			element["name"] = s.mark
			create(element).Must(t, http.StatusUnprocessableEntity).
				Equal(t, "element.errors", `{"`+sent+`":["is not an entity type"]}`)
		}
	}
	create(fields{"type": "Location", "entity_type": "Subject", "name": s.mark}).
		Must(t, http.StatusBadRequest).Equal(t, "message", `"type and entity_type differ"`)
}

// The answer was against the document, which asked for a uuid.
func TestCreateElement_AnEmptyUUIDIsRefused(t *testing.T) {
	s := newSchool(t)
	s.Post(t, "/api/admin/elements", fields{"element": fields{"entity_type": "Location", "name": s.mark, "uuid": ""}}).
		Must(t, http.StatusUnprocessableEntity).Equal(t, "element.errors", `{"uuid":["is not a uuid"]}`)
}
