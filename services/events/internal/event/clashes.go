package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// Clashing says what a call does about elements that are booked by other events at the same time.
type Clashing string

// The ways to deal with clashes.
const (
	AllowClashes  Clashing = "allow"  // clashes are not looked for
	ReportClashes Clashing = "report" // write, and list the clashes
	SkipClashes   Clashing = "skip"   // leave out what clashes: an element of an event, an event of a series
	RefuseClashes Clashing = "refuse" // write nothing if anything clashes
)

// Exact says whether nothing that clashes is written, even when several calls write at once.
func (c Clashing) Exact() bool { return c == SkipClashes || c == RefuseClashes }

const (
	// MaxClashes bounds the clashes that one answer lists.
	MaxClashes = 1000
	// maxNamed bounds the elements and times that a refusal names in its message.
	maxNamed = 20
)

// Clash is an element of an event with another event that books it at the same time.
type Clash struct {
	Element fact.Element
	Event   Event
}

// Booked is, by element, the other events that book it.
type Booked map[int64][]Event

// Has says whether an element is booked.
func (b Booked) Has(element int64) bool { return len(b[element]) > 0 }

// Clashes lists the clashes of the elements that are booked, in their order.
func (b Booked) Clashes(elements []fact.Element) []Clash {
	var clashes []Clash
	for _, element := range elements {
		for _, other := range b[element.ID] {
			clashes = append(clashes, Clash{Element: element, Event: other})
		}
	}
	return clashes
}

// Addition is a set of elements that are about to be added to an event, as Clashes needs it.
type Addition struct {
	Mode     Clashing
	Event    Event              // as it is before
	Category *category.Category // of the event; nil: it is still to be read
	Elements []fact.Element     // those submitted that exist, each once
	Reader   fact.Sight         // who is shown the clashes
	// Allocates says that the elements are to be allocated: whatever their types and the event's category, another
	// allocation clashes, as does a busy event.
	Allocates bool
}

// WriteAddition stores an addition without the elements that are booked, and returns the stored event and the
// commitments that were added. Unless clashes are skipped or refused, booked is nil.
type WriteAddition func(booked Booked) (e Event, added []Commitment, err error)

// addition is the submission as an addition to an event; the lookup has been asked for its elements.
func (s Submission) addition(e Event, l *lookup, reader fact.Sight) Addition {
	a := Addition{Mode: s.Clashes, Event: e, Category: l.category, Reader: reader, Allocates: s.allocates}
	given := l.given()
	for _, id := range s.IDs {
		if element, exists := given[id]; exists {
			a.Elements = append(a.Elements, element)
		}
	}
	return a
}

// refused returns a ClashError when clashes are refused and there are some.
func (a Addition) refused(booked Booked) error {
	if a.Mode != RefuseClashes || len(booked) == 0 {
		return nil
	}
	return NewClashError(Taken{Span: a.Event.Span, Clashes: booked.Clashes(a.Elements)})
}

// outdated says whether a change of the event has made the clashes found out of date.
func (a Addition) outdated(e *Event) bool {
	return a.Mode != AllowClashes &&
		(!e.Span.Equal(a.Event.Span) || e.CategoryID != a.Event.CategoryID || e.Fences != a.Event.Fences)
}

// Several are events that are about to be created or moved, as Clashes needs them. One in a category that is not busy
// has its allocations alone. They are compared as if they were written one after the other: of two that overlap, the
// later one clashes.
type Several struct {
	Events   []Event        // as they will be; with their ids where they are to be booked
	Elements []fact.Element // those that they commit, each once; empty: none clashes
	// Moving says that they are stored, at their old times. One that clashes stays there, so others of them may clash
	// with it.
	Moving bool
	// Skips says that an event that clashes is not created, so no other clashes with it.
	Skips bool
	// Reader is the viewer of a report, which leaves out persons who are hidden from the viewer. Nil: the clashes
	// decide a write, and are exact.
	Reader *fact.Sight
}

// Taken is an event as it was to be written, with its clashes.
type Taken struct {
	Place   int // in its series; 0: it is written alone
	Span    wiretime.Span
	Clashes []Clash
}

// ClashError is a Conflict: a call that refuses clashes would make some, and has written nothing.
type ClashError struct {
	Taken []Taken
	cause *problem.Error
}

// NewClashError returns the refusal of a call because of these events, which its message does not name.
func NewClashError(taken ...Taken) *ClashError {
	return &ClashError{taken, problem.New(problem.Conflict, "already booked")}
}

// Error implements error.
func (e *ClashError) Error() string { return e.cause.Error() }

// Unwrap returns the Conflict.
func (e *ClashError) Unwrap() error { return e.cause }

// Refusal is err, of a ClashError as p may see it: with at most MaxClashes, and the names and times in its message.
func (s *Service) Refusal(ctx context.Context, p principal.Principal, err error) error {
	refused, is := errors.AsType[*ClashError](err)
	if !is {
		return err
	}
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return err
	}
	text := s.booked(v, refused.Taken)
	taken := slices.Clone(refused.Taken)
	shown, err := s.hideClashes(ctx, v, taken)
	if err != nil {
		return err
	}
	for i, of := range firstClashes(shown) {
		taken[i].Clashes = of
	}
	return &ClashError{taken, problem.New(problem.Conflict, "%s", text)}
}

// mayName says whether the viewer is told that an element clashes.
func (v Sight) mayName(of fact.Element) bool { return v.All() || v.finds(of) }

// booked says which elements are booked, and when.
func (s *Service) booked(v Sight, taken []Taken) string {
	var texts []string
	for _, t := range taken {
		var names []string
		for _, c := range t.Clashes {
			if !slices.Contains(names, c.Element.Name) && v.mayName(c.Element) {
				names = append(names, c.Element.Name)
			}
		}
		if len(names) > 0 {
			texts = append(texts, bounded(names, ", ")+" at "+s.o.Zone.Format(t.Span.Starts))
		}
	}
	if len(texts) == 0 {
		return "already booked"
	}
	return "already booked: " + bounded(texts, "; ")
}

// bounded joins the first of the texts.
func bounded(texts []string, separator string) string {
	joined := strings.Join(texts[:min(len(texts), maxNamed)], separator)
	if more := len(texts) - maxNamed; more > 0 {
		joined += fmt.Sprintf(" and %d more", more)
	}
	return joined
}

// hideClashes returns the clashes of refusals without what a report leaves out for the viewer: events that the viewer
// does not see, and persons whose events are hidden from the viewer.
func (s *Service) hideClashes(ctx context.Context, v Sight, taken []Taken) ([][]Clash, error) {
	clashes := make([][]Clash, len(taken))
	var ids []int64
	for i, t := range taken {
		clashes[i] = t.Clashes
		for _, c := range t.Clashes {
			if v.mayName(c.Element) {
				ids = append(ids, c.Element.ID)
			}
		}
	}
	hidden, err := s.read(ctx, v.Sight, ids)
	if err != nil {
		return nil, err
	}
	shown, err := s.showClashes(ctx, v, clashes)
	for i, of := range shown {
		shown[i] = filter(of, func(c Clash) bool { return !hidden[c.Element.ID] })
	}
	return shown, err
}

// firstClashes cuts the clashes of several events to MaxClashes in all. It is the last step: what is hidden takes no
// place.
func firstClashes(clashes [][]Clash) [][]Clash {
	cut, left := slices.Clone(clashes), MaxClashes
	for i, of := range cut {
		cut[i] = of[:min(len(of), left)]
		left -= len(cut[i])
	}
	return cut
}

// showClashes removes the clashes of each of several events with events that are not seen, and of elements that are not
// found, and redacts the others.
func (s *Service) showClashes(ctx context.Context, v Sight, clashes [][]Clash) ([][]Clash, error) {
	if v.Admin {
		return clashes, nil
	}
	all := slices.Concat(clashes...)
	l, err := s.lensOf(ctx, v, EachOf(all, func(c *Clash) *Event { return &c.Event }))
	if err != nil {
		return nil, err
	}
	shown := slices.Clone(clashes)
	for i := range shown {
		shown[i] = filter(shown[i], func(c Clash) bool {
			return l.sees(&c.Event) && v.mayName(c.Element)
		})
		for n := range shown[i] {
			l.redact(&shown[i][n].Event)
		}
	}
	return shown, nil
}

// SeenClashes is showClashes for p, MaxClashes in all, and says whether p sees everything.
func (s *Service) SeenClashes(
	ctx context.Context, p principal.Principal, clashes [][]Clash,
) (seen [][]Clash, all bool, err error) {
	v, err := s.SightOf(ctx, p)
	if err != nil {
		return nil, false, err
	}
	seen, err = s.showClashes(ctx, v, clashes)
	return firstClashes(seen), v.All(), err
}
