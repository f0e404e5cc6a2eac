package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// soon is a day in the window of every feed, as tests write it.
func soon(t *testing.T) string { t.Helper(); return time.Now().AddDate(0, 0, 30).Format(time.DateOnly) }

// read reads a calendar and returns what it has of each event: summary and location.
func read(t *testing.T, a servicetest.Answer) (events []string, whole *ical.Calendar) {
	t.Helper()
	if a.Code != http.StatusOK || a.Header.Get("Content-Type") != "text/calendar; charset=utf-8" {
		t.Fatalf("%d %v %s", a.Code, a.Header, a.Body)
	}
	whole, err := ical.NewDecoder(bytes.NewReader([]byte(a.Body))).Decode()
	errortest.None(t, err, a.Body)
	for _, e := range whole.Events() {
		summary, _ := e.Props.Text("SUMMARY")
		location, _ := e.Props.Text("LOCATION")
		events = append(events, summary+"@"+location)
	}
	return events, whole
}

// newFeed makes a feed and returns its id and path.
func newFeed(t *testing.T, c *servicetest.Client, element int64) (id int64, address string) {
	t.Helper()
	a := c.Post(t, path("/api/elements/%d/feeds", element), nil)
	id, address = readFeed(t, a, http.StatusCreated, "Created")
	at := path("/api/elements/%d/feeds", element)
	valuetest.Same(t, a.Header.Get("Location"), at, "made at")
	return id, address
}

// renewFeed gives a feed another address and returns that.
func renewFeed(t *testing.T, c *servicetest.Client, element, id int64) string {
	t.Helper()
	a := c.Post(t, path("/api/elements/%d/feeds/%d/address", element, id), nil)
	renewed, address := readFeed(t, a, http.StatusOK, "OK")
	valuetest.MustSame(t, renewed, id, "feed %d was renewed, not %d", renewed, id)
	return address
}

func readFeed(t *testing.T, a servicetest.Answer, code int, status string) (id int64, address string) {
	t.Helper()
	var made struct {
		Status string
		Feed   struct {
			ID   int64
			Path string
		}
	}
	a.Decode(t, &made)
	if a.Code != code || made.Status != status ||
		!regexp.MustCompile(`^/ical/[a-z2-7]{52}\.ics$`).MatchString(made.Feed.Path) {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	return made.Feed.ID, made.Feed.Path
}

func TestCalendar_ACalendarHasWhatIsFirmByDateFromAYearAgoToAYearAhead(t *testing.T) {
	s := newSchool(t)
	ann, set := s.pupil(t, "Ann"), s.group(t, "set")
	room := s.add(t, "locations", "R", fields{"name": "Room", "short_name": "R1"})
	asked := s.add(t, "locations", "Q", fields{"name": "Controlled", "short_name": "Q1"})
	keeper := s.account(t, "keeper", nil)
	s.Put(t, path("/api/admin/elements/%d/administrators/%d", asked, keeper), nil)
	day := soon(t)
	s.member(t, set, ann, "", day)
	s.event(t, "lesson", day+" 09:00", day+" 10:00", set, room, asked)
	s.event(t, "both", day+" 11:00", day+" 12:00", set, ann)
	s.event(t, "left", time.Now().AddDate(0, 0, 31).Format(time.DateOnly)+" 09:00",
		time.Now().AddDate(0, 0, 31).Format(time.DateOnly)+" 10:00", set)
	for name, days := range map[string]int{"too old": -370, "old": -360, "ahead": 360, "too far": 370} {
		on := time.Now().AddDate(0, 0, days).Format(time.DateOnly)
		s.event(t, name, on+" 09:00", on+" 10:00", ann)
	}
	events, _ := read(t, s.Get(t, path("/api/elements/%d/calendar.ics", ann)))
	valuetest.Same(t, strings.Join(events, " "), "old@ lesson@R1 both@ ahead@")
	if events, _ := read(t, s.Get(t, path("/api/elements/%d/calendar.ics", asked))); len(events) != 0 {
		t.Errorf("what is only requested: %v", events)
	}
	s.Get(t, "/api/elements/99999999/calendar.ics").Want(t, http.StatusNotFound,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=99999999"}`)
	system(t).Client(t).Get(t, path("/api/elements/%d/calendar.ics", ann)).Want(t, http.StatusUnauthorized,
		`{"status":"Access denied"}`)
}

func TestCalendar_TheNameOfAnEventStaysAndItsSequenceRises(t *testing.T) {
	s := newSchool(t)
	ann, bob := s.pupil(t, "Ann"), s.pupil(t, "Bob")
	day := soon(t)
	event := s.event(t, "lesson", day+" 09:00", day+" 10:00", ann, bob)
	props := func(element int64) (uid, sequence, stamp string) {
		_, whole := read(t, s.Get(t, path("/api/elements/%d/calendar.ics", element)))
		e := whole.Events()[0]
		valuetest.Same(t, e.Props.Get("DTSTAMP").Value, e.Props.Get("LAST-MODIFIED").Value, "%+v", e.Props)
		return e.Props.Get("UID").Value, e.Props.Get("SEQUENCE").Value, e.Props.Get("DTSTAMP").Value
	}
	uid, sequence, stamp := props(ann)
	if !regexp.MustCompile(path(`^event-%d@[A-Z2-7]{26}$`, event)).MatchString(uid) || sequence != "0" {
		t.Errorf("%s %s", uid, sequence)
	}
	if written, err := time.Parse("20060102T150405Z", stamp); err != nil || time.Since(written) > time.Minute {
		t.Errorf("stamp %s: %v", stamp, err)
	}
	other, _, _ := props(bob)
	valuetest.Same(t, other, uid, "%s in one calendar, in another", uid)
	s.Patch(t, path("/api/events/%d", event), fields{"event": fields{"starts_at": day + " 09:15"}})
	if again, risen, _ := props(ann); again != uid || risen != "1" {
		t.Errorf("%s %s after a change, %s before", again, risen, uid)
	}
}

func TestCalendar_TheTagIsOfTheContent(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	address := path("/api/elements/%d/calendar.ics", ann)
	first := s.Get(t, address)
	tag := first.Header.Get("Etag")
	if !regexp.MustCompile(`^"[0-9a-f]{32}"$`).MatchString(tag) ||
		first.Header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%v", first.Header)
	}
	for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		if a := s.Do(t, "GET", address, nil, "If-None-Match", known); a.Code != http.StatusNotModified ||
			a.Body != "" || a.Header.Get("Etag") != tag {
			t.Errorf("%s: %d %v %q", known, a.Code, a.Header, a.Body)
		}
	}
	day := soon(t)
	s.event(t, "new", day+" 09:00", day+" 10:00", ann)
	if a := s.Do(t, "GET", address, nil, "If-None-Match", tag); a.Code != http.StatusOK ||
		a.Header.Get("Etag") == tag || !strings.Contains(a.Body, "SUMMARY:new\r\n") {
		t.Errorf("%d %v %s", a.Code, a.Header, a.Body)
	}
}

func TestCalendar_AFeedIsOfOneUserAndElementAndCanBeRevoked(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	day := soon(t)
	s.event(t, "lesson", day+" 09:00", day+" 10:00", ann)
	_, mine := s.user(t, "mine", nil)
	_, other := s.user(t, "other", nil)
	public := system(t).Client(t)
	list := path("/api/elements/%d/feeds", ann)

	mine.Get(t, list).Want(t, http.StatusOK, `{"status":"OK","feeds":[]}`)
	id, first := newFeed(t, mine, ann)
	events, _ := read(t, public.Get(t, first))
	valuetest.Same(t, strings.Join(events, " "), "lesson@")
	public.Do(t, "GET", first, nil, "If-None-Match", public.Get(t, first).Header.Get("Etag")).
		WantCode(t, http.StatusNotModified)
	if a := mine.Get(t, list); a.Code != http.StatusOK || strings.Contains(a.Body, "ical") ||
		!strings.HasPrefix(a.Body, path(
			`{"status":"OK","feeds":[{"id":%d,"name":"Calendar","element":{"id":%d,`, id, ann)) ||
		!strings.HasSuffix(a.Body, `"valid":true}]}`) {
		t.Errorf("%s", a.Body)
	}
	other.Get(t, list).Want(t, http.StatusOK, `{"status":"OK","feeds":[]}`)
	missing := path(`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Feed with 'id'=%d"}`,
		id)
	other.Delete(t, path("%s/%d", list, id)).Want(t, http.StatusNotFound, missing)

	other.Post(t, path("%s/%d/address", list, id), nil).Want(t, http.StatusNotFound, missing)
	second := renewFeed(t, mine, ann, id)
	gone := `{"status":"Not found"}`
	public.Get(t, first).Want(t, http.StatusNotFound, gone)
	_, theirs := newFeed(t, other, ann)
	mine.Delete(t, path("%s/%d", list, id)).Want(t, http.StatusOK, `{"status":"OK"}`)
	mine.Delete(t, path("%s/%d", list, id)).Want(t, http.StatusNotFound, missing)
	public.Get(t, second).Want(t, http.StatusNotFound, gone)
	public.Get(t, theirs).WantCode(t, http.StatusOK, "another's feed")
	for _, address := range []string{"/ical/x.ics", "/ical/.ics", strings.TrimSuffix(theirs, ".ics"), "/ical/"} {
		public.Get(t, address).Want(t, http.StatusNotFound, gone)
	}
	mine.Post(t, "/api/elements/99999999/feeds", nil).Want(t, http.StatusNotFound,
		`{"status":"Not found","exception":"RecordNotFound","message":"Couldn't find Element with 'id'=99999999"}`)
	public.Post(t, list, nil).Want(t, http.StatusUnauthorized, `{"status":"Access denied"}`)
}

// The name was refused before anything was said of the element and the rights.
func TestCalendar_MissingAndForbiddenComeBeforeANameThatIsNoText(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	_, staff := s.user(t, "staff", nil)
	_, guest := s.user(t, "guest", fields{"kind": "guest"})
	body := fields{"feed": fields{"name": 7}}
	staff.Post(t, "/api/elements/99999999/feeds", body).WantCode(t, http.StatusNotFound)
	guest.Post(t, path("/api/elements/%d/feeds", ann), body).WantCode(t, http.StatusForbidden)
	staff.Post(t, path("/api/elements/%d/feeds", ann), body).WantCode(t, http.StatusUnprocessableEntity)
}

func TestCalendar_ASecondFeedDoesNotEndTheFirst(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	_, mine := s.user(t, "mine", nil)
	public, list := system(t).Client(t), path("/api/elements/%d/feeds", ann)
	named := func(name any) (int64, string) {
		t.Helper()
		return readFeed(t, mine.Post(t, list, fields{"feed": fields{"name": name}}), http.StatusCreated, "Created")
	}
	phone, first := named(" Phone ")
	tablet, second := named("Tablet")
	_, third := named("Phone")
	_, fourth := named(nil)
	names := func() string {
		t.Helper()
		var listed struct{ Feeds []struct{ Name string } }
		mine.Get(t, list).Must(t, http.StatusOK).Decode(t, &listed)
		return fmt.Sprint(listed.Feeds)
	}
	valuetest.Same(t, names(), "[{Calendar} {Phone} {Phone} {Tablet}]")
	for _, address := range []string{first, second, third, fourth} {
		public.Get(t, address).WantCode(t, http.StatusOK)
	}
	mine.Delete(t, path("%s/%d", list, phone)).Must(t, http.StatusOK)
	renewed := renewFeed(t, mine, ann, tablet)
	for address, code := range map[string]int{
		first: http.StatusNotFound, second: http.StatusNotFound, renewed: http.StatusOK, third: http.StatusOK,
		fourth: http.StatusOK,
	} {
		public.Get(t, address).WantCode(t, code)
	}
	valuetest.Same(t, names(), "[{Calendar} {Phone} {Tablet}]")
	mine.Post(t, path("%s/%d/address", list, phone), nil).WantCode(t, http.StatusNotFound)
}

func TestCalendar_AFeedsNameAndTheNumberOfFeedsAreBounded(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	user, mine := s.user(t, "mine", nil)
	list := path("/api/elements/%d/feeds", ann)
	for _, name := range []any{"", " ", strings.Repeat("x", 101), "a\nb", 7} {
		a := mine.Post(t, list, fields{"feed": fields{"name": name}})
		if a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Body, `"errors":{"name":[`) {
			t.Errorf("%q: %d %s", name, a.Code, a.Body)
		}
	}
	mine.Post(t, list, fields{"feed": "Phone"}).WantCode(t, http.StatusBadRequest)
	mine.Post(t, list, fields{"feed": fields{"name": strings.Repeat("x", 100)}}).Must(t, http.StatusCreated)
	var last int64
	for range 9 {
		last, _ = newFeed(t, mine, ann)
	}
	full := `{"status":"Conflict","message":"there are 10 feeds of the element already: end one of them"}`
	mine.Post(t, list, nil).Want(t, http.StatusConflict, full)
	newFeed(t, mine, s.pupil(t, "Bob"))
	mine.Delete(t, path("%s/%d", list, last)).Must(t, http.StatusOK)
	newFeed(t, mine, ann)
	mine.Post(t, list, nil).Want(t, http.StatusConflict, full)

	// Those that ended with the user don't count.
	again := s.renewed(t, user)
	for range 10 {
		newFeed(t, again, ann)
	}
	again.Post(t, list, nil).Want(t, http.StatusConflict, full)
}

func TestHardToBreak_Row12_WhoMakesAFeedOfWhat(t *testing.T) {
	s := newSchool(t)
	ann, bob, tutor := s.pupil(t, "Ann"), s.pupil(t, "Bob"), s.staff(t, "TT")
	hall := s.add(t, "locations", "hall", fields{"name": "Hall"})
	things := []int64{hall, s.group(t, "set"), s.add(t, "properties", "term", fields{"name": "Term"})}
	everything := append([]int64{ann, bob, tutor}, things...)
	isAnn := fields{"kind": "pupil", "element": "Pupil:" + s.mark + "Ann"}
	for name, c := range map[string]struct {
		more fields
		may  []int64
	}{
		"guest":         {fields{"kind": "guest"}, nil},
		"pupil":         {isAnn, []int64{ann, hall}},
		"pupil of none": {fields{"kind": "pupil"}, []int64{hall}},
		"staff":         {fields{"kind": "staff", "element": "Staff:" + s.mark + "TT"}, everything},
		"script":        {fields{"kind": "staff"}, everything},
	} {
		_, client := s.user(t, strings.ReplaceAll(name, " ", ""), c.more)
		for _, element := range everything {
			want := http.StatusForbidden
			if slices.Contains(c.may, element) {
				want = http.StatusCreated
			}
			client.Post(t, path("/api/elements/%d/feeds", element), nil).WantCode(t, want,
				"%s, element %d", name, element)
		}
	}
}

// TestHardToBreak_Row12_AFeedEndsWithItsUserForGood has what the conformance suite and the test of worksFor leave out.
func TestHardToBreak_Row12_AFeedEndsWithItsUserForGood(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	public := system(t).Client(t)
	address := func(id int64) string { return path("/api/admin/users/%d", id) }
	imported := func(all ...fields) func(*testing.T, int64, string) {
		return func(t *testing.T, _ int64, key string) {
			for _, more := range all {
				s.account(t, key, more)
			}
		}
	}
	for name, c := range map[string]struct {
		end  func(t *testing.T, id int64, key string)
		ends bool
	}{
		"deleted": {func(t *testing.T, id int64, _ string) {
			s.Delete(t, address(id)).Must(t, http.StatusOK)
			s.Patch(t, address(id), fields{"user": fields{"active": true}}).Must(t, http.StatusOK)
		}, true},
		"another uuid by import": {imported(fields{"uuid": "another-uuid-" + s.mark}), true},
		"deactivated by import":  {imported(fields{"active": false}, fields{"active": true}), true},
		"another name":           {imported(fields{"name": "other"}), false},
		"sessions ended": {func(t *testing.T, id int64, _ string) {
			s.Delete(t, address(id)+"/sessions").Must(t, http.StatusOK)
		}, false},
		"nothing happens": {imported(), false},
	} {
		t.Run(name, func(t *testing.T) {
			key := strings.ReplaceAll(name, " ", "")
			id, client := s.user(t, key, nil)
			_, feed := newFeed(t, client, ann)
			public.Get(t, feed).WantCode(t, http.StatusOK)
			c.end(t, id, key)
			want := http.StatusOK
			if c.ends {
				want = http.StatusNotFound
			}
			public.Get(t, feed).WantCode(t, want)
			client = s.renewed(t, id) // which ends any feed
			list := path("/api/elements/%d/feeds", ann)
			client.Get(t, list).Want(t, http.StatusOK, `{"status":"OK","feeds":[]}`)
			_, again := newFeed(t, client, ann)
			public.Get(t, again).WantCode(t, http.StatusOK)
			public.Get(t, feed).WantCode(t, http.StatusNotFound)
		})
	}
}

func TestCalendar_TheTokenIsInNoLogAndNoDocument(t *testing.T) {
	s := newSchool(t)
	ann := s.pupil(t, "Ann")
	_, mine := s.user(t, "mine", nil)
	_, address := newFeed(t, mine, ann)
	system(t).Client(t).Get(t, address)
	token := strings.TrimSuffix(strings.TrimPrefix(address, "/ical/"), ".ics")
	valuetest.Lacks(t, system(t).Logs(), token, "the token is in the logs")
	valuetest.Has(t, system(t).Logs(), `"route":"/ical/:file"`, "the route is not in the logs")
	cursor, err := system(t).DB.Collection("feeds").Find(t.Context(), fields{})
	errortest.None(t, err)
	for cursor.Next(t.Context()) {
		valuetest.Lacks(t, cursor.Current.String(), token, "the token is in the store")
	}
	errortest.None(t, cursor.Err())
}
