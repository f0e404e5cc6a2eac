package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func commitmentListingChecks() []Check {
	return []Check{
		prove("TestPart2_2_CommitmentInAListing", commitmentForm, "2.2 fields", "2.2 element in a listing", "2.2 event", "2.3 fields", "2.3 commitments and requests",
			"4.1 rule 7", "4.1 rule 8", "4.1 GET commitments", "2.3 times"),
		prove("TestPart2_3_StaffAndLocationsOnlyWhenIncluded", staffAndLocationsForm, "2.3 staff and locations", "4.1 rule 9"),
		prove("TestPart4_1_Rule04_WithoutDatesToday", withoutDates, "4.1 rule 4", "decisions 3 dates"),
		prove("TestPart4_1_Rule05_StartDateAloneIsThatDay", startDateAlone, "4.1 rule 5", "decisions 3 dates"),
		prove("TestPart4_1_Rule06_EndDateIsIncluded", endDateIncluded, "4.1 rule 6"),
		prove("TestPart4_1_Rule09_IncludeAddsStaffAndLocations", include, "4.1 rule 9", "decisions 3 include"),
		prove("TestDecisionsPart3_OnlyEndDateIsFromToday", onlyEndDate, "decisions 3 dates"),
		prove("TestDecisionsPart3_BadDatesAreBadRequests", badDates, "decisions 3 bad dates", "decisions 1 400 dates"),
		prove("TestDecisionsPart3_EventsThatTouchTheRange", touchingTheRange, "decisions 3 range", "2.3 end"),
		prove("TestDecisionsPart3_EventsOfNoLength", noLength, "decisions 3 zero length"),
		prove("TestDecisionsPart3_DaysOf23And25Hours", shortAndLongDays, "decisions 3 range", "decisions 4 days"),
		prove("TestDecisionsPart3_EveryStatusIsListed", everyStatusIsListed, "decisions 3 statuses"),
		prove("TestDecisionsPart3_OrderIsStartEndCommitment", listingOrder, "decisions 3 order of commitments"),
		prove("TestDecisionsPart3_RequestsOfAResourceGroup", requestsOfAGroup, "decisions 3 requests", "4.1 GET requests", "2.4 fields"),
		prove("TestDecisionsPart3_RequestsHaveTheDatesOfCommitments", requestsByDate, "decisions 3 dates", "4.1 GET requests", "decisions 3 bad dates"),
		prove("TestDecisionsPart3_RequestsOfOthers", requestsOfOtherElements, "decisions 3 requests of others", "decisions 1 405 requests", "2.4 resource groups"),
	}
}

func commitmentForm(t *T) {
	c, pupil := t.Booker(), t.Pupil()
	set := t.Group(pupil)
	exam := t.Event(c, map[string]any{"body": t.Unique("Exam")}, pupil)
	trip := t.Event(c, map[string]any{"body": t.Unique("Trip"), "all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-12"}, set)
	t.Golden(on(c, pupil, "start_date=2019-04-10"), http.StatusOK, "element_commitments.json",
		"10002", set.ID, "Sample set", set.Name, "20002", set.EntityID,
		"30001", exam.Int("event.commitments.0.id"), "40001", exam.Int("event.id"), "Sample exam", exam.String("event.body"),
		"30002", trip.Int("event.commitments.0.id"), "40002", trip.Int("event.id"), "Sample trip", trip.String("event.body"))
	on(c, pupil, "start_date=2019-04-12").Want(http.StatusOK, `{"status":"OK","commitments":[]}`)
}

func staffAndLocationsForm(t *T) {
	c, set := t.Booker(), t.Group()
	one, other, field := t.Staff(), t.Staff(), t.Location()
	hall := t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("Hall"), "short_name": "H1"})
	lesson := t.Event(c, map[string]any{"body": t.Unique("Lesson")}, one, hall, set, other, field)
	t.Golden(on(c, set, "start_date=2019-04-10&include=staff,locations"), http.StatusOK, "element_commitments_include.json",
		"30001", lesson.Int("event.commitments.2.id"), "40001", lesson.Int("event.id"), "Sample lesson", lesson.String("event.body"),
		"JRS", one.Initials(), "XYZ", other.Initials(), "Sample field", field.Name)
	for include, keys := range map[string]string{
		"": "id,body,starts_at,ends_at,all_day,valid", "&include=staff": "id,body,starts_at,ends_at,all_day,staff,valid",
		"&include=locations": "id,body,starts_at,ends_at,all_day,locations,valid",
	} {
		t.Equal("keys with "+include, on(c, set, "start_date=2019-04-10"+include).Keys("commitments.0.event"), keys)
	}
}

func withoutDates(t *T) {
	c, e, began := t.Booker(), t.Staff(), t.today()
	for n, title := range map[int]string{-1: "yesterday", 0: "today", 1: "tomorrow"} {
		day := date(began.AddDate(0, 0, n))
		t.book(c, title, day+" 10:00", day+" 11:00", e)
	}
	t.Equal("without dates", listed(on(c, e, "")), "today")
	t.Equal("with empty dates", listed(on(c, e, "start_date=&end_date=")), "today")
	t.sameDay(began)
}

func onlyEndDate(t *T) {
	c, e, began := t.Booker(), t.Staff(), t.today()
	for n := -1; n <= 3; n++ {
		day := date(began.AddDate(0, 0, n))
		t.book(c, fmt.Sprint(n), day+" 10:00", day+" 11:00", e)
	}
	t.Equal("only an end", listed(on(c, e, "end_date="+date(began.AddDate(0, 0, 2)))), "0, 1, 2")
	t.Equal("only today as the end", listed(on(c, e, "end_date="+date(began))), "0")
	c.Get(elementPath(e) + "/commitments?end_date=" + date(began.AddDate(0, 0, -1))).WantCode(http.StatusBadRequest)
	t.sameDay(began)
}

// days books an element at 10:00 on each day of April 2019 in the list, under the day's number.
func (t *T) days(c *Client, e Element, days ...string) {
	for _, day := range days {
		t.book(c, day, "2019-04-"+day+" 10:00", "2019-04-"+day+" 11:00", e)
	}
}

func startDateAlone(t *T) {
	c, e := t.Booker(), t.Staff()
	t.days(c, e, "09", "10", "11")
	t.Equal("only a start", listed(on(c, e, "start_date=2019-04-10")), "10")
	t.Equal("with an empty end", listed(on(c, e, "start_date=2019-04-10&end_date=")), "10")
}

func endDateIncluded(t *T) {
	c, e := t.Booker(), t.Staff()
	t.days(c, e, "09", "10", "11", "12")
	t.Equal("10 to 11 April", listed(on(c, e, "start_date=2019-04-10&end_date=2019-04-11")), "10, 11")
	t.Equal("10 to 10 April", listed(on(c, e, "start_date=2019-04-10&end_date=2019-04-10")), "10")
	t.Equal("a century", listed(on(c, e, "start_date=1990-01-01&end_date=2090-12-31")), "09, 10, 11, 12")
	t.Equal("all time", listed(on(c, e, "start_date=0001-01-01&end_date=9999-12-31")), "09, 10, 11, 12")
}

func include(t *T) {
	c, set := t.Booker(), t.Group()
	inside, one, other := t.Staff(), t.Staff(), t.Staff()
	hall := t.Element(map[string]any{"entity_type": "Location", "name": t.Unique("Hall"), "short_name": "H1"})
	t.Member(set, inside, "", "") // committed through a group only
	id := t.book(c, "lesson", "2019-04-10 09:00", "2019-04-10 10:00", other, hall, set)
	b := decode[booked](add(c, id, one).Must(http.StatusOK))
	t.book(c, "alone", "2019-04-10 11:00", "2019-04-10 12:00", set)
	staff := other.Initials() + "," + one.Initials()
	if b.Event.Commitments[3].ID < b.Event.Commitments[0].ID { // replicas number from blocks of their own
		staff = one.Initials() + "," + other.Initials()
	}
	for query, want := range map[string]string{
		"staff": staff + " -| -", "locations": "- H1|- ", "staff,locations": staff + " H1| ", "locations,staff": staff + " H1| ",
		"locations,unknown,%20staff": staff + " H1| ", "unknown": "- -|- -", "": "- -|- -", "STAFF": "- -|- -",
	} {
		texts := []string{}
		for _, commitment := range decode[struct {
			Commitments []struct {
				Event struct{ Staff, Locations *string }
			}
		}](on(c, set, "start_date=2019-04-10&include="+query)).Commitments {
			texts = append(texts, shown(commitment.Event.Staff)+" "+shown(commitment.Event.Locations))
		}
		t.Equal("staff and locations with include="+query, strings.Join(texts, "|"), want)
	}
}

// shown is a text that may be absent, "-" then.
func shown(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func badDates(t *T) {
	c, group := t.As(), t.ResourceGroup()
	for _, listing := range []string{"/commitments?", "/requests?"} {
		for _, query := range []string{
			"start_date=2019-02-29", "start_date=10-04-2019", "start_date=2019-4-1", "start_date=today", "start_date=2019-04-10T10:00", "start_date=20190410",
			"start_date=2019-04-31", "start_date=2019-13-01", "end_date=2019-00-10", "start_date=%202019-04-10", "start_date=2019-04-10&end_date=x",
			"start_date=2019-04-10&end_date=2019-04-09", "end_date=2000-01-01", "start_date=+2019-04-10", "start_date=02019-04-10", "start_date=0000-01-01",
		} {
			a := c.Get(elementPath(group) + listing + query)
			a.WantCode(http.StatusBadRequest)
			t.Equal("the status of "+query, a.String("status"), "Bad request")
		}
		t.Equal("29 February of a leap year", c.Get(elementPath(group)+listing+"start_date=2020-02-29").Code, http.StatusOK)
	}
	c.Get(fmt.Sprintf("/api/elements/%d/commitments?start_date=x", noSuchID)).WantCode(http.StatusBadRequest)
}

// touchingTheRange: an event is in when it starts before the midnight that ends the range and ends after the one that starts it.
func touchingTheRange(t *T) {
	c, e := t.Booker(), t.Staff()
	t.book(c, "before", "2019-04-08 10:00", "2019-04-09 00:00", e)
	t.book(c, "into", "2019-04-08 10:00", "2019-04-09 00:01", e)
	t.book(c, "over", "2019-04-01 10:00", "2019-05-20 10:00", e)
	t.book(c, "years", "2017-04-01 10:00", "2021-05-20 10:00", e)
	t.book(c, "at the start", "2019-04-09 00:00", "2019-04-09 01:00", e)
	t.book(c, "at the end", "2019-04-10 23:59", "2019-04-11 00:00", e)
	t.book(c, "out of", "2019-04-10 23:59:59", "2019-04-12 00:00", e)
	t.book(c, "after", "2019-04-11 00:00", "2019-04-11 01:00", e)
	t.Event(c, map[string]any{"body": "whole days", "all_day": true, "starts_at": "2019-04-10", "ends_at": "2019-04-11"}, e)
	t.Event(c, map[string]any{"body": "day after", "all_day": true, "starts_at": "2019-04-11", "ends_at": "2019-04-12"}, e)
	t.Event(c, map[string]any{"body": "day before", "all_day": true, "starts_at": "2019-04-08", "ends_at": "2019-04-09"}, e)
	t.Equal("9 to 10 April", listed(on(c, e, "start_date=2019-04-09&end_date=2019-04-10")), "years, over, into, at the start, whole days, at the end, out of")
	t.Equal("10 April", listed(on(c, e, "start_date=2019-04-10")), "years, over, whole days, at the end, out of")
	t.Equal("15 April", listed(on(c, e, "start_date=2019-04-15")), "years, over")
	t.Equal("1 to 30 April", listed(on(c, e, "start_date=2019-04-01&end_date=2019-04-30")),
		"years, over, day before, before, into, at the start, whole days, at the end, out of, after, day after")
}

func noLength(t *T) {
	c, e := t.Booker(), t.Staff()
	for _, at := range []string{"2019-04-09 23:59", "2019-04-10 00:00", "2019-04-10 12:00", "2019-04-11 00:00", "2019-04-12 00:00"} {
		t.book(c, at, at, at, e)
	}
	t.Equal("10 April", listed(on(c, e, "start_date=2019-04-10")), "2019-04-10 00:00, 2019-04-10 12:00")
	t.Equal("10 to 11 April", listed(on(c, e, "start_date=2019-04-10&end_date=2019-04-11")), "2019-04-10 00:00, 2019-04-10 12:00, 2019-04-11 00:00")
}

// shortAndLongDays: the days on which the clock changes end where the next ones begin, after 23 or 25 hours.
func shortAndLongDays(t *T) {
	c, e := t.Booker(), t.Staff()
	for _, forward := range []bool{true, false} {
		day := t.clockChange(forward).day()
		next := day.AddDate(0, 0, 1)
		t.book(c, "first minute", date(day)+" 00:00", date(day)+" 00:01", e)
		t.book(c, "last minute", date(day)+" 23:59", date(next)+" 00:00", e)
		t.book(c, "next day", date(next)+" 00:00", date(next)+" 00:01", e)
		t.Event(c, map[string]any{"body": "all day", "all_day_field": true, "starts_at_text": date(day), "ends_at_text": nil}, e)
		t.Equal("the day of the change", listed(on(c, e, "start_date="+date(day))), "first minute, all day, last minute")
		t.Equal("the day after it", listed(on(c, e, "start_date="+date(next))), "next day")
	}
}

func everyStatusIsListed(t *T) {
	c, keeper := t.Booker(), t.User("can_add_events")
	calendar := t.Property()
	t.Administrator(calendar, keeper)
	k := t.Login(keeper)
	want := []string{}
	for i, status := range []string{"requested", "confirmed", "rejected", "noted"} {
		a := t.Event(c, map[string]any{"body": status, "starts_at_text": fmt.Sprintf("2019-04-10 1%d:00", i), "ends_at_text": nil}, calendar)
		if status != "requested" {
			decide(k, a.Int("event.commitments.0.id"), status).Must(http.StatusOK)
		}
		want = append(want, status)
	}
	t.Event(k, map[string]any{"body": "uncontrolled", "starts_at_text": "2019-04-10 19:00", "ends_at_text": nil}, calendar)
	want = append(want, "uncontrolled")
	got := []string{}
	for _, commitment := range decode[struct{ Commitments []struct{ Status string } }](on(c, calendar, "start_date=2019-04-10")).Commitments {
		got = append(got, commitment.Status)
	}
	t.Equal("the statuses listed", got, want)
}

// listingOrder: those of the same times are in order of their commitments' ids, which is neither that of the events' ids nor, as replicas
// number from blocks of their own, that of their making.
func listingOrder(t *T) {
	c, pupil := t.Booker(), t.Pupil()
	set := t.Group(pupil)
	t.book(c, "late", "2019-04-10 11:00", "2019-04-10 12:00", pupil)
	t.book(c, "long", "2019-04-10 09:00", "2019-04-10 12:00", set)
	events, commitments := []int64{}, []int64{}
	for range 6 {
		events = append(events, t.book(c, "same", "2019-04-10 09:00", "2019-04-10 10:00"))
	}
	for i, event := range slices.Backward(events) {
		b := decode[booked](add(c, event, []Element{pupil, set}[i%2]).Must(http.StatusOK))
		commitments = append(commitments, b.Event.Commitments[0].ID)
	}
	slices.Sort(commitments)
	a := on(c, pupil, "start_date=2019-04-10")
	for i, id := range commitments {
		t.Equal("a commitment of the same times", a.At(fmt.Sprintf("commitments.%d.id", i)), id)
	}
	t.Equal("the titles", strings.ReplaceAll(listed(a), fmt.Sprintf("@%d", set.ID), ""), "same, same, same, same, same, same, long, late")
}

func requestsOfAGroup(t *T) {
	c, buses := t.Booker(), t.ResourceGroup()
	a := t.Event(c, map[string]any{"body": t.Unique("Fixture"), "starts_at": "2019-04-10 13:30", "ends_at": "2019-04-10 17:00"}, buses, buses)
	t.Golden(c.Get(elementPath(buses)+"/requests?start_date=2019-04-10"), http.StatusOK, "element_requests.json",
		"50001", a.Int("event.requests.0.id"), "40001", a.Int("event.id"), "Sample fixture", a.String("event.body"))
	c.Get(elementPath(buses)+"/requests?start_date=2019-04-11").Want(http.StatusOK, `{"status":"OK","requests":[]}`)
}

func requestsByDate(t *T) {
	c, buses, began := t.Booker(), t.ResourceGroup(), t.today()
	t.days(c, buses, "09", "10", "11", "12")
	t.book(c, "today", date(began)+" 10:00", date(began)+" 11:00", buses)
	for query, want := range map[string]string{
		"": "today", "?start_date=2019-04-10": "10", "?start_date=2019-04-10&end_date=2019-04-11": "10, 11", "?end_date=" + date(began): "today",
	} {
		titles := []string{}
		for _, r := range decode[struct {
			Requests []struct{ Event struct{ Body string } }
		}](c.Get(elementPath(buses) + "/requests" + query).Must(http.StatusOK)).Requests {
			titles = append(titles, r.Event.Body)
		}
		t.Equal("requests"+query, strings.Join(titles, ", "), want)
	}
	t.sameDay(began)
}

func requestsOfOtherElements(t *T) {
	c := t.Booker()
	for _, e := range []Element{t.Group(), t.Staff(), t.Pupil(), t.Location(), t.Property()} {
		a := c.Get(elementPath(e) + "/requests")
		a.WantCode(http.StatusMethodNotAllowed)
		t.Equal("the status", a.String("status"), "Method not allowed")
		t.Equal("Allow is there", a.Header.Get("Allow") != "", true)
	}
	t.Equal("requests of an event with other elements", t.Event(c, nil, t.Group(), t.Staff(), t.Property()).At("event.requests"), "[]")
}
