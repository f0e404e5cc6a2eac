package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// free lists what is free, from a time to another where they are given.
func (s *school) free(t *testing.T, query, from, to string) []int64 {
	t.Helper()
	if from != "" {
		query += "&starts_at=" + url.QueryEscape(from) + "&ends_at=" + url.QueryEscape(to)
	}
	return idsIn(t, s.Get(t, "/api/free?"+query).Must(t, http.StatusOK), "elements")
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

func TestFree_SlotsAreWhenAllAreFreeWithinTheHoursOfEachDay(t *testing.T) {
	s := newSchool(t)
	ann, hall, set := s.staff(t, "A"), s.add(t, "locations", "H", fields{"name": "Hall"}), s.group(t, "set")
	s.member(t, set, ann, "2026-10-26", "2026-10-26")
	lesson := s.event(t, "lesson", "2026-10-24 09:00", "2026-10-24 10:00", ann)
	s.event(t, "assembly", "2026-10-24 10:20", "2026-10-24 12:00", hall)
	s.event(t, "night", "2026-10-24 23:00", "2026-10-25 09:30", hall) // in it the clock goes back
	s.event(t, "trip", "2026-10-26 00:00", "2026-10-28 00:00", set)   // Ann is of the set on the 26th alone
	slots := func(query string) string {
		t.Helper()
		var f struct{ Slots []span }
		s.Get(t, path("/api/free?slots=%d,%d,%d&", hall, ann, hall)+query).Must(t, http.StatusOK).Decode(t, &f)
		return spans(f.Slots)
	}
	for query, want := range map[string]string{
		"start_date=2026-10-24&opens=08:30&closes=13:00&minutes=20": "10-24T08:30+01:00/10-24T09:00+01:00 " +
			"10-24T10:00+01:00/10-24T10:20+01:00 10-24T12:00+01:00/10-24T13:00+01:00",
		"start_date=2026-10-24&opens=08:30&closes=13:00": "10-24T08:30+01:00/10-24T09:00+01:00 " +
			"10-24T12:00+01:00/10-24T13:00+01:00",
		path("start_date=2026-10-24&opens=08:30&closes=11:00&except=%d", lesson): "10-24T08:30+01:00/10-24T10:20+01:00",
		"start_date=2026-10-24&end_date=2026-10-27&opens=09:00&closes=10:00": "10-25T09:30+00:00/10-25T10:00+00:00 " +
			"10-27T09:00+00:00/10-27T10:00+00:00",
		"start_date=2026-10-24&end_date=2026-10-25&opens=12:30&closes=24:00&minutes=600": "" +
			"10-24T12:30+01:00/10-24T23:00+01:00 10-25T12:30+00:00/10-26T00:00+00:00",
		"start_date=2026-10-27&end_date=2026-10-28": "10-27T00:00+00:00/10-28T00:00+00:00 " +
			"10-28T00:00+00:00/10-29T00:00+00:00",
		"start_date=2026-10-26": "",
	} {
		valuetest.Same(t, slots(query), want, query)
	}
}

func TestFree_SlotsAreBoundedAndTakeNothingOfTheOtherQuestion(t *testing.T) {
	s := newSchool(t)
	ann := s.staff(t, "A")
	many := strings.TrimSuffix(strings.Repeat(path("%d,", ann), 60), ",")
	s.Get(t, "/api/free?start_date=2026-05-01&end_date=2026-05-14&minutes=1440&slots="+many).Must(t, http.StatusOK)
	var different strings.Builder
	for i := range 51 {
		fmt.Fprint(&different, ",", 900000+i)
	}
	for query, want := range map[string]string{
		"slots=" + different.String()[1:]: "slots has more than 50 ids",
		"slots=x":                         "slots is not a list of ids",
		path("slots=%d&start_date=2026-05-01&end_date=2026-05-15", ann): "end_date is more than 13 days after " +
			"start_date",
		path("slots=%d&start_date=2026-05-32", ann):                      "start_date is not a date (YYYY-MM-DD)",
		path("slots=%d&minutes=1441", ann):                               "minutes is not a number from 1 to 1440",
		path("slots=%d&minutes=0", ann):                                  "minutes is not a number from 1 to 1440",
		path("slots=%d&opens=8:30", ann):                                 "opens is not a time of day (HH:MM)",
		path("slots=%d&closes=24:30", ann):                               "closes is not a time of day (HH:MM)",
		path("slots=%d&opens=10:00&closes=10:00", ann):                   "closes is not after opens",
		path("slots=%d&closes=00:00", ann):                               "closes is not after opens",
		path("slots=%d&except=x", ann):                                   "except is not an id",
		path("slots=%d&type=Staff", ann):                                 "type can't be given beside slots",
		path("slots=%d&starts_at=2026-05-01", ann):                       "starts_at can't be given beside slots",
		"type=Staff&starts_at=2026-05-01&ends_at=2026-05-02&opens=08:00": "opens is only for slots",
		"type=Staff&starts_at=2026-05-01&ends_at=2026-05-02&minutes=30":  "minutes is only for slots",
	} {
		a := s.Get(t, "/api/free?"+query)
		if a.Code != http.StatusBadRequest || a.Text(t, "message") != want {
			t.Errorf("%s: %d %s, want %s", query, a.Code, a.Body, want)
		}
	}
	s.Get(t, path("/api/free?slots=%d,99999999", ann)).Want(t, http.StatusNotFound,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=99999999"}`)
}

// TestFree_AmongThousands has more locations than one question allows, of which a group has 1,500. Until then it asks
// for the timetables of all.
func TestFree_AmongThousands(t *testing.T) {
	const rooms, inGroup = 2001, 1500
	own := servicetest.Start(t, servicetest.Options{})
	s := &school{Client: own.Admin(t), mark: "M"}
	site := s.group(t, "site")
	b, a, again := s.add(t, "locations", "B", fields{"name": "B"}), s.add(t, "locations", "A", fields{"name": "A"}),
		s.add(t, "locations", "again", fields{"name": "A"})
	retire := func(id int64) { s.Delete(t, path("/api/admin/elements/%d", id)).Must(t, http.StatusOK) }
	retire(s.add(t, "locations", "retired", fields{"name": "A"}))
	s.event(t, "x", "2026-05-04 09:00", "2026-05-04 10:00", a, b)
	equalIDs(t, "locations by name", s.timetables(t, "type=Location", may4to6), a, again, b)
	equalIDs(t, "services", s.timetables(t, "type=Service", may4to6))
	s.Get(t, "/api/timetables?type=Pupil").Want(t, http.StatusOK, `{"status":"OK","timetables":[]}`)
	retire(a)
	retire(b)
	var all []int64
	for first := 0; first < rooms; first += 500 {
		if first == 1000 { // and one by name
			s.Get(t, "/api/timetables?type=Location").Want(t, http.StatusBadRequest,
				`{"status":"Bad request","message":"more than 1000 elements: ask for those of a group"}`)
			retire(again)
		}
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
	valuetest.List(t, free, want, "rooms are free")
	retire(all[0])
	valuetest.Same(t, len(s.free(t, "type=Location", from, to)), rooms-3, "of all %d: are free", rooms-1)
}
