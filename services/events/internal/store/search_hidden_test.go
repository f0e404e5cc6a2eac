package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

var guest = principal.Principal{UserID: 8, Kind: principal.Guest}

// kinds are categories of which the third is school-wide, the fourth confidential, the fifth both and the sixth
// privileged.
type kinds struct{ event.Categories }

func (k kinds) All(ctx context.Context) ([]category.Category, error) {
	return k.Find(ctx, []int64{1, 2, 3, 4, 5, 6}, nil)
}

func (kinds) Find(_ context.Context, ids []int64, _ []string) ([]category.Category, error) {
	return sequence.Map(ids, func(id int64) category.Category {
		return category.Category{ID: id, Flags: category.Flags{
			Schoolwide: id == 3 || id == 5, Confidential: id == 4 || id == 5, Privileged: id == 6,
		}}
	}), nil
}

// known are members of whom elements says that they exist.
type known struct{ members }

func (known) Facts(_ context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	facts := make([]fact.Element, len(q.IDs))
	for i, id := range q.IDs {
		facts[i].ID = id
	}
	return facts, nil
}

// Elements of the twins: the pupil itself is 3.
const (
	ownGroup, publicThing, controlled = 5, 7, 20
)

func twin(id int64, body string, of, owner int64, starts time.Time, commitments ...event.Commitment) event.Event {
	for i := range commitments {
		commitments[i].ID = id*10 + int64(i)
	}
	return event.Event{ID: id, Texts: event.Texts{Body: body}, CategoryID: of, OwnerID: owner,
		Span: wiretime.Span{Starts: starts, Ends: starts.Add(time.Hour)}, Commitments: commitments}
}

func with(element int64, status event.Status) event.Commitment {
	return event.Commitment{ElementID: element, Status: status}
}

// twins are two stores: one with what a viewer sees alone, in the other it is among what it does not. What is seen is
// in September and October 2026, two a day; the pupil is in its group until the 20th of October.
func twins(t *testing.T, hide func(id *int64, starts time.Time) []event.Event) (alone, among *Events) {
	t.Helper()
	_, alone = open(t)
	_, among = open(t)
	var seen, all []event.Event
	hidden := int64(10_000)
	for n := range int64(100) {
		starts := time.Date(2026, 9, 1, 9+int(n%2), 0, 0, 0, time.UTC).AddDate(0, 0, int(n/2))
		e := twin(n+1, "Maths about Joel", 1, 9, starts, with(3, event.Uncontrolled),
			with(publicThing, event.Confirmed))
		switch n % 5 {
		case 1:
			e = twin(n+1, "Choir", 3, 2, starts, with(publicThing, event.Requested))
		case 2:
			e = twin(n+1, "Trip", 2, 9, starts, with(ownGroup, event.Noted), with(publicThing, event.Uncontrolled))
		}
		seen = append(seen, e)
		twin := e // with what is not shown of it
		twin.Commitments = append([]event.Commitment(nil), e.Commitments...)
		twin.Commitments = append(twin.Commitments, event.Commitment{
			ID: e.ID*10 + 5, ElementID: controlled, Status: event.Rejected,
		})
		all = append(all, twin)
		all = append(all, hide(&hidden, starts)...)
	}
	insert(t, alone, seen...)
	insert(t, among, all...)
	return alone, among
}

// A search asked the store as often, and was given as many pages of as many events, as there were hidden ones: so its
// cursors told of them. What it does follows from what is seen alone.
func TestDecisionsPart9_ASearchReadsAndTellsTheSameWhateverIsHidden(t *testing.T) {
	pupilSees := []fact.Reach{{ElementID: 3, Days: []wiretime.Days{event.AnyDays}},
		{ElementID: ownGroup, Days: []wiretime.Days{timetest.Days(t, "2026-01-01", "2026-10-20")}}}
	autumn := timetest.Days(t, "2026-09-10", "2026-12-31")
	others := func(id *int64, starts time.Time) []event.Event {
		var events []event.Event
		for n := range 4 {
			at := starts.Add(time.Duration(n-2) * 20 * time.Minute)
			*id += 4
			events = append(events, twin(*id, "Maths about Joel", 1, 9, at, with(controlled, event.Noted)),
				twin(*id+1, "Maths about Joel", 2, 9, at, with(publicThing, event.Requested)),
				twin(*id+2, "Maths about Joel", 1, 9, at, with(publicThing, event.Rejected)))
			if starts.After(time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC)) { // a month of which the group has most days
				events = append(events, twin(*id+3, "Maths about Joel", 1, 9, at, with(ownGroup, event.Uncontrolled)))
			}
		}
		return events
	}
	confidential := func(id *int64, starts time.Time) []event.Event {
		var events []event.Event
		for n := range int64(4) {
			*id += 4
			events = append(events,
				twin(*id, "Maths about Joel", 4, 7, starts.Add(time.Duration(n)*5*time.Minute),
					with(ownGroup, event.Noted)),
				twin(*id+1, "Maths about Joel", 5, 7, starts, with(publicThing, event.Uncontrolled)))
		}
		return events
	}
	reserved := func(id *int64, starts time.Time) []event.Event {
		*id++
		return []event.Event{twin(*id, "Maths about Joel", 6, 7, starts, with(controlled, event.Noted))}
	}
	told := map[string]event.Search{
		"a text": {Text: "joel", Days: event.AnyDays}, "a text of some days": {Text: "about Joel", Days: autumn},
		"a text that is hidden": {Text: "Joel and", Days: event.AnyDays},
		"the confidential ones": {CategoryID: 4, Days: autumn}, "the others": {CategoryID: 5, Days: autumn},
	}
	asked := map[string]event.Search{
		"all":          {Days: timetest.Days(t, "2026-01-01", "2026-12-31")},
		"some days":    {Days: autumn},
		"a category":   {CategoryID: 2, Days: autumn},
		"a teacher's":  {OwnerID: 9, Days: autumn},
		"its own":      {OwnerID: 2, Days: autumn},
		"noted":        {Status: event.Noted, Days: autumn},
		"rejected":     {Status: event.Rejected, Days: autumn},
		"requested":    {Status: event.Requested, Days: autumn},
		"sure":         {Status: event.Uncontrolled, Text: "maths", Days: event.AnyDays},
		"of itself":    {ElementID: 3, Days: event.AnyDays},
		"of it, noted": {ElementID: 3, Status: event.Noted, Days: autumn},
	}
	for name, text := range told {
		if text.Text != "" {
			asked[name] = text
		}
	}
	for name, c := range map[string]struct {
		who    principal.Principal
		hide   func(id *int64, starts time.Time) []event.Event
		reach  []fact.Reach // of the element that is asked for
		search map[string]event.Search
	}{
		"a pupil, of others": {pupil, others, pupilSees, asked},
		"a guest, of others": {guest, others,
			[]fact.Reach{{ElementID: publicThing, Days: []wiretime.Days{event.AnyDays}}}, asked},
		"a pupil, of what is confidential": {pupil, confidential, pupilSees, told},
		"a guest, of what is confidential": {guest, confidential, pupilSees, told},
		"staff, of what is confidential":   {staff, confidential, pupilSees, told},
		"staff, of what is privileged": {staff, reserved, pupilSees,
			map[string]event.Search{"it": {CategoryID: 6, Days: autumn}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone, among := twins(t, c.hide)
			m := members{reaches: c.reach, sees: fact.Surroundings{Public: []int64{publicThing}}}
			if c.who.Kind == principal.Pupil {
				m.sees.Reaches = pupilSees
			}
			for name, q := range c.search {
				if c.who.Kind == principal.Guest && q.ElementID != 0 {
					q.ElementID = publicThing
				}
				for _, limit := range []int{1, 7, 50} {
					want := tell(t, alone, m, c.who, q, limit)
					got := tell(t, among, m, c.who, q, limit)
					for i := range max(len(want), len(got)) {
						if i == len(want) || i == len(got) || got[i] != want[i] {
							t.Errorf("%s, limit %d, page %d\n got %q\nwant %q", name, limit, i+1, got[i:], want[i:])
							break
						}
					}
				}
			}
		})
	}
}

// tell says page by page what a search finds, and what it reads for that.
func tell(t *testing.T, s *Events, m members, p principal.Principal, q event.Search, limit int) (log []string) {
	t.Helper()
	counted := &counting{Events: s}
	service := event.New(event.Options{
		Store: counted, Elements: known{m}, Categories: kinds{}, Zone: timetest.London(t),
		Sights: principal.Sights{Pupils: "own", Guests: "public"},
	})
	after := event.FoundPlace{}
	for {
		*counted = counting{Events: s}
		page, next, err := service.Search(t.Context(), p, q, after, limit)
		errortest.None(t, err)
		ids := sequence.Map(page, func(e event.Event) int64 { return e.ID })
		log = append(log, fmt.Sprintf("%v, next %v, %d read in %d reads", ids, next, counted.documents, counted.reads))
		if after = next; next.IsZero() || len(log) > 200 {
			return log
		}
	}
}
