package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// free lists the staff of a group that are free.
func (s *School) free(t *testing.T, c *servicetest.Client, group Element, query string) []int64 {
	t.Helper()
	a := c.Get(t, fmt.Sprintf("/api/free?type=Staff&group=%d&%s", group.ID, query)).Must(t, http.StatusOK)
	return a.Ints(t, "elements.#.id")
}

func TestClients_WhatIsFreeAtATime(t *testing.T) {
	proves(t, "clients free: GET /api/free: the current elements of a type that are free for the whole time",
		"clients free event: of an event: its time, for which its own commitments do not count",
		"clients except: free and busy times, and what is free, can leave out one event",
		"clients free group: only those that are in the group on each day",
		"clients free near: first those that share the most groups")
	c := school.Booker(t)
	named := func(initials string) Element {
		return school.Element(t, object{"entity_type": "Staff", "initials": initials, "forename": initials,
			"surname": school.Unique("Free")})
	}
	a, b, d := named("A"), named("B"), named("D")
	set, maths := school.Group(t, a, b, d, school.Location(t)), school.Group(t)
	school.Member(t, maths, d, "", "2019-04-10")
	school.Member(t, maths, b, "", "")
	busy := school.busy(t)
	book := func(starts, ends string, e Element) int64 {
		return school.Event(t, c, servicetest.With(busy, "starts_at", starts, "ends_at", ends), e).Int(t, "event.id")
	}
	lesson := book("2019-04-10 09:00", "2019-04-10 10:00", a)
	book("2019-04-10 09:30", "2019-04-10 11:00", maths)
	book("2019-04-10 14:00", "2019-04-10 14:00", a)
	school.book(t, c, "not busy", "2019-04-10 08:00", "2019-04-10 18:00", set)
	for query, want := range map[string][]int64{
		"starts_at=2019-04-10T08:00&ends_at=2019-04-10T09:00":                                {a.ID, b.ID, d.ID},
		"starts_at=2019-04-10T09:00&ends_at=2019-04-10T09:30":                                {b.ID, d.ID},
		"starts_at=2019-04-10T09:59&ends_at=2019-04-10T10:00":                                {},
		"starts_at=2019-04-10T10:00&ends_at=2019-04-10T11:00":                                {a.ID},
		"starts_at=2019-04-10T13:30&ends_at=2019-04-10T14:00":                                {a.ID, b.ID, d.ID},
		"starts_at=2019-04-10T13:59:59&ends_at=2019-04-10T14:00:01":                          {b.ID, d.ID},
		"starts_at=2019-04-10T14:01&ends_at=2019-04-10T15:00":                                {a.ID, b.ID, d.ID},
		"starts_at=2019-04-11&ends_at=2019-04-12":                                            {a.ID, b.ID, d.ID},
		fmt.Sprintf("event=%d", lesson):                                                      {a.ID},
		fmt.Sprintf("starts_at=2019-04-10T09:00&ends_at=2019-04-10T09:30&except=%d", lesson): {a.ID, b.ID, d.ID},
		fmt.Sprintf("starts_at=2019-04-10T12:00&ends_at=2019-04-10T13:00&near=%d", d.ID):     {b.ID, d.ID, a.ID},
		fmt.Sprintf("starts_at=2019-04-11T12:00&ends_at=2019-04-11T13:00&near=%d", d.ID):     {a.ID, b.ID, d.ID},
	} {
		equal(t, query, school.free(t, c, set, query), want)
	}
	c.Get(t, fmt.Sprintf("/api/elements/%d/freebusy?start_date=2019-04-10&except=%d", a.ID, lesson)).Want(t,
		http.StatusOK, `{"status":"OK","busy":[]}`)
	equal(t, "of a group on both days", school.free(t, c, maths, "starts_at=2019-04-10T12:00&ends_at=2019-04-11T13:00"),
		[]int64{b.ID})
	school.Admin().Delete(t, elementAdmin(d)).Must(t, http.StatusOK)
	equal(t, "of the current", school.free(t, c, set, "starts_at=2019-04-11&ends_at=2019-04-12"), []int64{a.ID, b.ID})
}

func TestClients_WhatIsFreeIsRefused(t *testing.T) {
	proves(t,
		"clients free refused: another type, no time or two, an end that is not after the start, 93 days: 400; "+
			"unknown ids: 404")
	c, staff := school.Booker(t), school.Staff(t)
	const day = "&starts_at=2019-04-10&ends_at=2019-04-11"
	for _, query := range []string{
		"type=Pupil" + day, day[1:], "type=Staff", "type=Staff&starts_at=2019-04-10", "type=Staff&event=5" + day,
		"type=Staff&starts_at=2019-04-10&ends_at=2019-04-10", "type=Staff&starts_at=2019-04-11&ends_at=2019-04-10",
		"type=Staff&starts_at=x&ends_at=2019-04-10", "type=Staff&starts_at=2019-01-01&ends_at=2019-04-04",
		fmt.Sprintf("type=Staff&group=%d", staff.ID) + day, "type=Staff&near=x" + day, "type=Staff&event=x",
	} {
		c.Get(t, "/api/free?"+query).WantCode(t, http.StatusBadRequest)
	}
	for query, record := range map[string]string{"event=": "Event", "x=" + day + "&group=": "Element",
		"x=" + day + "&near=": "Element"} {
		c.Get(t, "/api/free?type=Staff&"+query+"999999999999").Want(t, http.StatusNotFound, `{"status":"Not found",`+
			`"exception":"RecordNotFound","message":"Couldn't find `+record+` with 'id'=999999999999"}`)
	}
}
