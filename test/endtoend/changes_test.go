package endtoend_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const followedDay = "2026-09-07"

// followed is a small school that four writers change, each through replicas of its own.
type followed struct {
	system   *servicetest.System
	admin    *servicetest.Client
	elements []int64 // people and rooms
	groups   []int64
	category int64
	killed   chan struct{} // closed after the last kill

	mu     sync.Mutex
	events []int64
	tokens map[string][]string // what was acknowledged before the end of the list was that token
}

func newFollowed(t *testing.T) *followed {
	s := servicetest.Start(t, servicetest.Options{Replicas: 4, NoRace: true})
	f := &followed{system: s, admin: s.Admin(t), killed: make(chan struct{}), tokens: map[string][]string{}}
	for i := range 6 {
		key := fmt.Sprint(i)
		f.elements = append(f.elements,
			f.admin.Import(t, "pupils", map[string]any{"key": key, "forename": "P", "surname": key})[key],
			f.admin.Import(t, "locations", map[string]any{"key": key, "name": "Room " + key})[key])
	}
	for i := range 3 {
		key := fmt.Sprint(i)
		f.groups = append(f.groups, f.admin.Import(t, "groups", map[string]any{"key": key, "name": "Set " + key})[key])
	}
	f.category = f.admin.Import(t, "eventcategories", map[string]any{"key": "a", "name": "A"})["a"]
	return f
}

// write writes once through the replicas of that number. An unanswered write may be stored or not.
func (f *followed) write(t *testing.T, i int, random *rand.Rand) {
	at := func(service string) *servicetest.Client { return f.admin.At(f.system.Replica(service, i)) }
	pick := func(ids []int64) int64 { return ids[random.IntN(len(ids))] }
	f.mu.Lock()
	some := slices.Clone(f.events)
	f.mu.Unlock()
	kind := random.IntN(10)
	if len(some) == 0 {
		kind = 0
	}
	start := fmt.Sprintf("%s %02d:00", followedDay, 8+random.IntN(9))
	switch kind {
	case 0, 1, 2:
		a, err := at("events").Try(t, "POST", "/api/events", map[string]any{
			"event":    map[string]any{"body": "x", "event_category_id": f.category, "starts_at_text": start},
			"elements": []int64{pick(f.elements), pick(f.groups)},
		})
		if err == nil && a.Code == 200 {
			id := a.Int(t, "event.id")
			f.mu.Lock()
			f.events = append(f.events, id)
			f.mu.Unlock()
			f.acknowledged(t, random, fmt.Sprintf("Event %d created", id))
		}
	case 3, 4:
		_, _ = at("events").Try(t, "PATCH", fmt.Sprint("/api/events/", pick(some)),
			map[string]any{"event": map[string]any{"starts_at_text": start}})
	case 5:
		_, _ = at("events").Try(t, "POST", fmt.Sprintf("/api/events/%d/add", pick(some)),
			map[string]any{"elements": []int64{pick(f.elements)}})
	case 6:
		id := pick(some)
		a, err := at("events").Try(t, "DELETE", fmt.Sprint("/api/events/", id), nil)
		if err == nil && a.Code == 200 {
			f.acknowledged(t, random, fmt.Sprintf("Event %d deleted", id))
		}
	case 7:
		_, _ = at("elements").Try(t, "POST", fmt.Sprintf("/api/admin/elements/%d/members", pick(f.groups)),
			map[string]any{"members": []map[string]any{{"element_id": pick(f.elements)}}})
	case 8:
		_, _ = at("elements").Try(t, "DELETE",
			fmt.Sprintf("/api/admin/elements/%d/members/%d?last_day=2026-09-01", pick(f.groups), pick(f.elements)), nil)
	case 9:
		_, _ = at("events").Try(t, "POST", fmt.Sprintf("/api/events/%d/notes", pick(some)),
			map[string]any{"note": map[string]any{"contents": "x"}})
	}
}

// acknowledged remembers now and then where the list ended when a change had been acknowledged.
func (f *followed) acknowledged(t *testing.T, random *rand.Rand, change string) {
	if random.IntN(4) > 0 {
		return
	}
	a, err := f.admin.At(f.system.Replica("events", random.IntN(4))).Try(t, "GET", "/api/changes", nil)
	if err != nil || a.Code != 200 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[change] = append(f.tokens[change], a.Text(t, "next"))
}

// dayOf is what an element has on the day: its commitments, as "id status event start".
type dayOf map[int64][]string

// copied is what a follower keeps, read by the ids that it is told.
type copied struct {
	events  map[int64]servicetest.Booking
	members map[int64]map[int64]bool // by group, those of the day
	listed  []string                 // all changes, in their order
}

type listedChange struct {
	Kind, Change string
	ID, Version  int64
	GroupID      int64 `json:"group_id"`
}

// follow reads on from a token to the end, and returns the token there.
func (f *followed) follow(t *testing.T, c *copied, token string) string {
	for {
		a, err := f.admin.At(f.system.Replica("events", rand.IntN(4))).
			Try(t, "GET", "/api/changes?limit=50&after="+token, nil)
		if err != nil || a.Code == 503 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		var page struct {
			Changes []listedChange
			Next    string
		}
		a.Must(t, 200).Decode(t, &page)
		for _, l := range page.Changes {
			c.listed = append(c.listed, fmt.Sprintf("%s %d %s", l.Kind, l.ID, l.Change))
			switch l.Kind {
			case "Event":
				f.readEvent(t, c, l.ID)
			case "Membership":
				f.readMembers(t, c, l.GroupID)
			}
		}
		if page.Next == token {
			return token
		}
		token = page.Next
	}
}

// read reads until there is an answer of one of the codes.
func (f *followed) read(t *testing.T, path string, codes ...int) servicetest.Answer {
	for {
		a, err := f.admin.Try(t, "GET", path, nil)
		if err == nil && slices.Contains(codes, a.Code) {
			return a
		}
		if err == nil && a.Code != 503 && a.Code != 502 {
			t.Fatalf("%s: %d %s", path, a.Code, a.Body)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (f *followed) readEvent(t *testing.T, c *copied, id int64) {
	a := f.read(t, fmt.Sprint("/api/events/", id), 200, 404)
	delete(c.events, id)
	if a.Code == 200 {
		var e servicetest.Booking
		a.Decode(t, &e)
		c.events[id] = e
	}
}

func (f *followed) readMembers(t *testing.T, c *copied, group int64) {
	var page struct {
		Members []struct {
			Element  struct{ ID int64 }
			FirstDay *string `json:"first_day"`
			LastDay  *string `json:"last_day"`
		}
	}
	f.read(t, fmt.Sprintf("/api/admin/elements/%d/members?limit=1000", group), 200).Decode(t, &page)
	c.members[group] = map[int64]bool{}
	for _, m := range page.Members {
		if (m.FirstDay == nil || *m.FirstDay <= followedDay) && (m.LastDay == nil || *m.LastDay >= followedDay) {
			c.members[group][m.Element.ID] = true
		}
	}
}

// days are those of all elements by what the follower keeps.
func (f *followed) days(c *copied) dayOf {
	days := dayOf{}
	for _, element := range f.elements {
		days[element] = []string{}
		for id, e := range c.events {
			for _, committed := range e.Event.Commitments {
				if who := committed.Element.ID; who == element || c.members[who][element] {
					days[element] = append(days[element],
						fmt.Sprint(committed.ID, " ", committed.Status, " ", id, " ", e.Event.StartsAt))
				}
			}
		}
		slices.Sort(days[element])
	}
	return days
}

// listings are those of all elements as the service lists them.
func (f *followed) listings(t *testing.T) dayOf {
	days := dayOf{}
	for _, element := range f.elements {
		var page struct {
			Commitments []struct {
				ID     int64
				Status string
				Event  struct {
					ID       int64
					StartsAt string `json:"starts_at"`
				}
			}
		}
		f.read(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", element, followedDay), 200).Decode(t, &page)
		days[element] = []string{}
		for _, c := range page.Commitments {
			days[element] = append(days[element],
				fmt.Sprint(c.ID, " ", c.Status, " ", c.Event.ID, " ", c.Event.StartsAt))
		}
		slices.Sort(days[element])
	}
	return days
}

// Four writers write through four replicas of each service, which are killed one after another. A follower that reads
// nothing but what it is told of has the day of every element at the end.
func TestClients_ChangesAFollowerRebuildsEveryDay(t *testing.T) {
	f := newFollowed(t)
	first := f.admin.Get(t, "/api/changes").Must(t, 200).Text(t, "next")
	kept := &copied{events: map[int64]servicetest.Booking{}, members: map[int64]map[int64]bool{}}
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for n := 0; ; n++ {
				f.write(t, i, random)
				select {
				case <-f.killed:
					if n > 60 {
						return
					}
				default:
				}
			}
		})
	}
	kills := 0
	work.Go(func() {
		defer close(f.killed)
		for i := range 4 {
			for _, service := range []string{"events", "elements", "notes"} {
				f.system.KillReplica(t, service, i)
				kills++
			}
		}
	})
	token := first
	for writing := true; writing; {
		select {
		case <-f.killed:
			writing = false
		default:
		}
		token = f.follow(t, kept, token)
	}
	work.Wait()
	for {
		token = f.follow(t, kept, token)
		listed := f.listings(t)
		if end := f.follow(t, kept, token); end == token { // nothing came between
			if diff := cmp.Diff(listed, f.days(kept)); diff != "" {
				t.Errorf("the listings and the follower's (+) differ:\n%s", diff)
			}
			break
		}
	}
	f.checkOrder(t, kept)
	t.Logf("%d kills, %d changes, %d events and %d places checked", kills, len(kept.listed), len(kept.events),
		len(f.tokens))
}

// checkOrder fails the test where a change is listed twice, or after a token that was handed out when it had been
// acknowledged.
func (f *followed) checkOrder(t *testing.T, c *copied) {
	seen := map[string]bool{}
	for _, l := range c.listed {
		var kind, what string
		var id int64
		if _, err := fmt.Sscan(l, &kind, &id, &what); err == nil && what != "changed" && seen[l] {
			t.Errorf("%s is listed twice", l)
		}
		seen[l] = true
	}
	for change, tokens := range f.tokens {
		if !seen[change] {
			t.Errorf("%s was acknowledged and is not listed", change)
		}
		for _, token := range tokens {
			for {
				var page struct {
					Changes []listedChange
					Next    string
				}
				f.read(t, "/api/changes?limit=1000&after="+token, 200).Decode(t, &page)
				for _, l := range page.Changes {
					if fmt.Sprintf("%s %d %s", l.Kind, l.ID, l.Change) == change {
						t.Errorf("%s was acknowledged before %s was handed out, and is listed after it", change, token)
					}
				}
				if page.Next == token {
					break
				}
				token = page.Next
			}
		}
	}
}
