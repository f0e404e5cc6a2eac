package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/directory"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// What elements answers.
var (
	ElementFacts = Question[fact.ElementsQuestion, []fact.Element]{
		Path: "/internal/elements/facts", Field: "elements", MaxBody: 4 << 20, // the references of a whole import batch
		Nothing: func(q fact.ElementsQuestion) bool { return len(q.IDs)+len(q.Keys) == 0 },
	}
	Administered = Question[fact.AdministeredQuestion, []fact.Element]{
		Path: "/internal/elements/administered", Field: "elements",
	}
	Reaches = Question[fact.ReachesQuestion, []fact.ElementReaches]{
		Path: "/internal/elements/reaches", Field: "elements",
		Nothing: func(q fact.ReachesQuestion) bool { return len(q.IDs) == 0 },
	}
	Surroundings = Question[fact.SurroundingsQuestion, fact.Surroundings]{
		Path: "/internal/elements/surroundings", Field: "surroundings",
	}
	Belonging = Question[fact.BelongingQuestion, []int64]{
		Path: "/internal/elements/belonging", Field: "elements",
		Nothing: func(q fact.BelongingQuestion) bool { return len(q.Schools) == 0 || !q.All && len(q.IDs) == 0 },
	}
	Control = Question[fact.ControlQuestion, []fact.Control]{
		Path: "/internal/elements/control", Field: "elements",
		Nothing: func(q fact.ControlQuestion) bool { return len(q.IDs) == 0 },
	}
	Beyond = Question[fact.BeyondQuestion, []int64]{
		Path: "/internal/elements/beyond", Field: "users",
		Nothing: func(q fact.BeyondQuestion) bool { return len(q.Users) == 0 },
	}
	Pupils = Question[fact.PupilsQuestion, []form.Element]{
		Path: "/internal/elements/pupils", Field: "pupils",
		Nothing: func(q fact.PupilsQuestion) bool { return len(q.IDs) == 0 },
	}
)

// Elements asks the elements service.
type Elements struct {
	peer *peer
	near *directory.Shelf[fact.Element]
}

// NewElements returns the client of the service whose internal listener is at base.
func NewElements(t *Transport, base string) *Elements {
	return &Elements{t.peer("elements", base), directory.NewShelf(t.memory, "facts", directory.Element, bytesOfFact)}
}

// bytesOfFact is roughly a fact's size in memory.
func bytesOfFact(e fact.Element) int {
	const fixed, perAdministrator = 120, 8
	return fixed + len(e.Name) + len(e.Key) + perAdministrator*len(e.Administrators)
}

// Facts returns the elements asked for that exist, current or not, in no order. They are shared:
// callers must not change them.
func (e *Elements) Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	if len(q.IDs) == 0 || len(q.Keys) > 0 {
		return ask(ctx, e.peer, ElementFacts, q)
	}
	return find(ctx, e.near, q.IDs, func(e fact.Element) int64 { return e.ID },
		func(ctx context.Context, ids []int64) ([]fact.Element, error) {
			return ask(ctx, e.peer, ElementFacts, fact.ElementsQuestion{IDs: ids})
		})
}

// Administered returns the elements that the user is an administrator of, current or not, in no order.
func (e *Elements) Administered(ctx context.Context, q fact.AdministeredQuestion) ([]fact.Element, error) {
	return ask(ctx, e.peer, Administered, q)
}

// Reaches returns whose commitments count for the elements that exist, in the order of the question: their own, and
// those of their groups on the days of the membership.
func (e *Elements) Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	return ask(ctx, e.peer, Reaches, q)
}

// Surroundings returns what a user who does not see everything sees of the directory on the days.
func (e *Elements) Surroundings(ctx context.Context, q fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return ask(ctx, e.peer, Surroundings, q)
}

// Belonging returns the ids, in order, of what belongs to one of the schools today.
func (e *Elements) Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error) {
	return ask(ctx, e.peer, Belonging, q)
}

// Control returns the effect of schools on a user, for elements that belong to one, where there are several schools.
func (e *Elements) Control(ctx context.Context, q fact.ControlQuestion) ([]fact.Control, error) {
	return ask(ctx, e.peer, Control, q)
}

// Beyond returns the users, in order, who administer an element that belongs to none of the schools today.
func (e *Elements) Beyond(ctx context.Context, q fact.BeyondQuestion) ([]int64, error) {
	return ask(ctx, e.peer, Beyond, q)
}

// Pupils returns the current pupils who are among the elements or, on any of the days, in one of them, directly or
// through other groups. Each is listed once, in order of id. A few may be included whose memberships of nested groups
// share no day; Reaches is exact.
func (e *Elements) Pupils(ctx context.Context, q fact.PupilsQuestion) ([]form.Element, error) {
	return ask(ctx, e.peer, Pupils, q)
}
