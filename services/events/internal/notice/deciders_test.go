package notice

import (
	"context"
	"slices"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	north, south              = 11, 12 // schools
	gym, hall                 = 21, 22 // elements of the north; the hall has an administrator
	keeper, head, both, other = 31, 32, 33, 34
)

// district stands in for the neighbours.
type district struct{ Elements }

func (district) Control(_ context.Context, q fact.ControlQuestion) ([]fact.Control, error) {
	var controls []fact.Control
	for _, id := range q.IDs {
		controls = append(controls, fact.Control{ElementID: id, Schools: []int64{north}})
	}
	return controls, nil
}

func (district) Users(_ context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	var users []fact.User
	for id, schools := range map[int64][]int64{head: {north}, both: {north, south}, other: {south}} {
		if slices.ContainsFunc(schools, func(id int64) bool { return slices.Contains(q.AdminOf, id) }) {
			users = append(users, fact.User{User: form.User{ID: id}, AdminOf: schools})
		}
	}
	return users, nil
}

func TestDecisionsPart9_ASchoolIsToldWhatWaitsForItsDecision(t *testing.T) {
	s := &Service{Options: Options{Elements: district{}, Users: district{}}}
	elements := map[int64]fact.Element{
		gym: {Element: form.Element{ID: gym}}, hall: {Element: form.Element{ID: hall}, Administrators: []int64{keeper}},
	}
	for kind, want := range map[event.NoticeKind][2][]int64{
		event.CommitmentRequested: {{head, both}, {keeper}},
		event.CommitmentDecided:   {nil, nil},
	} {
		n := Notice{Notice: event.Notice{Kind: kind, Entries: []event.Entry{{ElementID: gym}, {ElementID: hall}}}}
		deciders, err := s.decidersOf(t.Context(), n, elements)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range n.Entries {
			got := concerned(n, e, deciders[e.ElementID])
			slices.Sort(got)
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s of element %d concerns %v, want %v", kind, e.ElementID, got, want[i])
			}
		}
	}
}
