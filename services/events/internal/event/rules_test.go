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

func TestDecisionsPart5_EveryTransition(t *testing.T) {
	allowed := map[Status][]Status{
		Requested: {Confirmed, Rejected, Noted},
		Noted:     {Confirmed, Rejected, Requested},
		Rejected:  {Confirmed, Noted, Requested},
		Confirmed: {Rejected, Requested},
	}
	for _, from := range Statuses() {
		for _, to := range append(Statuses(), "", "maybe") {
			valuetest.Same(t, from.MayMoveTo(to), slices.Contains(allowed[from], to), "%s to %s", from, to)
		}
	}
}

func TestPart3_1_StatusOfANewCommitment(t *testing.T) {
	admin := principal.Principal{UserID: bob, Permissions: principal.All()}
	for _, c := range []struct {
		element int64
		p       principal.Principal
		want    Status
	}{
		{room, user(bob), Uncontrolled}, {calendar, user(bob), Requested}, {calendar, user(ann), Uncontrolled},
		{calendar, admin, Requested},
	} {
		valuetest.Same(t, statusFor(c.p, facts()[c.element]), c.want, "element %d by user %d", c.element, c.p.UserID)
	}
}

func TestPart4_2_Adding(t *testing.T) {
	taken := map[string][]string{"element_id": {"has already been taken"}}
	for name, c := range map[string]struct {
		event     Event
		submitted []Submitted
		after     Event
		failures  []string
	}{
		"nothing": {},
		"each kind in order": {
			submitted: submit(calendar, buses, room, buses),
			after: Event{Commitments: []Commitment{{ID: 11, ElementID: calendar, Status: Requested},
				{ID: 12, ElementID: room, Status: Uncontrolled}},
				Requests: []Request{{ID: 21, ElementID: buses, Quantity: 2}}},
		},
		"none such": {
			submitted: []Submitted{{Text: "x"}, {Text: "99", ID: 99}},
			failures:  []string{"0 x nothing", "1 99 nothing"},
		},
		"twice": {
			submitted: submit(room, room),
			after:     Event{Commitments: []Commitment{{ID: 11, ElementID: room, Status: Uncontrolled}}},
			failures:  []string{fmt.Sprint("1 1 uncontrolled ", taken)},
		},
		"an item that was allocated": {
			event:     Event{Commitments: []Commitment{{ID: 5, ElementID: bus, RequestID: 6, Status: Uncontrolled}}},
			submitted: submit(bus),
			after:     Event{Commitments: []Commitment{{ID: 5, ElementID: bus, RequestID: 6, Status: Uncontrolled}}},
			failures:  []string{fmt.Sprint("0 4 uncontrolled ", taken)},
		},
		"one too many of a group": {
			event:     Event{Requests: []Request{{ID: 6, ElementID: buses, Quantity: 999}}},
			submitted: submit(buses, buses, room),
			after: Event{Requests: []Request{{ID: 6, ElementID: buses, Quantity: 1000}},
				Commitments: []Commitment{{ID: 11, ElementID: room, Status: Uncontrolled}}},
			failures: []string{"1 3 1001 map[quantity:[must be at most 1000]]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.event
			var failures []string
			for _, f := range e.addElements(user(bob), c.submitted, facts(), someIDs(), nil) {
				what := "nothing"
				switch {
				case f.Status != "":
					what = fmt.Sprint(f.Status, " ", f.Errors)
				case f.Quantity != 0:
					what = fmt.Sprint(f.Quantity, " ", f.Errors)
				}
				failures = append(failures, fmt.Sprintf("%d %s %s", f.Index, f.Submitted.Text, what))
			}
			if fmt.Sprint(e) != fmt.Sprint(c.after) || !slices.Equal(failures, c.failures) {
				t.Errorf("got  %+v %q\nwant %+v %q", e, failures, c.after, c.failures)
			}
		})
	}
}

func TestPart4_2_Rule08_AGroupThatWasSwitchedIsTakenAsWhatItWasBefore(t *testing.T) {
	for name, e := range map[string]Event{
		"committed, and a resource group since":     {Commitments: []Commitment{{ID: 5, ElementID: buses}}},
		"requested, and no resource group any more": {Requests: []Request{{ID: 6, ElementID: room, Quantity: 2}}},
	} {
		before := fmt.Sprint(e)
		on := e.elementIDs()[0]
		failures := e.addElements(user(bob), submit(on, on), facts(), someIDs(), nil)
		if fmt.Sprint(e) != before || len(failures) != 2 {
			t.Fatalf("%s: %+v, failures %v", name, e, failures)
		}
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

func TestDecisionsPart4_ReconsideringARetimedEvent(t *testing.T) {
	for _, before := range Statuses() {
		for _, c := range []struct {
			element int64
			by      int64
			want    bool // returns to requested
		}{
			{calendar, bob, before == Confirmed || before == Noted || before == Rejected}, {calendar, ann, false},
			{room, bob, false},
		} {
			e := Event{Commitments: []Commitment{{ID: 1, ElementID: c.element, Status: before, RequestID: 9,
				Reason: "r", DecidedBy: ann}}}
			e.reconsider(user(c.by), facts())
			got := e.Commitments[0]
			if c.want && got != (Commitment{ID: 1, ElementID: c.element, Status: Requested, RequestID: 9}) || !c.want &&
				(got.Status != before || got.Reason != "r") {
				t.Errorf("%s to element %d, re-timed by %d: %+v", before, c.element, c.by, got)
			}
		}
	}
}

func TestPart3_2_NumAllocatedCountsTheRequestsCommitments(t *testing.T) {
	e := Event{Requests: []Request{{ID: 6, ElementID: buses, Quantity: 3}},
		Commitments: []Commitment{{ID: 1, ElementID: bus, RequestID: 6}, {ID: 2, ElementID: room},
			{ID: 3, ElementID: 5, RequestID: 6}}}
	if e.Allocated(6) != 2 || e.Allocated(0) != 0 {
		t.Errorf("allocated %d, and %d without a request", e.Allocated(6), e.Allocated(0))
	}
	for quantity, right := range map[int]bool{-1: false, 0: false, 1: false, 2: true, 1000: true, 1001: false} {
		why := e.checkQuantity(6, quantity)
		valuetest.Same(t, why == nil, right, "quantity %d: %v", quantity, why)
	}
	e.removeCommitment(1)
	valuetest.Same(t, e.Allocated(6), 1, "allocated after deleting one of 2")
	e.removeRequest(6)
	if len(e.Requests) != 0 || len(e.Commitments) != 1 || e.Commitments[0].ID != 2 {
		t.Errorf("after deleting the request: %+v", e)
	}
}

func TestDecisionsPart4_Rights(t *testing.T) {
	e := &Event{OwnerID: ann, OrganiserID: 7}
	ownerless := &Event{}
	fact := fact.Element{Administrators: []int64{bob}}
	for name, c := range map[string]struct {
		p                 principal.Principal
		e                 *Event
		edit, remove, ask bool
	}{
		"owner":   {user(ann), e, true, true, true},
		"another": {user(103), e, false, false, false},
		"admin": {principal.Principal{UserID: 103, Permissions: principal.Permissions{Admin: true}}, e, true,
			true, true},
		"edits all events": {principal.Principal{UserID: 103, Permissions: principal.Permissions{EditAllEvents: true}},
			e, true, false, false}, // only what it sees and may know
		"organiser":      {principal.Principal{UserID: 103, ElementID: 7}, e, false, true, false},
		"administrator":  {user(bob), e, false, true, true},
		"no one's event": {principal.Principal{}, ownerless, false, false, false},
	} {
		valuetest.List(t, []bool{mayEdit(c.p, c.e), mayRemove(c.p, c.e, fact),
			mayChangeQuantity(c.p, c.e, fact)}, []bool{c.edit, c.remove, c.ask},
			"%s: edit, remove, ask", name)
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

func TestDecisionsPart5_Allocating(t *testing.T) {
	const other, gone, stranger, spares, inUse = 5, 6, 7, 10, 12
	stored := facts()
	for _, id := range []int64{bus, other, gone, stranger, inUse} {
		stored[id] = fact.Element{Element: form.Element{ID: id}, Current: id != gone}
	}
	stored[spares] = fact.Element{Element: form.Element{ID: spares, EntityType: form.Group}, Current: true}
	members := map[int64]bool{bus: true, other: true, gone: true, spares: true, inUse: true, stranger: false}
	const taken, booked, noMember, retired, full = "element_id: has already been taken", "element_id: is already " +
		"booked", "element_id: is not a member of the group on every day of the event", "element_id: is no longer " +
		"current", "request_id: already has its full quantity of 2"
	for name, c := range map[string]struct {
		before    []Commitment
		submitted []int64
		allocated []int64 // elements of the request after it
		failures  []string
	}{
		"nothing":          {nil, nil, nil, nil},
		"booked elsewhere": {nil, []int64{inUse, bus}, []int64{bus}, []string{"0 " + booked}},
		"one":              {nil, []int64{bus}, []int64{bus}, nil},
		"all":              {nil, []int64{other, bus}, []int64{other, bus}, nil},
		"twice":            {nil, []int64{bus, bus}, []int64{bus}, []string{"1 " + taken}},
		"no element":       {nil, []int64{99, bus}, []int64{bus}, []string{"0 not found"}},
		"no member": {nil, []int64{stranger, bus, buses}, []int64{bus},
			[]string{"0 " + noMember, "2 " + noMember}},
		"a group of members": {nil, []int64{spares, bus}, []int64{bus}, []string{"0 " + noMember}},
		"a retired one":      {nil, []int64{gone, bus}, []int64{bus}, []string{"0 " + retired}},
		"on the event": {[]Commitment{{ID: 1, ElementID: bus}}, []int64{bus, other}, []int64{other},
			[]string{"0 " + taken}},
		"over the quantity": {[]Commitment{{ID: 1, ElementID: 8, RequestID: 21}}, []int64{bus, other}, []int64{8, bus},
			[]string{"1 " + full}},
		"to another request": {[]Commitment{{ID: 1, ElementID: 8, RequestID: 22}}, []int64{bus, other},
			[]int64{bus, other}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := Event{Actor: bob, Commitments: c.before,
				Requests: []Request{{ID: 21, ElementID: buses, Quantity: 2}, {ID: 22, ElementID: 9, Quantity: 1}}}
			var failures []string
			for _, f := range e.allocate(21, submit(c.submitted...), stored, members, []int64{11, 12, 13},
				Booked{inUse: {{}}}) {
				what := "not found"
				if f.Status != "" {
					valuetest.Same(t, f.Status, Uncontrolled, "a failure shows")
					for field, messages := range f.Errors {
						what = field + ": " + messages[0]
					}
				}
				failures = append(failures, fmt.Sprintf("%d %s", f.Index, what))
			}
			var allocated []int64
			for _, commitment := range e.Commitments {
				if commitment.RequestID == 21 {
					allocated = append(allocated, commitment.ElementID)
				}
				if commitment.ID > 1 && commitment.Status != Uncontrolled {
					t.Errorf("allocated as %+v", commitment)
				}
			}
			if !slices.Equal(allocated, c.allocated) || !slices.Equal(failures, c.failures) {
				t.Errorf("allocated %v with failures %q\nwant %v with %q", allocated, failures, c.allocated, c.failures)
			}
		})
	}
}

func TestDecisionsPart9_WhatIsControlledForAUserIsRequestedAndReconsidered(t *testing.T) {
	free := facts()[room]
	outside, decided := free, free
	outside.Control.Outside, decided.Control.Decides = true, true
	for name, c := range map[string]struct {
		element fact.Element
		status  Status
		stays   bool
		decides bool
	}{
		"an element of its school":              {free, Uncontrolled, true, false},
		"an element of another school":          {outside, Requested, false, false},
		"an element of a school that it heads":  {decided, Uncontrolled, true, true},
		"one that is controlled for all others": {facts()[calendar], Requested, false, false},
	} {
		p := user(bob)
		valuetest.Same(t, statusFor(p, c.element), c.status, name)
		valuetest.Same(t, StaysDecided(p, c.element), c.stays, "%s: its decisions stay", name)
		valuetest.Same(t, c.element.DecidedBy(p), c.decides, "%s: decided by", name)
	}
}
