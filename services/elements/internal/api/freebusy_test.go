package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// free is an answer about free and busy times.
type free struct {
	Status   string
	Busy     []span
	Elements []struct {
		Element struct{ ID int64 }
		Busy    []span
	}
	Free []span
}

type span struct {
	StartsAt string `json:"starts_at"`
	EndsAt   string `json:"ends_at"`
}

// spans writes them without what is the same in all, the year and the milliseconds.
func spans(all []span) string {
	texts := sequence.Map(all, func(s span) string { return s.StartsAt + "/" + s.EndsAt })
	return strings.NewReplacer("2026-", "", ":00.000", "").Replace(strings.Join(texts, " "))
}

func (s *school) busy(t *testing.T, element int64, query string) string {
	t.Helper()
	var f free
	s.Get(t, path("/api/elements/%d/freebusy%s", element, query)).Must(t, http.StatusOK).Decode(t, &f)
	return spans(f.Busy)
}

func TestFreeBusy_BusyTimesAreMergedAndThroughGroupsOnTheirDays(t *testing.T) {
	s := newSchool(t)
	ann, set, year := s.pupil(t, "Ann"), s.group(t, "set"), s.group(t, "year")
	s.member(t, set, ann, "2026-05-04", "2026-05-05")
	s.member(t, year, set, "2026-05-05", "")
	s.event(t, "one", "2026-05-04 09:00", "2026-05-04 10:00", ann)
	s.event(t, "adjoins", "2026-05-04 10:00", "2026-05-04 11:00", set)
	s.event(t, "overlaps", "2026-05-04 10:30", "2026-05-04 11:30", ann, set)
	s.event(t, "point", "2026-05-04 15:00", "2026-05-04 15:00", ann)
	s.event(t, "camp", "2026-05-04 18:00", "2026-05-07 09:00", year) // Ann is of the year group on the 5th alone
	s.event(t, "after", "2026-05-06 09:00", "2026-05-06 10:00", set)

	want := "05-04T09:00+01:00/05-04T11:30+01:00 05-05T00:00+01:00/05-06T00:00+01:00"
	valuetest.Same(t, s.busy(t, ann, "?start_date=2026-05-03&end_date=2026-05-08"), want)
	s.Get(t, path("/api/elements/%d/freebusy?start_date=2026-05-04", ann)).Want(t, http.StatusOK,
		`{"status":"OK","busy":[{"starts_at":"2026-05-04T09:00:00.000+01:00","ends_at":"2026-05-04T11:30:00.000+01:00"}]}`)
	// as among its neighbours
	s.Get(t, path("/api/elements/%d/freebusy?start_date=2026-05-06", ann)).Want(t, http.StatusOK,
		`{"status":"OK","busy":[]}`)
}

func TestFreeBusy_RejectedAndNotBusyDoNotCount(t *testing.T) {
	s := newSchool(t)
	hall := s.add(t, "locations", "H", fields{"name": "Hall"})
	me, decider := s.user(t, "me", nil)
	s.Put(t, path("/api/admin/elements/%d/administrators/%d", hall, me), nil)
	s.event(t, "pending", "2026-05-04 09:00", "2026-05-04 10:00", hall)
	rejected := s.event(t, "rejected", "2026-05-04 11:00", "2026-05-04 12:00", hall)
	commitment := s.commitments(t, hall, may4).Commitments[1]
	valuetest.MustSame(t, commitment.Event.ID, rejected, "%+v", commitment)
	decider.Patch(t, path("/api/commitments/%d", commitment.ID), fields{"commitment": fields{"status": "rejected"}})
	quiet := s.Import(t, "eventcategories",
		fields{"key": s.mark + "q", "name": s.mark + "q", "busy": false})[s.mark+"q"]
	s.Post(t, "/api/events", fields{"event": fields{"body": "birthday", "event_category_id": quiet,
		"starts_at": "2026-05-04 13:00", "ends_at": "2026-05-04 14:00"}, "elements": []int64{hall}})
	valuetest.MustSame(t, len(s.commitments(t, hall, may4).Commitments), 3, "commitments")
	valuetest.Same(t, s.busy(t, hall, may4), "05-04T09:00+01:00/05-04T10:00+01:00")
}

func TestFreeBusy_AnEventCanBeLeftOut(t *testing.T) {
	s := newSchool(t)
	hall := s.add(t, "locations", "H", fields{"name": "Hall"})
	other := s.add(t, "locations", "O", fields{"name": "Other"})
	lesson := s.event(t, "lesson", "2026-05-04 09:00", "2026-05-04 11:00", hall, other)
	s.event(t, "meeting", "2026-05-04 10:00", "2026-05-04 12:00", hall)
	for query, want := range map[string]string{
		"":                         "05-04T09:00+01:00/05-04T12:00+01:00",
		"&except=":                 "05-04T09:00+01:00/05-04T12:00+01:00",
		path("&except=%d", lesson): "05-04T10:00+01:00/05-04T12:00+01:00",
		"&except=999999999999":     "05-04T09:00+01:00/05-04T12:00+01:00",
	} {
		valuetest.Same(t, s.busy(t, hall, may4+query), want, query)
	}
	var of free
	s.Get(t, path("/api/freebusy?elements=%d,%d&start_date=2026-05-04&minutes=600&except=%d", hall, other, lesson)).
		Must(t, http.StatusOK).Decode(t, &of)
	const want = "05-04T00:00+01:00/05-04T10:00+01:00 05-04T12:00+01:00/05-05T00:00+01:00"
	valuetest.Same(t, spans(of.Free), want, "free")
	rooms, morning := s.group(t, "rooms"), []string{"2026-05-04 09:00", "2026-05-04 10:00"}
	s.member(t, rooms, hall, "", "")
	s.member(t, rooms, other, "", "")
	query := path("type=Location&group=%d", rooms)
	valuetest.Len(t, s.free(t, query, morning[0], morning[1]), 0, "free")
	valuetest.Len(t, s.free(t, query+path("&except=%d", lesson), morning[0], morning[1]), 2,
		"free without the lesson, want both rooms")
	for _, refused := range []string{
		path("/api/elements/%d/freebusy?except=x", hall), path("/api/freebusy?elements=%d&except=-1", hall),
		"/api/free?type=Location&starts_at=2026-05-04&ends_at=2026-05-05&except=0",
		path("/api/free?type=Location&event=%d&except=%d", lesson, lesson),
	} {
		s.Get(t, refused).WantCode(t, http.StatusBadRequest)
	}
}

func TestFreeBusy_CommonFreeSlotsOfMany(t *testing.T) {
	s := newSchool(t)
	ann, bob, set := s.pupil(t, "Ann"), s.pupil(t, "Bob"), s.group(t, "set")
	s.member(t, set, ann, "", "")
	s.member(t, set, bob, "", "")
	s.event(t, "night", "2026-10-24 20:00", "2026-10-25 06:00", set)
	s.event(t, "a", "2026-10-25 07:00", "2026-10-25 09:00", ann)
	s.event(t, "b", "2026-10-25 09:29", "2026-10-25 12:00", bob)
	s.event(t, "late", "2026-10-25 13:00", "2026-10-26 00:00", bob)
	query := path("/api/freebusy?elements=%d,%d,%d&start_date=2026-10-25", bob, ann, bob)
	a := s.Get(t, query)
	var f free
	a.Decode(t, &f)
	if want := "10-25T06:00+00:00/10-25T07:00+00:00 10-25T12:00+00:00/10-25T13:00+00:00"; spans(f.Free) != want ||
		len(f.Elements) != 2 || f.Elements[0].Element.ID != bob {
		t.Errorf("%s\nwant %s", a.Body, want)
	}
	valuetest.Same(t, spans(f.Elements[1].Busy), "10-25T00:00+01:00/10-25T06:00+00:00 "+
		"10-25T07:00+00:00/10-25T09:00+00:00",
		"Ann")
	prefix := path(`{"status":"OK","elements":[{"element":{"id":%d,"name":"Bob %s","entity_type":"Pupil","entity_id":`,
		bob, s.mark)
	if !strings.HasPrefix(a.Body, prefix) ||
		!strings.HasSuffix(a.Body, `"free":[{"starts_at":"2026-10-25T06:00:00.000+00:00","ends_at":"2026-10-25T07:00:00.000+00:00"},`+
			`{"starts_at":"2026-10-25T12:00:00.000+00:00","ends_at":"2026-10-25T13:00:00.000+00:00"}]}`) {
		t.Errorf("order of keys: %s", a.Body)
	}
	for minutes, want := range map[string]int{"1": 3, "29": 3, "30": 2, "60": 2, "61": 0} {
		var f free
		s.Get(t, query+"&minutes="+minutes).Decode(t, &f)
		if len(f.Free) != want {
			t.Errorf("of %s minutes: %s, want %d", minutes, spans(f.Free), want)
		}
	}
}

func TestFreeBusy_FreeBusyIsBounded(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	ids := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(900000 + i)
		}
		return strings.Join(list, ",")
	}
	for _, query := range []string{
		"", "elements=", "elements=x", "elements=1,,2", "elements=0", "elements=-1", "elements=" + ids(51),
		path("elements=%d&minutes=0", ann), path("elements=%d&minutes=x", ann), path("elements=%d&minutes=132481", ann),
		path("elements=%d&minutes=1.5", ann),
		path("elements=%d&start_date=2026-01-01&end_date=2026-04-03", ann),
		path("elements=%d&start_date=2026-02-30", ann),
		path("elements=%d&start_date=2026-05-04&end_date=2026-05-03", ann),
	} {
		if a := s.Get(t, "/api/freebusy?"+query); a.Code != http.StatusBadRequest ||
			!strings.HasPrefix(a.Body, `{"status":"Bad request","message":`) {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	s.Get(t, path("/api/elements/%d/freebusy?start_date=2026-01-01&end_date=2026-04-03", ann)).
		WantCode(t, http.StatusBadRequest, "93 days")
	a := s.Get(t, path("/api/freebusy?elements=%d&start_date=2026-01-01&end_date=2026-04-02", ann)) // 92 days
	if want := `"busy":[]}],"free":[{"starts_at":"2026-01-01T00:00:00.000+00:00","ends_at":"2026-04-03T00:00:00.000+01:00"}]}`; a.Code != http.StatusOK || !strings.HasSuffix(a.Body, want) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	missing := `{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=99999999"}`
	s.Get(t, path("/api/freebusy?elements=%d,99999999", ann)).Want(t, http.StatusNotFound, missing)
	s.Get(t, "/api/elements/99999999/freebusy").Want(t, http.StatusNotFound, missing)
	for _, address := range []string{"/api/freebusy?elements=1", path("/api/elements/%d/freebusy", ann)} {
		system(t).Client(t).Get(t, address).Want(t, http.StatusUnauthorized, `{"status":"Access denied"}`)
	}
}
