package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// inbox is a user's own calendar, of which all that waits is known.
type inbox struct {
	element, group int64
	keeper         *servicetest.Client
}

// newInbox makes a user who administers a new calendar and a new resource group.
func newInbox(t *testing.T, name string) inbox {
	t.Helper()
	admin := system(t).Admin(t)
	element := admin.Import(t, "properties", map[string]any{"key": name, "name": name})[name]
	group := admin.Import(t, "groups", map[string]any{"key": name, "name": name, "resource": true})[name]
	uuid := "uuid-of-the-keeper-of-" + name
	admin.Import(t, "users", map[string]any{"key": name, "name": name, "email": name + "@school.example", "uuid": uuid,
		"can_api": true, "can_add_events": true})
	admin.Import(t, "administrators",
		map[string]any{"key": "Property:" + name + "/" + name, "element": "Property:" + name, "user": name},
		map[string]any{"key": "Group:" + name + "/" + name, "element": "Group:" + name, "user": name})
	return inbox{element, group, system(t).Login(t, uuid)}
}

// page is what both listings answer.
type page struct {
	Status      string
	Commitments []struct {
		ID     int64
		Status string
		Event  struct{ ID int64 }
	}
	Requests []struct {
		ID    int64
		Event struct{ ID int64 }
	}
	Next *string
}

// list reads all pages of a listing, of that many entries each, and returns the events of their entries.
func list(t *testing.T, c *servicetest.Client, address string, limit int) []int64 {
	t.Helper()
	events := []int64{}
	after := ""
	for {
		var got page
		a := c.Get(t, path("%s&limit=%d&after=%s", address, limit, after))
		a.Decode(t, &got)
		if a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
		n := len(got.Commitments) + len(got.Requests)
		for _, entry := range got.Commitments {
			events = append(events, entry.Event.ID)
		}
		for _, entry := range got.Requests {
			events = append(events, entry.Event.ID)
		}
		if got.Next == nil {
			return events
		}
		if n != limit {
			t.Fatalf("%d entries with more to come: %s", n, a.Body)
		}
		after = *got.Next
	}
}

func TestDecisionsPart5_CommitmentsToDecideAreThoseOfOnesElementsOldestEventFirst(t *testing.T) {
	s := loadSchool(t)
	in := newInbox(t, "deciding")
	in.keeper.Get(t, "/api/commitments?status=requested").Want(t, 200, `{"status":"OK","commitments":[],"next":null}`)
	owner := s.as(t, "owner")
	var want []int64
	for _, starts := range []string{"2026-09-09", "2026-09-07", "2026-09-07", "1999-01-01", "2050-01-01"} {
		want = append(want, book(t, owner, s.fields("starts_at_text", starts), in.element, s.calendar, s.room).Event.ID)
	}
	book(t, in.keeper, s.fields(), in.element) // one's own: not controlled
	// each replica numbers events by itself
	want = []int64{want[3], min(want[1], want[2]), max(want[1], want[2]), want[0], want[4]}
	for _, limit := range []int{1, 2, 5, 1000} {
		if got := list(t, in.keeper, "/api/commitments?status=requested", limit); !slices.Equal(got, want) {
			t.Errorf("by %d: %v, want %v", limit, got, want)
		}
	}
	if got := list(t, s.as(t, "nobody"), "/api/commitments?status=requested", 10); len(got) != 0 {
		t.Errorf("nobody may decide %v", got)
	}
	if got := list(t, s.as(t, "admin"), "/api/commitments?status=requested", 10); len(got) != 0 {
		t.Errorf("admin is no administrator of an element, but may decide %v", got)
	}

	var first page
	in.keeper.Get(t, "/api/commitments?status=requested&limit=1").Decode(t, &first)
	entry := first.Commitments[0]
	in.keeper.Get(t, "/api/commitments?status=requested&limit=1").Want(t, 200,
		fmt.Sprintf(`{"status":"OK","commitments":[{"id":%d,"status":"requested",`+
			`"element":{"id":%d,"name":"deciding","entity_type":"Property","entity_id":%d,"valid":true},`+
			`"event":{"id":%d,"body":"Maths","starts_at":"1999-01-01T00:00:00.000+00:00","ends_at":"1999-01-01T00:00:00.000+00:00","all_day":false,"valid":true},"valid":true}],"next":%q}`,
			entry.ID, in.element, entityID(t, in.element), want[0], *first.Next))

	// What is decided leaves the list, also between two pages.
	decide := func(id int64, status string) {
		t.Helper()
		if a := in.keeper.Patch(t, path("/api/commitments/%d", id),
			map[string]any{"commitment": map[string]any{"status": status}}); a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	decide(entry.ID, "noted")
	var second page
	in.keeper.Get(t, "/api/commitments?status=requested&limit=1&after="+*first.Next).Decode(t, &second)
	if len(second.Commitments) != 1 || second.Commitments[0].Event.ID != want[1] {
		t.Errorf("after the one decided: %+v", second)
	}
	decide(second.Commitments[0].ID, "confirmed")
	for query, events := range map[string][]int64{
		"": want[2:], "requested": want[2:], "noted": want[:1], "confirmed": want[1:2], "rejected": {},
		"uncontrolled":       {},
		"requested,%20noted": {want[0], want[2], want[3], want[4]},
		"confirmed,noted,requested,rejected,uncontrolled": want,
	} {
		if got := list(t, in.keeper, "/api/commitments?status="+query, 2); !slices.Equal(got, events) {
			t.Errorf("status %q: %v, want %v", query, got, events)
		}
	}
	if a := owner.Delete(t, path("/api/events/%d", want[2])); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if got := list(t, in.keeper, "/api/commitments?status=requested", 2); !slices.Equal(got, want[3:]) {
		t.Errorf("after the event went: %v, want %v", got, want[3:])
	}
}

func TestDecisionsPart5_OutstandingRequestsAreThoseOfOnesGroupsUntilTheyAreFilled(t *testing.T) {
	s, f := loadSchool(t), loadFleet(t)
	in := newInbox(t, "outstanding")
	in.keeper.Get(t, "/api/requests?status=outstanding").Want(t, 200, `{"status":"OK","requests":[],"next":null}`)
	owner := s.as(t, "owner")
	later := book(t, owner, s.fields("starts_at_text", "2026-09-09"), in.group, f.group).Event
	sooner := book(t, owner, s.fields("starts_at_text", "2026-09-08"), in.group, in.group).Event
	if got, want := list(t, in.keeper, "/api/requests?status=outstanding", 1), []int64{sooner.ID,
		later.ID}; !slices.Equal(got, want) {
		t.Fatalf("outstanding: %v, want %v", got, want)
	}
	first := in.keeper.Get(t, "/api/requests?limit=1")
	first.Want(t, 200,
		fmt.Sprintf(`{"status":"OK","requests":[{"id":%d,"quantity":2,"num_allocated":0,`+
			`"element":{"id":%d,"name":"outstanding","entity_type":"Group","entity_id":%d,"valid":true},`+
			`"event":{"id":%d,"body":"Maths","starts_at":"2026-09-08T00:00:00.000+01:00","ends_at":"2026-09-08T00:00:00.000+01:00","all_day":false,"valid":true},"valid":true}],"next":%q}`,
			sooner.Requests[0].ID, in.group, entityID(t, in.group), sooner.ID, first.Text(t, "next")))

	driver := s.as(t, "driver")
	fleet := slices.IndexFunc(later.Requests, func(r requested) bool { return r.Element.ID == f.group })
	waits := func() bool {
		return slices.Contains(list(t, driver, "/api/requests?status=outstanding", 100), later.ID)
	}
	if !waits() {
		t.Error("the request for the fleet is not outstanding")
	}
	got := allocate(t, driver, later.Requests[fleet].ID, f.always)
	if waits() {
		t.Error("it is outstanding though filled")
	}
	if a := owner.Delete(t, path("/api/commitments/%d", got.Event.Commitments[0].ID)); a.Code != 200 || !waits() {
		t.Errorf("it is not outstanding again: %d %s", a.Code, a.Body)
	}
}

func TestDecisionsPart5_ListingsOfWhatWaitsRefuseWhatTheyCantRead(t *testing.T) {
	c := loadSchool(t).as(t, "keeper")
	for _, query := range []string{
		"commitments?status=maybe", "commitments?status=requested,", "commitments?limit=0", "commitments?limit=1001",
		"commitments?after=7", "commitments?after=1.2",
		"commitments?after=a.1.1", "commitments?after=1.0.1", "commitments?after=1.1.-1",
		"commitments?after=9223372036854775807.1.1",
		"requests?status=requested", "requests?limit=x", "requests?after=1.1.1.1",
	} {
		if a := c.Get(t, "/api/"+query); a.Code != 400 || !strings.HasPrefix(a.Body, `{"status":"Bad request"`) {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	system(t).Client(t).Get(t, "/api/commitments").Want(t, 401, `{"status":"Access denied"}`)
}

// Every cell of the table of transitions, through the API; reason and decider are kept with the decision.
func TestDecisionsPart5_EveryTransitionThroughTheAPI(t *testing.T) {
	s := loadSchool(t)
	owner, keeper := s.as(t, "owner"), s.as(t, "keeper")
	allowed := map[string][]string{
		"requested": {"confirmed", "rejected", "noted"}, "noted": {"confirmed", "rejected", "requested"},
		"rejected": {"confirmed", "noted", "requested"}, "confirmed": {"rejected", "requested"}, "uncontrolled": {},
	}
	for from, next := range allowed {
		for to := range allowed {
			booker := owner
			if from == "uncontrolled" {
				booker = keeper
			}
			c := book(t, booker, s.fields(), s.calendar).Event.Commitments[0]
			address := path("/api/commitments/%d", c.ID)
			decide := func(status, reason string) int {
				return keeper.Patch(t, address,
					map[string]any{"commitment": map[string]any{"status": status, "reason": reason}}).Code
			}
			if from != c.Status && decide(from, "first") != 200 {
				t.Fatalf("%s could not become %s", c.Status, from)
			}
			want, code := to, 200
			if !slices.Contains(next, to) {
				want, code = from, 409
			}
			if got := decide(to, "second"); got != code {
				t.Errorf("%s to %s: %d, want %d", from, to, got, code)
			}
			var stored struct {
				Commitments []struct {
					Status, Reason string
					DecidedBy      int64     `bson:"decided_by"`
					DecidedAt      time.Time `bson:"decided_at"`
				}
			}
			if err := system(t).DB.Collection("events").FindOne(t.Context(),
				bson.D{{Key: "commitments.id", Value: c.ID}}).Decode(&stored); err != nil {
				t.Fatal(err)
			}
			got := stored.Commitments[0]
			if got.Status != want || code == 200 &&
				(got.Reason != "second" || got.DecidedBy != s.users["keeper"] ||
					time.Since(got.DecidedAt) > time.Minute) || code != 200 && got.Reason == "second" {
				t.Errorf("%s to %s left %+v", from, to, got)
			}
		}
	}
}
