package event

import (
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Submission is a request to add elements to an event.
type Submission struct {
	Elements       []Submitted
	IDs            []int64 // of these, each once
	Clashes        Clashing
	IdempotencyKey idempotency.Key
	Match          record.Match // the versions of the event that may be added to
	People         bool         // show the event's owner too
	allocates      bool
}

// NewSubmission returns a submission of the elements, which allows clashes.
func NewSubmission(elements []Submitted) Submission {
	s := Submission{Elements: elements, Clashes: AllowClashes}
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

// people are the users to fetch beside an event's elements.
func (s Submission) people(e *Event) []int64 {
	if !s.People {
		return nil
	}
	return []int64{e.OwnerID}
}
