package absence

import (
	"context"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// Bounds of a note's contents: with all of them reached, every character escaped and a title of 80 characters in each
// line, it stays below the 65,536 characters of a note.
const (
	mostPlaces = 20 // lines, one for each other event
	mostNamed  = 20 // pupils in a line
	mostRooms  = 3  // locations of one event
	mostTime   = 80 // characters of a time
)

// contents is the note on an absence, in Markdown: how many of how many, then where, and who. It depends only on what
// was found, so that an unchanged absence reads the same. Readers insert the titles.
func (s *Service) contents(a Absence) string {
	var text strings.Builder
	verb := "are"
	if a.Elsewhere == 1 {
		verb = "is"
	}
	fmt.Fprintf(&text, "%d of %s %s elsewhere:\n\n", a.Elsewhere, count(a.Pupils, "pupil"), verb)
	for i, at := range a.places {
		if i == mostPlaces {
			fmt.Fprintf(&text, "- and at %s\n", count(len(a.places)-mostPlaces, "other event"))
			break
		}
		names := sequence.Map(at.pupils[:min(len(at.pupils), mostNamed)], func(p form.Element) string {
			return fact.PlainMarkdown(p.Name, erasure.MostName)
		})
		// The time comes first, as nothing in it can begin a block of Markdown.
		fmt.Fprintf(
			&text, "- %s, %s%s: %s", fact.PlainMarkdown(event.When(s.Zone, at.event.Span), mostTime),
			fact.TitleOf(at.event.ID), at.where(), strings.Join(names, ", "),
		)
		if more := len(at.pupils) - mostNamed; more > 0 {
			fmt.Fprintf(&text, " … and %d more", more)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// where is the locations of the other event in brackets, "" when it has none.
func (p place) where() string {
	if len(p.rooms) == 0 {
		return ""
	}
	names := sequence.Map(p.rooms[:min(len(p.rooms), mostRooms)], func(room string) string {
		return fact.PlainMarkdown(room, erasure.MostName)
	})
	if len(p.rooms) > mostRooms {
		names = append(names, "…")
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// locate fetches where the other events of the absences are.
func (s *Service) locate(ctx context.Context, absences []Absence) error {
	var ids []int64
	for _, a := range absences {
		for _, at := range a.places {
			ids = append(ids, attending(*at.event)...)
		}
	}
	facts, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: sequence.Distinct(ids)})
	if err != nil {
		return err
	}
	rooms := map[int64]string{}
	for _, f := range facts {
		if f.EntityType == form.Location {
			rooms[f.ID] = f.Name
		}
	}
	for _, a := range absences {
		for i := range a.places {
			for _, id := range sequence.Distinct(attending(*a.places[i].event)) {
				if room, ok := rooms[id]; ok {
					a.places[i].rooms = append(a.places[i].rooms, room)
				}
			}
		}
	}
	return nil
}
