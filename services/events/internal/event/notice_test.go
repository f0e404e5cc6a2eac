package event

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// The notices of a change, by the fate of commitment 1 (and, where it is there, request 8 for the group 80).
func TestNotices_OfEachChange(t *testing.T) {
	at := time.Date(2026, 9, 7, 9, 0, 0, 0, time.UTC)
	none := Commitment{}
	is := func(s Status) Commitment { return Commitment{ID: 1, ElementID: 10, Status: s, AddedBy: 3} }
	decided := func(s Status) Commitment {
		return Commitment{ID: 1, ElementID: 10, Status: s, AddedBy: 3, Reason: "why", DecidedBy: 7, DecidedAt: at}
	}
	for name, c := range map[string]struct {
		before, after Commitment
		want          NoticeKind
	}{
		"asked for":                     {none, is(Requested), CommitmentRequested},
		"asked for, and returned once":  {none, decided(Requested), CommitmentRequested},
		"added freely":                  {none, is(Uncontrolled), ""},
		"confirmed":                     {is(Requested), decided(Confirmed), CommitmentDecided},
		"rejected":                      {decided(Confirmed), decided(Rejected), CommitmentDecided},
		"noted":                         {is(Requested), decided(Noted), CommitmentDecided},
		"returned by the administrator": {decided(Confirmed), decided(Requested), CommitmentDecided},
		"to be decided again, re-timed": {decided(Confirmed), is(Requested), CommitmentRequested},
		"left alone":                    {decided(Confirmed), decided(Confirmed), ""},
		"left waiting":                  {is(Requested), is(Requested), ""},
		"a confirmed one taken off":     {decided(Confirmed), none, CommitmentDeleted},
		"a waiting one taken off":       {is(Requested), none, ""},
		"a rejected one taken off":      {decided(Rejected), none, ""},
		"an uncontrolled one taken off": {is(Uncontrolled), none, ""},
		"an allocation": {none, Commitment{ID: 1, ElementID: 10, Status: Uncontrolled, RequestID: 8},
			RequestAllocated},
		"an allocation, of what was": {Commitment{ID: 1, ElementID: 10, Status: Uncontrolled, RequestID: 8},
			Commitment{ID: 1, ElementID: 10, Status: Uncontrolled, RequestID: 8}, ""},
		"an allocation taken back again": {Commitment{ID: 1, ElementID: 10, Status: Uncontrolled, RequestID: 8}, none,
			""},
	} {
		t.Run(name, func(t *testing.T) {
			state := func(c Commitment) Event {
				e := Event{ID: 5, Texts: Texts{Body: "Concert"}, OwnerID: 4,
					Requests: []Request{{ID: 8, ElementID: 80, Quantity: 2, AddedBy: 6}}}
				if c.ID != 0 {
					e.Commitments = []Commitment{c}
				}
				return e
			}
			after := state(c.after)
			after.Actor = 9
			got := Notices(state(c.before), after)
			if c.want == "" {
				valuetest.Holds(t, len(got) == 0, "got %+v", got)
				return
			}
			told := c.after
			if told.ID == 0 {
				told = c.before
			}
			entry := Entry{CommitmentID: 1, ElementID: 10, Status: told.Status, Reason: told.Reason,
				DecidedBy: told.DecidedBy, AddedBy: 3}
			if told.RequestID != 0 {
				entry.AddedBy, entry.RequestID, entry.GroupID, entry.Quantity, entry.Allocated = 6, 8, 80, 2, 1
			}
			want := []Notice{{Kind: c.want, Actor: 9, Event: NoticeEvent{ID: 5, Body: "Concert", OwnerID: 4},
				Entries: []Entry{entry}}}
			valuetest.Equal(t, want, got)
		})
	}
}

func TestNotices_OneOfEachKindAtMost(t *testing.T) {
	var before, after Event
	for id := range int64(20) {
		before.Commitments = append(before.Commitments, Commitment{ID: id, Status: Confirmed},
			Commitment{ID: 100 + id, Status: Requested})
		after.Commitments = append(after.Commitments, Commitment{ID: 100 + id, Status: Rejected, DecidedBy: 1},
			Commitment{ID: 200 + id, Status: Requested})
	}
	got := map[NoticeKind]int{}
	for _, n := range Notices(before, after) {
		got[n.Kind] += len(n.Entries)*100 + 1
	}
	if want := map[NoticeKind]int{CommitmentRequested: 2001, CommitmentDecided: 2001,
		CommitmentDeleted: 2001}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
