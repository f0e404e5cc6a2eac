package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// free lists what is free, from a time to another where they are given.
func (s *school) free(t *testing.T, query, from, to string) []int64 {
	t.Helper()
	if from != "" {
		query += "&starts_at=" + url.QueryEscape(from) + "&ends_at=" + url.QueryEscape(to)
	}
	var list struct{ Elements []struct{ ID int64 } }
	s.Get(t, "/api/free?"+query).Must(t, http.StatusOK).Decode(t, &list)
	ids := []int64{}
	for _, e := range list.Elements {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestFree_AreThoseThatNothingBusyHolds(t *testing.T) {
	s := newSchool(t)
	all, maths, year := s.group(t, "all"), s.group(t, "maths"), s.group(t, "year")
	a, b, c, d, pupil := s.staff(t, "A"), s.staff(t, "B"), s.staff(t, "C"), s.staff(t, "D"), s.pupil(t, "Ann")
	for _, id := range []int64{a, b, c, pupil, maths} {
		s.member(t, all, id, "", "")
	}
	s.member(t, maths, d, "", "")
	s.member(t, year, c, "2026-05-05", "2026-05-05")
	s.event(t, "lesson", "2026-05-04 09:00", "2026-05-04 10:00", a)
	s.event(t, "meeting", "2026-05-04 11:00", "2026-05-04 12:00", maths)
	s.event(t, "a point", "2026-05-04 09:30", "2026-05-04 09:30", b)
	s.event(t, "camp", "2026-05-04 18:00", "2026-05-07 09:00", year) // C is of the year on the 5th alone
	quiet := s.Import(t, "eventcategories", fields{"key": s.mark + "q", "name": s.mark + "q"})[s.mark+"q"]
	s.Post(t, "/api/events", fields{"event": fields{"body": "birthday", "event_category_id": quiet,
		"starts_at": "2026-05-04 09:00", "ends_at": "2026-05-04 17:00"}, "elements": []int64{b}}).Must(t, http.StatusOK)

	group := path("type=Staff&group=%d", all)
	for _, one := range []struct {
		from, to string
		want     []int64
	}{
		{"2026-05-04 09:00", "2026-05-04 10:00", []int64{c, d}},
		{"2026-05-04 09:31", "2026-05-04 10:00", []int64{b, c, d}},
		{"2026-05-04 09:00", "2026-05-04 09:30", []int64{b, c, d}},
		{"2026-05-04 08:00", "2026-05-04 09:00", []int64{a, b, c, d}},
		{"2026-05-04 10:00", "2026-05-04 11:00", []int64{a, b, c, d}},
		{"2026-05-04 09:59:59", "2026-05-04 11:00:01", []int64{b, c}},
		{"2026-05-04T08:30:00Z", "2026-05-04T08:31:00Z", []int64{c, d}},
		{"2026-05-04 19:00", "2026-05-04 20:00", []int64{a, b, c, d}},
		{"2026-05-05 00:00", "2026-05-05 00:01", []int64{a, b, d}},
		{"2026-05-05", "2026-05-06", []int64{a, b, d}},
		{"2026-05-06", "2026-05-07", []int64{a, b, c, d}},
		{"2026-05-01", "2026-05-31", []int64{}},
	} {
		equalIDs(t, one.from+" to "+one.to, s.free(t, group, one.from, one.to), one.want...)
	}
	equalIDs(t, "rooms", s.free(t, path("type=Location&group=%d", all), "2026-05-04", "2026-05-05"))
	s.Get(t, path("/api/free?type=Staff&group=%d&starts_at=2026-05-04&ends_at=2026-05-05", maths)).Want(t,
		http.StatusOK, `{"status":"OK","elements":[]}`)
	s.Delete(t, path("/api/admin/elements/%d", d)).Must(t, http.StatusOK)
	equalIDs(t, "of the current", s.free(t, group, "2026-05-04 09:00", "2026-05-04 10:00"), c)
}

// TestFree_IsWhatFreeBusySays asks both of all staff at 30 times of some days with many events.
func TestFree_IsWhatFreeBusySays(t *testing.T) {
	s := newSchool(t)
	all := s.group(t, "all")
	var staff, groups []int64
	for i := range 12 {
		id := s.staff(t, fmt.Sprintf("S%02d", i))
		staff = append(staff, id)
		s.member(t, all, id, "", "")
		if i%4 == 0 {
			groups = append(groups, s.group(t, fmt.Sprint("G", i)))
		}
		first := path("2026-10-%02d", 23+i%4)
		s.member(t, groups[len(groups)-1], id, first, "")
		s.event(t, "own", first+path(" %02d:15", i), first+path(" %02d:45", i+i%5), id)
	}
	for i, g := range groups {
		s.event(t, "night", path("2026-10-%02d 2%d:00", 24+i%2, i), "2026-10-26 01:30", g)
	}
	asked, found := 0, 0
	for hour := range 30 {
		day, clock := 24+hour/10, path("%02d", hour%10*2)
		from, to := path("2026-10-%02d %s:00", day, clock), path("2026-10-%02d %s:20", day, clock)
		busy := map[int64]bool{}
		var f free
		ids := strings.Trim(strings.ReplaceAll(fmt.Sprint(staff), " ", ","), "[]")
		s.Get(t, path("/api/freebusy?elements=%s&start_date=2026-10-%02d", ids, day)).Decode(t, &f)
		begins, ends := strings.Replace(from, " ", "T", 1)+":00", strings.Replace(to, " ", "T", 1)+":00"
		for _, e := range f.Elements {
			for _, b := range e.Busy { // all are of one offset, but on the 25th, whose first hours are not asked for
				if b.StartsAt[:19] < ends && b.EndsAt[:19] > begins {
					busy[e.Element.ID] = true
				}
			}
		}
		want := slices.DeleteFunc(slices.Clone(staff), func(id int64) bool { return busy[id] })
		equalIDs(t, from, s.free(t, path("type=Staff&group=%d", all), from, to), want...)
		asked, found = asked+len(staff), found+len(want)
	}
	if t.Logf("%d of %d were free", found, asked); found < 60 || found > asked-60 {
		t.Error("this proves little")
	}
}

// TestFree_AmongThousands has more locations than one question allows, of which a group has 1,500.
func TestFree_AmongThousands(t *testing.T) {
	const rooms, inGroup = 2001, 1500
	own := servicetest.Start(t, servicetest.Options{})
	s := &school{Client: own.Admin(t), mark: "M"}
	site := s.group(t, "site")
	var all []int64
	for first := 0; first < rooms; first += 500 {
		var records, members []fields
		for i := first; i < min(first+500, rooms); i++ {
			records = append(records, fields{"key": fmt.Sprint(i), "name": path("Room %04d", i)})
		}
		ids := s.Import(t, "locations", records...)
		for i := first; i < min(first+500, rooms); i++ {
			all = append(all, ids[fmt.Sprint(i)])
			members = append(members, fields{"element_id": ids[fmt.Sprint(i)]})
		}
		if first < inGroup {
			s.Post(t, path("/api/admin/elements/%d/members", site), fields{"members": members}).
				Must(t, http.StatusCreated)
		}
	}
	s.event(t, "taken", "2026-05-04 09:00", "2026-05-04 10:00", all[3], all[1000])
	const from, to = "2026-05-04 09:30", "2026-05-04 09:40"
	s.Get(t, "/api/free?type=Location&starts_at=2026-05-04&ends_at=2026-05-05").Want(t, http.StatusBadRequest,
		`{"status":"Bad request","message":"more than 2000 elements: ask for those of a group"}`)
	free := s.free(t, path("type=Location&group=%d", site), from, to)
	want := slices.Concat(all[:3], all[4:1000], all[1001:inGroup])
	if !slices.Equal(free, want) {
		t.Errorf("%d rooms are free, want %d", len(free), len(want))
	}
	s.Delete(t, path("/api/admin/elements/%d", all[0])).Must(t, http.StatusOK)
	if free := s.free(t, "type=Location", from, to); len(free) != rooms-3 {
		t.Errorf("of all %d: %d are free", rooms-1, len(free))
	}
}
