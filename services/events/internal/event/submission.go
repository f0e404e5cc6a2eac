package event

import (
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Submission is a request to add elements to an event.
type Submission struct {
	Elements       []Submitted
	IDs            []int64 // of these, each once
	Clashes        Clashing
	DryRun         bool // nothing is written, and what would be new has no ids
	IdempotencyKey idempotency.Key
	Match          record.Match // the versions of the event that may be added to
}

// NewSubmission returns a submission of the elements.
func NewSubmission(elements []Submitted) Submission {
	s := Submission{Elements: elements}
	seen := map[int64]bool{}
	for _, e := range elements {
		if e.ID != 0 && !seen[e.ID] {
			seen[e.ID] = true
			s.IDs = append(s.IDs, e.ID)
		}
	}
	return s
}

// Submitted is one entry of the elements that a client sends.
type Submitted struct {
	Text string // the value as submitted
	ID   int64  // 0: the value is not an id
}

// Clashing says what happens where an addition clashes.
type Clashing string

// The ways to deal with clashes.
const (
	IgnoreClashes Clashing = ""
	ReportClashes Clashing = "report"       // add, and say with what it clashes
	RefuseClashes Clashing = "refuse"       // fail what clashes
	RefuseEvent   Clashing = "refuse_event" // add nothing if anything clashes
)

// Refuses says whether what clashes is not added.
func (c Clashing) Refuses() bool { return c == RefuseClashes || c == RefuseEvent }

// maxNamed bounds the elements that a refusal names.
const maxNamed = 20

// Clash is an element of an event with another event that takes it up at the same time.
type Clash struct {
	Element fact.Element
	Event   Event
}

// Addition is elements that are about to be added to an event, as Clashes needs it.
type Addition struct {
	Mode     Clashing
	Event    Event              // as it is before
	Category *category.Category // of the event; nil: it is still to be read
	Elements []fact.Element     // those submitted that exist, each once
	Reader   fact.Sight         // who is shown the clashes
	// DryRun says that nothing is written, so that nothing is reserved either.
	DryRun bool
	// Allocates says that the elements are to be allocated: whatever their types and the event's category, another
	// allocation clashes, as does a busy event.
	Allocates bool
}

// WriteAddition stores an addition without the elements that it must refuse, and returns the event as it is stored,
// with the commitments that were added.
type WriteAddition func(refused map[int64]bool) (e Event, added []Commitment, err error)

// addition is the submission as an addition to an event; the lookup has been asked for its elements.
func (s Submission) addition(e Event, l *lookup, reader fact.Sight) Addition {
	a := Addition{Mode: s.Clashes, DryRun: s.DryRun, Event: e, Category: l.category, Reader: reader}
	for _, id := range s.IDs {
		if element, exists := l.elements[id]; exists {
			a.Elements = append(a.Elements, element)
		}
	}
	return a
}

// refusedWhole returns what is wrong with the submission as a whole when these elements clash: nil unless it asks for
// all or nothing.
func (s Submission) refusedWhole(clashing map[int64]bool, l *lookup) problem.Fields {
	if s.Clashes != RefuseEvent || len(clashing) == 0 {
		return nil
	}
	var names []string
	for _, id := range s.IDs {
		if clashing[id] {
			names = append(names, l.elements[id].Name)
		}
	}
	text := "is already booked: " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return problem.Fields{"elements": {text}}
}

// outdated says whether the event has changed so that what was found out about clashes no longer holds.
func (a Addition) outdated(e *Event) bool {
	return a.Mode != IgnoreClashes &&
		(!e.Span.Equal(a.Event.Span) || e.CategoryID != a.Event.CategoryID || e.Fences != a.Event.Fences)
}
