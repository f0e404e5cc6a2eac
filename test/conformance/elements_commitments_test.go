package conformance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestPart2_2_CommitmentInAListing(t *testing.T) {
	proves(t, "2.2 fields: a commitment: id, status, element, event, valid, errors",
		"2.2 element in a listing: in a listing, element is present when it isn't the queried one, and left out "+
			"when it is", "2.2 event: event, a summary, is present in listings, and left out inside an event",
		"2.3 fields", "2.3 commitments and requests", "4.1 rule 7",
		"4.1 rule 8: direct commitments leave element out and give the event",
		"4.1 GET commitments: an element's commitments: status OK and the list", "2.3 times")
	c, pupil := school.Booker(t), school.Pupil(t)
	set := school.Group(t, pupil)
	exam := school.Event(t, c, object{"body": school.Unique("Exam")}, pupil)
	trip := school.Event(t, c, object{"body": school.Unique("Trip"), "all_day": true, "starts_at": "2019-04-10",
		"ends_at": "2019-04-12"}, set)
	school.Golden(t, on(t, c, pupil, "start_date=2019-04-10"), http.StatusOK, "element_commitments.json",
		"10002", set.ID, "Sample set", set.Name, "20002", set.EntityID, "30001", exam.Int(t, "event.commitments.0.id"),
		"40001", exam.Int(t, "event.id"), "Sample exam", exam.Text(t, "event.body"), "30002", trip.Int(t,
			"event.commitments.0.id"), "40002", trip.Int(t, "event.id"), "Sample trip", trip.Text(t, "event.body"))
	on(t, c, pupil, "start_date=2019-04-12").Want(t, http.StatusOK, `{"status":"OK","commitments":[]}`)
}

func TestPart2_3_StaffAndLocationsOnlyWhenIncluded(t *testing.T) {
	proves(t, "2.3 staff and locations: staff and locations only in listings that include them", "4.1 rule 9")
	c, set := school.Booker(t), school.Group(t)
	one, other, field := school.Staff(t), school.Staff(t), school.Location(t)
	hall := school.Element(t, object{"entity_type": "Location", "name": school.Unique("Hall"), "short_name": "H1"})
	lesson := school.Event(t, c, object{"body": school.Unique("Lesson")}, one, hall, set, other, field)
	school.Golden(t, on(t, c, set, "start_date=2019-04-10&include=staff,locations"),
		http.StatusOK, "element_commitments_include.json",
		"30001", lesson.Int(t, "event.commitments.2.id"), "40001", lesson.Int(t, "event.id"), "Sample lesson",
		lesson.Text(t, "event.body"), "JRS", one.Initials(), "XYZ", other.Initials(), "Sample field", field.Name)
	for include, keys := range map[string]string{
		"":                   "id,body,starts_at,ends_at,all_day,valid",
		"&include=staff":     "id,body,starts_at,ends_at,all_day,staff,valid",
		"&include=locations": "id,body,starts_at,ends_at,all_day,locations,valid",
	} {
		equal(t, "keys with "+include, on(t, c, set, "start_date=2019-04-10"+include).Keys(t, "commitments.0.event"),
			keys)
	}
}

func TestPart4_1_Rule04_WithoutDatesToday(t *testing.T) {
	proves(t, "4.1 rule 4: without dates: today", "decisions 3 dates")
	c, e, began := school.Booker(t), school.Staff(t), school.today()
	for n, title := range map[int]string{-1: "yesterday", 0: "today", 1: "tomorrow"} {
		day := date(began.AddDate(0, 0, n))
		school.book(t, c, title, day+" 10:00", day+" 11:00", e)
	}
	equal(t, "without dates", listed(t, on(t, c, e, "")), "today")
	equal(t, "with empty dates", listed(t, on(t, c, e, "start_date=&end_date=")), "today")
	school.sameDay(t, began)
}

func TestDecisionsPart3_OnlyEndDateIsFromToday(t *testing.T) {
	proves(t, "decisions 3 dates: none: today; only start: that day; only end: today to end")
	c, e, began := school.Booker(t), school.Staff(t), school.today()
	for n := -1; n <= 3; n++ {
		day := date(began.AddDate(0, 0, n))
		school.book(t, c, fmt.Sprint(n), day+" 10:00", day+" 11:00", e)
	}
	equal(t, "only an end", listed(t, on(t, c, e, "end_date="+date(began.AddDate(0, 0, 2)))), "0, 1, 2")
	equal(t, "only today as the end", listed(t, on(t, c, e, "end_date="+date(began))), "0")
	c.Get(t, elementPath(e)+"/commitments?end_date="+date(began.AddDate(0, 0, -1))).WantCode(t, http.StatusBadRequest)
	school.sameDay(t, began)
}

// days books an element at 10:00 on the listed days of April 2019. The title of each event is the day's number.
func (s *School) days(t *testing.T, c *servicetest.Client, e Element, days ...string) {
	t.Helper()
	for _, day := range days {
		s.book(t, c, day, "2019-04-"+day+" 10:00", "2019-04-"+day+" 11:00", e)
	}
}

func TestPart4_1_Rule05_StartDateAloneIsThatDay(t *testing.T) {
	proves(t, "4.1 rule 5: start_date alone: that day", "decisions 3 dates")
	c, e := school.Booker(t), school.Staff(t)
	school.days(t, c, e, "09", "10", "11")
	equal(t, "only a start", listed(t, on(t, c, e, "start_date=2019-04-10")), "10")
	equal(t, "with an empty end", listed(t, on(t, c, e, "start_date=2019-04-10&end_date=")), "10")
}

func TestPart4_1_Rule06_EndDateIsIncluded(t *testing.T) {
	proves(t, "4.1 rule 6: end_date is included")
	c, e := school.Booker(t), school.Staff(t)
	school.days(t, c, e, "09", "10", "11", "12")
	equal(t, "10 to 11 April", listed(t, on(t, c, e, "start_date=2019-04-10&end_date=2019-04-11")), "10, 11")
	equal(t, "10 to 10 April", listed(t, on(t, c, e, "start_date=2019-04-10&end_date=2019-04-10")), "10")
	equal(t, "a century", listed(t, on(t, c, e, "start_date=1990-01-01&end_date=2090-12-31")), "09, 10, 11, 12")
	equal(t, "all time", listed(t, on(t, c, e, "start_date=0001-01-01&end_date=9999-12-31")), "09, 10, 11, 12")
}

func TestPart4_1_Rule09_IncludeAddsStaffAndLocations(t *testing.T) {
	proves(t, "4.1 rule 9: include adds staff and locations to each event",
		"decisions 3 include: initials and short names of the directly committed, comma without space, by "+
			`commitment id, "" when none; unknown words ignored`)
	c, set := school.Booker(t), school.Group(t)
	inside, one, other := school.Staff(t), school.Staff(t), school.Staff(t)
	hall := school.Element(t, object{"entity_type": "Location", "name": school.Unique("Hall"), "short_name": "H1"})
	school.Member(t, set, inside, "", "") // committed through a group only
	id := school.book(t, c, "lesson", "2019-04-10 09:00", "2019-04-10 10:00", other, hall, set)
	b := decode[booked](t, add(t, c, id, one).Must(t, http.StatusOK))
	school.book(t, c, "alone", "2019-04-10 11:00", "2019-04-10 12:00", set)
	staff := other.Initials() + "," + one.Initials()
	if b.Event.Commitments[3].ID < b.Event.Commitments[0].ID { // replicas number from blocks of their own
		staff = one.Initials() + "," + other.Initials()
	}
	for query, want := range map[string]string{
		"staff": staff + " -| -", "locations": "- H1|- ", "staff,locations": staff + " H1| ",
		"locations,staff":            staff + " H1| ",
		"locations,unknown,%20staff": staff + " H1| ", "unknown": "- -|- -", "": "- -|- -", "STAFF": "- -|- -",
	} {
		for _, e := range []Element{set, inside} { // directly, and through the group
			texts := []string{}
			for _, commitment := range decode[struct {
				Commitments []struct {
					Event struct{ Staff, Locations *string }
				}
			}](t, on(t, c, e, "start_date=2019-04-10&include="+query)).Commitments {
				texts = append(texts, shown(commitment.Event.Staff)+" "+shown(commitment.Event.Locations))
			}
			equal(t, "staff and locations of "+e.EntityType+" with include="+query, strings.Join(texts, "|"), want)
		}
	}
}

// shown returns the text, "-" when it is nil.
func shown(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func TestDecisionsPart3_BadDatesAreBadRequests(t *testing.T) {
	proves(t, "decisions 3 bad dates: an end before the start, or not a real YYYY-MM-DD date: 400",
		"decisions 1 400 dates: bad or reversed dates in a query: 400")
	c, group := school.As(t), school.ResourceGroup(t)
	for _, listing := range []string{"/commitments?", "/requests?"} {
		for _, query := range []string{
			"start_date=2019-02-29", "start_date=10-04-2019", "start_date=2019-4-1", "start_date=today",
			"start_date=2019-04-10T10:00", "start_date=20190410",
			"start_date=2019-04-31", "start_date=2019-13-01", "end_date=2019-00-10", "start_date=%202019-04-10",
			"start_date=2019-04-10&end_date=x",
			"start_date=2019-04-10&end_date=2019-04-09", "end_date=2000-01-01", "start_date=+2019-04-10",
			"start_date=02019-04-10", "start_date=0000-01-01",
		} {
			a := c.Get(t, elementPath(group)+listing+query)
			a.WantCode(t, http.StatusBadRequest)
			equal(t, "the status of "+query, a.Text(t, "status"), "Bad request")
		}
		equal(t, "29 February of a leap year", c.Get(t, elementPath(group)+listing+"start_date=2020-02-29").Code,
			http.StatusOK)
	}
	c.Get(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=x", noSuchID)).WantCode(t, http.StatusBadRequest)
}

// TestDecisionsPart3_EventsThatTouchTheRange: an event is listed when it starts before the midnight at the end of
// the range and ends after the midnight at its start.
func TestDecisionsPart3_EventsThatTouchTheRange(t *testing.T) {
	proves(t,
		"decisions 3 range: in the range: starts before the midnight that ends it and ends after the one that "+
			"starts it", "2.3 end: the stored end is exclusive")
	c, e := school.Booker(t), school.Staff(t)
	school.book(t, c, "before", "2019-04-08 10:00", "2019-04-09 00:00", e)
	school.book(t, c, "into", "2019-04-08 10:00", "2019-04-09 00:01", e)
	school.book(t, c, "over", "2019-04-01 10:00", "2019-05-20 10:00", e)
	school.book(t, c, "years", "2017-04-01 10:00", "2021-05-20 10:00", e)
	school.book(t, c, "at the start", "2019-04-09 00:00", "2019-04-09 01:00", e)
	school.book(t, c, "at the end", "2019-04-10 23:59", "2019-04-11 00:00", e)
	school.book(t, c, "out of", "2019-04-10 23:59:59", "2019-04-12 00:00", e)
	school.book(t, c, "after", "2019-04-11 00:00", "2019-04-11 01:00", e)
	school.Event(t, c, object{"body": "whole days", "all_day": true, "starts_at": "2019-04-10",
		"ends_at": "2019-04-11"}, e)
	school.Event(t, c, object{"body": "day after", "all_day": true, "starts_at": "2019-04-11",
		"ends_at": "2019-04-12"}, e)
	school.Event(t, c, object{"body": "day before", "all_day": true, "starts_at": "2019-04-08",
		"ends_at": "2019-04-09"}, e)
	equal(t, "9 to 10 April", listed(t, on(t, c, e, "start_date=2019-04-09&end_date=2019-04-10")),
		"years, over, into, at the start, whole days, at the end, out of")
	equal(t, "10 April", listed(t, on(t, c, e, "start_date=2019-04-10")), "years, over, whole days, at the end, out of")
	equal(t, "15 April", listed(t, on(t, c, e, "start_date=2019-04-15")), "years, over")
	equal(t, "1 to 30 April", listed(t, on(t, c, e, "start_date=2019-04-01&end_date=2019-04-30")),
		"years, over, day before, before, into, at the start, whole days, at the end, out of, after, day after")
}

func TestDecisionsPart3_EventsOfNoLength(t *testing.T) {
	proves(t, "decisions 3 zero length: zero length: from the first midnight, included, to the last, excluded")
	c, e := school.Booker(t), school.Staff(t)
	for _, at := range []string{"2019-04-09 23:59", "2019-04-10 00:00", "2019-04-10 12:00", "2019-04-11 00:00",
		"2019-04-12 00:00"} {
		school.book(t, c, at, at, at, e)
	}
	equal(t, "10 April", listed(t, on(t, c, e, "start_date=2019-04-10")), "2019-04-10 00:00, 2019-04-10 12:00")
	equal(t, "10 to 11 April", listed(t, on(t, c, e, "start_date=2019-04-10&end_date=2019-04-11")),
		"2019-04-10 00:00, 2019-04-10 12:00, 2019-04-11 00:00")
}

// TestDecisionsPart3_DaysOf23And25Hours: a day with a clock change has 23 or 25 hours and ends when the next one
// begins.
func TestDecisionsPart3_DaysOf23And25Hours(t *testing.T) {
	proves(t, "decisions 3 range", "decisions 4 days")
	c, e := school.Booker(t), school.Staff(t)
	for _, forward := range []bool{true, false} {
		day := school.clockChange(t, forward).day()
		next := day.AddDate(0, 0, 1)
		school.book(t, c, "first minute", date(day)+" 00:00", date(day)+" 00:01", e)
		school.book(t, c, "last minute", date(day)+" 23:59", date(next)+" 00:00", e)
		school.book(t, c, "next day", date(next)+" 00:00", date(next)+" 00:01", e)
		school.Event(t, c, object{"body": "all day", "all_day_field": true, "starts_at_text": date(day),
			"ends_at_text": nil}, e)
		equal(t, "the day of the change", listed(t, on(t, c, e, "start_date="+date(day))),
			"first minute, all day, last minute")
		equal(t, "the day after it", listed(t, on(t, c, e, "start_date="+date(next))), "next day")
	}
}

func TestDecisionsPart3_EveryStatusIsListed(t *testing.T) {
	proves(t, "decisions 3 statuses: commitments of every status are listed")
	c := school.Booker(t)
	k, calendar := school.keeper(t)
	want := []string{}
	for i, status := range []string{"requested", "confirmed", "rejected", "noted"} {
		a := school.Event(t, c, object{"body": status, "starts_at_text": fmt.Sprintf("2019-04-10 1%d:00", i),
			"ends_at_text": nil}, calendar)
		if status != "requested" {
			decide(t, k, a.Int(t, "event.commitments.0.id"), status).Must(t, http.StatusOK)
		}
		want = append(want, status)
	}
	school.Event(t, k, object{"body": "uncontrolled", "starts_at_text": "2019-04-10 19:00",
		"ends_at_text": nil}, calendar)
	want = append(want, "uncontrolled")
	got := on(t, c, calendar, "start_date=2019-04-10").Texts(t, "commitments.#.status")
	equal(t, "the statuses listed", got, want)
}

// TestDecisionsPart3_OrderIsStartEndCommitment: commitments with the same times are in the order of their ids. That
// is neither the order of the events' ids nor, since each replica takes ids from its own block, the order of
// creation.
func TestDecisionsPart3_OrderIsStartEndCommitment(t *testing.T) {
	proves(t, "decisions 3 order of commitments: event start, event end, commitment id")
	c, pupil := school.Booker(t), school.Pupil(t)
	set := school.Group(t, pupil)
	school.book(t, c, "late", "2019-04-10 11:00", "2019-04-10 12:00", pupil)
	school.book(t, c, "long", "2019-04-10 09:00", "2019-04-10 12:00", set)
	events, commitments := []int64{}, []int64{}
	for range 6 {
		events = append(events, school.book(t, c, "same", "2019-04-10 09:00", "2019-04-10 10:00"))
	}
	for i, event := range slices.Backward(events) {
		b := decode[booked](t, add(t, c, event, []Element{pupil, set}[i%2]).Must(t, http.StatusOK))
		commitments = append(commitments, b.Event.Commitments[0].ID)
	}
	slices.Sort(commitments)
	a := on(t, c, pupil, "start_date=2019-04-10")
	for i, id := range commitments {
		equal(t, "a commitment of the same times", a.At(t, fmt.Sprintf("commitments.%d.id", i)), id)
	}
	equal(t, "the titles", strings.ReplaceAll(listed(t, a), fmt.Sprintf("@%d", set.ID), ""),
		"same, same, same, same, same, same, long, late")
}

func TestDecisionsPart3_RequestsOfAResourceGroup(t *testing.T) {
	proves(t, "decisions 3 requests: requests listing: id, quantity, num_allocated, event, valid; element left out",
		"4.1 GET requests",
		"2.4 fields: a request: id, quantity, num_allocated, element, valid; element is the resource group")
	c, buses := school.Booker(t), school.ResourceGroup(t)
	a := school.Event(t, c, object{"body": school.Unique("Fixture"), "starts_at": "2019-04-10 13:30",
		"ends_at": "2019-04-10 17:00"}, buses, buses)
	school.Golden(t,
		c.Get(t, elementPath(buses)+"/requests?start_date=2019-04-10"), http.StatusOK, "element_requests.json", "50001",
		a.Int(t, "event.requests.0.id"), "40001", a.Int(t, "event.id"), "Sample fixture", a.Text(t, "event.body"))
	c.Get(t, elementPath(buses)+"/requests?start_date=2019-04-11").Want(t, http.StatusOK,
		`{"status":"OK","requests":[]}`)
}

func TestDecisionsPart3_RequestsHaveTheDatesOfCommitments(t *testing.T) {
	proves(t, "decisions 3 dates", "4.1 GET requests", "decisions 3 bad dates")
	c, buses, began := school.Booker(t), school.ResourceGroup(t), school.today()
	school.days(t, c, buses, "09", "10", "11", "12")
	school.book(t, c, "today", date(began)+" 10:00", date(began)+" 11:00", buses)
	for query, want := range map[string]string{
		"": "today", "?start_date=2019-04-10": "10", "?start_date=2019-04-10&end_date=2019-04-11": "10, 11",
		"?end_date=" + date(began): "today",
	} {
		requests := c.Get(t, elementPath(buses)+"/requests"+query).Must(t, http.StatusOK)
		equal(t, "requests"+query, strings.Join(requests.Texts(t, "requests.#.event.body"), ", "), want)
	}
	school.sameDay(t, began)
}

// TestPart4_1_RequestsTakeTheQueryOfCommitments: include works as for commitments. When the client asks for unknown
// ones to be refused, it is a known parameter, and unknown words in it are refused.
func TestPart4_1_RequestsTakeTheQueryOfCommitments(t *testing.T) {
	proves(t, "4.1 GET requests: an element's requests, for the same query, include too; fields: see decisions 3",
		"4.1 rule 9", "decisions 3 include", "clients strict")
	c, buses, driver := school.Booker(t), school.ResourceGroup(t), school.Staff(t)
	yard := school.Element(t, object{"entity_type": "Location", "name": school.Unique("Yard"), "short_name": "Y1"})
	id := school.book(t, c, "fixture", "2019-04-10 13:30", "2019-04-10 17:00", buses, driver, yard)
	staff := driver.Initials()
	for include, want := range map[string]string{
		"staff": staff + " -", "locations": "- Y1", "unknown,%20locations,staff": staff + " Y1", "unknown": "- -",
		"": "- -",
	} {
		path := elementPath(buses) + "/requests?start_date=2019-04-10&end_date=2019-04-10&include=" + include
		a := c.Get(t, path).Must(t, http.StatusOK)
		strict := c.Do(t, http.MethodGet, path, nil, "Prefer", "handling=strict")
		if strings.Contains(include, "unknown") {
			equal(t, "Warning", a.Header.Get("Warning"), `299 belfry "invalid: include in the query"`)
			strict.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"invalid: include in the query"}`)
		} else {
			told(t, a, "")
			strict.Must(t, http.StatusOK)
		}
		r := decode[struct {
			Requests []struct {
				Event struct{ Staff, Locations *string }
			}
		}](t, a).Requests[0]
		equal(t, "staff and locations with include="+include, shown(r.Event.Staff)+" "+shown(r.Event.Locations), want)
	}
	besides := c.Get(t, elementPath(buses)+"/requests?start_date=2019-04-10&include=category,decisions")
	whole := c.Get(t, eventPath(id)+"?include=category,decisions")
	equal(t, "the category", besides.At(t, "requests.0.event.category"), whole.At(t, "event.category"))
	equal(t, "who asked", besides.At(t, "requests.0.decision"), whole.At(t, "event.requests.0.decision"))
}

func TestDecisionsPart3_RequestsOfOthers(t *testing.T) {
	proves(t,
		"decisions 3 requests of others: of an element other than a resource group: 405; of an unknown element: 404",
		"decisions 1 405 requests: requests of an element other than a resource group: 405",
		"2.4 resource groups: only resource groups have requests")
	c := school.Booker(t)
	for _, e := range []Element{school.Group(t), school.Staff(t), school.Pupil(t), school.Location(t),
		school.Property(t)} {
		a := c.Get(t, elementPath(e)+"/requests")
		a.WantCode(t, http.StatusMethodNotAllowed)
		equal(t, "the status", a.Text(t, "status"), "Method not allowed")
		equal(t, "Allow is there, and names no method", fmt.Sprintf("%q", a.Header.Values("Allow")), `[""]`)
	}
	equal(t, "requests of an event with other elements",
		school.Event(t, c, nil, school.Group(t), school.Staff(t), school.Property(t)).At(t, "event.requests"), "[]")
}
