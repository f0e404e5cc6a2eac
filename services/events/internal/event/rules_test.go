package event

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const (
	ann, bob = 101, 102 // users
	room     = 1        // free
	calendar = 2        // controlled by ann
	buses    = 3        // a resource group, controlled by bob
	bus      = 4        // one of its items, free
)

func facts() map[int64]fact.Element {
	element := func(id int64, resource bool, administrators ...int64) fact.Element {
		return fact.Element{Element: form.Element{ID: id}, Resource: resource, Administrators: administrators}
	}
	return map[int64]fact.Element{room: element(room, false), calendar: element(calendar, false, ann),
		buses: element(buses, true, bob), bus: element(bus, false)}
}

func user(id int64) principal.Principal { return principal.Principal{UserID: id} }

func submit(elements ...int64) []Submitted {
	return sequence.Map(elements, func(id int64) Submitted { return Submitted{Text: fmt.Sprint(id), ID: id} })
}

func someIDs() IDs {
	return IDs{Commitments: []int64{11, 12, 13, 14, 15}, Requests: []int64{21, 22}}
}

func TestPart4_2_Rule08_AGroupThatWasSwitchedIsTakenAsWhatItWasBefore(t *testing.T) {
	for name, e := range map[string]Event{
		"committed, and a resource group since":     {Commitments: []Commitment{{ID: 5, ElementID: buses}}},
		"requested, and no resource group any more": {Requests: []Request{{ID: 6, ElementID: room, Quantity: 2}}},
	} {
		before := fmt.Sprint(e)
		on := e.elementIDs()[0]
		failures := e.addElements(user(bob), submit(on, on), facts(), someIDs(), nil)
		valuetest.MustHold(t, fmt.Sprint(e) == before && len(failures) == 2, "%s: %+v, failures %v", name, e, failures)
		for _, f := range failures {
			if f.Status == "" || !slices.Equal(f.Errors["element_id"], []string{problem.Taken}) {
				t.Errorf("%s: failure %+v", name, f)
			}
		}
	}
}

func TestHardToBreak_Row04_AnEventHasAtMost1500Elements(t *testing.T) {
	e := Event{}
	for i := range maxElements - 1 {
		e.Commitments = append(e.Commitments, Commitment{ElementID: int64(1000 + i)})
	}
	failures := e.addElements(user(bob), submit(room, calendar, buses), facts(), someIDs(), nil)
	if maxElements != 1500 || len(e.Commitments) != maxElements || len(failures) != 2 ||
		failures[0].Status == "" || failures[1].Quantity == 0 {
		t.Errorf("%d commitments, failures %+v", len(e.Commitments), failures)
	}
}

// With allocations made by hand, an import gave an event more items than any change by hand accepts.
func TestHardToBreak_Row04_AnImportAllocatesNoMoreThanAnEventMayHave(t *testing.T) {
	b := batch{elements: map[string]fact.Element{"Group:buses": facts()[buses], "Service:bus": facts()[bus]}}
	row := Row{Elements: []string{"Group:buses"}, Decisions: []RowDecision{{
		Element: "Service:bus", Decision: Decision{Status: Uncontrolled}, Request: "Group:buses",
	}}}
	for name, c := range map[string]struct {
		allocated, others int // commitments by hand
		fault             string
	}{
		"with room":               {maxQuantity - 1, 0, ""},
		"more than a request has": {maxQuantity, 0, "Service:bus is one too many: a request has at most 1000"},
		"more than an event has":  {0, maxElements - 1, "Service:bus is one too many: an event has at most 1500"},
		"as many as an event has": {0, maxElements - 2, ""},
		"more than both may have": {maxQuantity, 499, "Service:bus is one too many: an event has at most 1500"},
	} {
		e := Event{Requests: []Request{{ID: 6, ElementID: buses, Quantity: max(c.allocated, 1)}}}
		for i := range c.allocated + c.others {
			by := Commitment{ElementID: int64(1000 + i)}
			if i < c.allocated {
				by.RequestID = 6
			}
			e.Commitments = append(e.Commitments, by)
		}
		had, faults := len(e.Commitments), problem.Fields{}
		b.allocate(&e, row, someIDs(), faults)
		valuetest.Same(t, strings.Join(faults["decisions"], ", "), c.fault, name)
		valuetest.Same(t, len(e.Commitments) > had, c.fault == "", name+": that it is allocated")
		valuetest.Holds(t, e.Requests[0].Quantity == max(1, e.Allocated(6)), "%s: %+v", name, e.Requests)
	}
}

func TestReplaceElements(t *testing.T) {
	e := Event{
		Commitments: []Commitment{{ID: 1, ElementID: room, Status: Uncontrolled},
			{ID: 2, ElementID: calendar, Status: Confirmed},
			{ID: 3, ElementID: bus, Status: Uncontrolled, RequestID: 6},
			{ID: 4, ElementID: 5, Status: Uncontrolled, RequestID: 6}},
		Requests: []Request{{ID: 6, ElementID: buses, Quantity: 3}},
	}
	failures := e.replaceElements(user(bob), submit(calendar, buses), facts(), someIDs())
	want := Event{Commitments: []Commitment{{ID: 2, ElementID: calendar, Status: Confirmed},
		{ID: 3, ElementID: bus, Status: Uncontrolled, RequestID: 6},
		{ID: 4, ElementID: 5, Status: Uncontrolled, RequestID: 6}},
		Requests: []Request{{ID: 6, ElementID: buses, Quantity: 2}}} // not below what is allocated
	if len(failures) != 0 || fmt.Sprint(e) != fmt.Sprint(want) {
		t.Errorf("got  %+v %v\nwant %+v", e, failures, want)
	}
	failures = e.replaceElements(user(bob), submit(room, calendar, room), facts(), someIDs())
	want = Event{Commitments: []Commitment{{ID: 2, ElementID: calendar, Status: Confirmed},
		{ID: 11, ElementID: room, Status: Uncontrolled}}}
	if len(failures) != 1 || fmt.Sprint(e.Commitments) != fmt.Sprint(want.Commitments) || len(e.Requests) != 0 {
		t.Errorf("got  %+v %v\nwant %+v", e, failures, want)
	}
}

func TestReplace_IsWholeAndHidesWhatTheViewerDoesNotSee(t *testing.T) {
	stored := Event{Commitments: []Commitment{{ID: 1, ElementID: room}, {ID: 2, ElementID: bus}}}
	for name, c := range map[string]struct {
		replaced, with []int64
		hidden         int64
		booked         int64
		after, faults  string
		failures       int
	}{
		"one":            {[]int64{room}, []int64{calendar}, 0, 0, "2 11", "", 0},
		"one by a group": {[]int64{room}, []int64{buses}, 0, 0, "2", "", 0},
		"booked":         {[]int64{room, bus}, []int64{calendar, buses}, 0, calendar, "1", "", 1},
		"hidden": {[]int64{room}, []int64{calendar}, room, 0, "",
			"replace[0].element is not on the event", 0},
		"by what is there": {[]int64{room}, []int64{bus}, 0, 0, "", "replace[0].with has already been taken", 0},
		"by what is hidden there": {[]int64{room}, []int64{bus}, bus, 0, "",
			"replace[0].with must exist", 0},
	} {
		e := stored
		e.Commitments = slices.Clone(stored.Commitments)
		r := Replacement{Submission: NewSubmission(submit(c.with...)), Replaced: c.replaced}
		shown := func(element int64) bool { return e.names(element) && element != c.hidden }
		booked := Booked{}
		if c.booked != 0 {
			booked[c.booked] = []Event{{}}
		}
		failures, err := e.replace(user(bob), r, facts(), shown, someIDs(), booked)
		var faults, after []string
		if err != nil {
			for field, messages := range problem.As(err).Fields {
				faults = append(faults, field+" "+messages[0])
			}
		} else {
			for _, of := range e.Commitments {
				after = append(after, fmt.Sprint(of.ID))
			}
		}
		if strings.Join(faults, ", ") != c.faults || strings.Join(after, " ") != c.after ||
			len(failures) != c.failures {
			t.Errorf("%s: %v %v %v", name, faults, after, failures)
		}
	}
}

func TestReplace_ByAGroupThatIsRequestedIsTaken(t *testing.T) {
	e := Event{
		Commitments: []Commitment{{ID: 1, ElementID: room}},
		Requests:    []Request{{ID: 2, ElementID: buses, Quantity: 1}},
	}
	r := Replacement{Submission: NewSubmission(submit(buses)), Replaced: []int64{room}}
	for hidden, want := range map[int64]string{0: problem.Taken, buses: problem.MustExist} {
		shown := func(element int64) bool { return element != hidden }
		_, err := e.replace(user(bob), r, facts(), shown, someIDs(), nil)
		if err == nil || !slices.Equal(problem.As(err).Fields["replace[0].with"], []string{want}) ||
			e.Requests[0].Quantity != 1 {
			t.Errorf("hidden %d: %v, requested %d", hidden, err, e.Requests[0].Quantity)
		}
	}
}
