package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Lessons are the events of Belfry that earlier imports made of lessons, from a day on.
type Lessons struct {
	Gone []Lesson // those that the source no longer has, in the order of their ids
	Of   int      // all
}

// Lesson is such an event.
type Lesson struct {
	ID        int64
	Key, Body string
}

// FindLessons compares the lessons of a source with the events of earlier ones that begin on the day from or later. Of
// a source without lessons there are none. Requires the admin permission.
func FindLessons(
	ctx context.Context, c *client.Client, source Source, zone wiretime.Zone, from wiretime.Day,
) (*Lessons, error) {
	found, gone := &Lessons{}, map[string]Lesson{}
	if !source.Has(bundle.Lessons) {
		return found, nil
	}
	events := listOf(bundle.Events)
	for r, err := range c.List(ctx, events.path, events.part, nil) {
		if err != nil {
			return nil, err
		}
		key := r.Text("key")
		if strings.HasPrefix(key, bundle.LessonKeys) && zone.DayOf(timeOf(r, "starts_at")) >= from {
			gone[key] = Lesson{ID: r.ID("id"), Key: key, Body: r.Text("body")}
		}
	}
	found.Of = len(gone)
	for row, err := range source.Rows(bundle.Events) {
		if err != nil {
			return nil, err
		}
		delete(gone, row.Key)
	}
	found.Gone = slices.SortedFunc(maps.Values(gone), func(a, b Lesson) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// Has reports whether an event is of a lesson that has gone.
func (l *Lessons) Has(event int64) bool {
	_, has := slices.BinarySearchFunc(l.Gone, event, func(a Lesson, id int64) int { return cmp.Compare(a.ID, id) })
	return has
}

// Warnings says whether so many have gone that the source may be wrong.
func (l *Lessons) Warnings() []Warning {
	if !tenthGone(len(l.Gone), l.Of) {
		return nil
	}
	return []Warning{{Confirm: string(bundle.Lessons),
		Text: fmt.Sprintf("%d of %d events of lessons would be deleted", len(l.Gone), l.Of)}}
}

// deleteLessons deletes the events of lessons that have gone.
func (l *run) deleteLessons(ctx context.Context, tally *Tally) error {
	if tally.Kind != bundle.Events || l.options.Lessons == nil {
		return nil
	}
	for _, lesson := range l.options.Lessons.Gone {
		if !l.options.DryRun {
			err := l.client.Delete(ctx, fmt.Sprintf("/api/events/%d", lesson.ID), nil)
			if err != nil && !client.Missing(err) {
				return err
			}
		}
		tally.Deleted++
		if l.options.List != nil {
			l.options.List(Listed{Kind: tally.Kind, Key: lesson.Key, Name: lesson.Body, Result: "deleted"})
		}
	}
	return nil
}

// timeOf is a time of an answer, zero where it has none.
func timeOf(r client.Record, field string) time.Time {
	at, err := wiretime.Parse(r.Text(field))
	if err != nil {
		return time.Time{}
	}
	return at
}
