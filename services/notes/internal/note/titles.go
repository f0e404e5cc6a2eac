package note

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
)

const (
	mostTitle    = 80   // characters of a title in a system note
	titlesAtOnce = 1000 // ids in one question
	deletedEvent = "a deleted event"
)

// titled inserts the current titles of other events into the system's notes: Busy for a confidential event, for all
// readers of the note. Events is asked only where a note names one.
func (s *Service) titled(ctx context.Context, notes []Note) error {
	var ids []int64
	for _, n := range notes {
		if n.Topic != "" {
			ids = append(ids, fact.TitlesIn(n.Contents)...)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	titles := map[int64]string{}
	for some := range slices.Chunk(slices.Compact(ids), titlesAtOnce) {
		outsider := &fact.Sight{Scope: principal.SeesAll} // who takes part in no event
		events, err := s.Events.Summaries(ctx, fact.SummariesQuestion{IDs: some, Sight: outsider})
		if err != nil {
			return err
		}
		for _, e := range events {
			titles[*e.ID] = fact.PlainMarkdown(e.Body, mostTitle)
		}
	}
	for i := range notes {
		if n := &notes[i]; n.Topic != "" {
			n.HTML, n.Markup = "", 0 // it follows from what is shown
			n.Contents = fact.WithTitles(n.Contents, func(id int64) string {
				if title, exists := titles[id]; exists {
					return title
				}
				return deletedEvent
			})
		}
	}
	return nil
}
