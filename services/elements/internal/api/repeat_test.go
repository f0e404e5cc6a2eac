package api_test

import (
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart1_IdempotencyKey_AddedMembersAreAnsweredAgainAsTheyWere(t *testing.T) {
	s := newSchool(t)
	group, pupil := s.group(t, "9A"), s.pupil(t, "Pat")
	members := path("/api/admin/elements/%d/members", group)
	body := fields{"members": []fields{{"element_id": pupil, "first_day": "2020-01-01"}}}
	first := s.Do(t, "POST", members, body, "Idempotency-Key", s.mark)
	s.Delete(t, path("%s/%d?from=2020-01-01", members, pupil))
	s.Do(t, "POST", members, body, "Idempotency-Key", s.mark).Want(t, 201, first.Body)
	s.Get(t, members).Equal(t, "members", "[]") // a repeated request brings no membership back
}

func TestDecisionsPart1_ETagAndIfMatch_OfAnElement(t *testing.T) {
	s := newSchool(t)
	element := path("/api/admin/elements/%d", s.group(t, "9A"))
	old := s.Get(t, element).Header.Get("ETag")
	s.Do(t, "GET", element, nil, "If-None-Match", old).Want(t, http.StatusNotModified, "")
	changed := s.Do(t, "PATCH", element, fields{"element": fields{"name": s.mark + " 9B"}}, "If-Match", old)
	if changed.Code != http.StatusOK || changed.Header.Get("ETag") == old ||
		changed.Header.Get("ETag") != s.Get(t, element).Header.Get("ETag") {
		t.Fatalf("%d %s, ETag %q", changed.Code, changed.Body, changed.Header.Get("ETag"))
	}
	for _, call := range [][2]string{{"PATCH", `{"element":{"name":""}}`}, {"DELETE", ``}} {
		s.Do(t, call[0], element, call[1], "If-Match", old).
			Want(t, 412, `{"status":"Precondition failed","message":"the record is not at a version that If-Match names"}`)
		s.Do(t, call[0], element, call[1], "If-Match", "x").WantCode(t, http.StatusBadRequest, call[0])
	}
	for _, same := range []fields{{}, {"name": s.mark + " 9B", "school": nil}} {
		s.Patch(t, element, fields{"element": same}).Want(t, 200, changed.Body)
	}
	valuetest.Same(t, s.Get(t, element).Header.Get("ETag"), changed.Header.Get("ETag"), "after changes without effect")
	s.Get(t, element).Want(t, 200, changed.Body)
	s.Do(t, "DELETE", element, nil, "If-Match", changed.Header.Get("ETag")).Want(t, 200, `{"status":"OK"}`)
	s.Do(t, "DELETE", "/api/admin/elements/999999", nil, "If-Match", "*").
		Want(t, 404, `{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=999999"}`)
}
