package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// lesson is an event of Belfry that an earlier import made of a lesson.
type lesson struct {
	id        int64
	key, body string
}

// findLessons finds the events of lessons that Prune deletes: of those that begin on the day From or later, those that
// the source no longer has, in the order of their ids. A source without lessons has none.
func (l *importing) findLessons(ctx context.Context, source Source) error {
	switch {
	case !l.Prune || !source.Has(bundle.Lessons):
		return nil
	case !l.Admin:
		l.warn(Warning{
			Text: "events of removed lessons stay: only a user with the admin permission may list them"})
		return nil
	}
	gone := map[string]lesson{}
	for r, err := range records(ctx, l.Client, listOf(bundle.Events), nil) {
		if err != nil {
			return err
		}
		key := r.Text("key")
		if strings.HasPrefix(key, bundle.LessonKeys) && l.mayPrune(r) &&
			l.Zone.DayOf(timeOf(r, "starts_at")) >= l.From {
			gone[key] = lesson{r.ID("id"), key, r.Text("body")}
		}
	}
	all := len(gone)
	for row, err := range source.Rows(bundle.Events) {
		if err != nil {
			return err
		}
		delete(gone, row.Key)
	}
	l.lessons = slices.SortedFunc(maps.Values(gone), func(a, b lesson) int { return cmp.Compare(a.id, b.id) })
	if tooManyGone(len(gone), all) {
		l.warn(Warning{Confirm: string(bundle.Lessons),
			Text: fmt.Sprintf("%d of %d events of lessons would be deleted", len(gone), all)})
	}
	return nil
}

// mayPrune says whether Prune may delete an event: with School, one with elements, all of which belong to it.
func (l *importing) mayPrune(event client.Record) bool {
	entries := slices.Concat(event.Records("commitments"), event.Records("requests"))
	other := func(entry client.Record) bool { return !l.school[entry.ID("element_id")] }
	return l.school == nil || len(entries) > 0 && !slices.ContainsFunc(entries, other)
}

// deleteLessons deletes the events of lessons that have gone.
func (l *run) deleteLessons(ctx context.Context, tally *Tally) error {
	if tally.Kind != bundle.Events {
		return nil
	}
	for _, lesson := range l.options.lessons {
		if !l.options.DryRun {
			err := l.client.Delete(ctx, fmt.Sprintf("/api/events/%d", lesson.id), nil)
			if err != nil && !client.Missing(err) {
				return err
			}
		}
		tally.Deleted++
		if l.options.list != nil {
			l.options.list.tell(Listed{Kind: tally.Kind, Key: lesson.key, Name: lesson.body, Result: "deleted"})
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

// calendar reads the events in Belfry of categories, given by their keys, that the user sees. A category that does not
// exist yet has none.
func calendar(
	ctx context.Context, c *client.Client, keys []string, zone wiretime.Zone,
) (all []bundle.CalendarEvent, err error) {
	for category, err := range records(ctx, c, Categories, nil) {
		if err != nil {
			return nil, err
		}
		key := category.Text("key")
		if !slices.Contains(keys, key) {
			continue
		}
		// Without a day, a search needs a title or an element.
		query := url.Values{"category": {category.Text("id")}, "start_date": {wiretime.Day(0).String()},
			"limit": {"200"}} // the most that a page has
		for e, err := range c.List(ctx, "/api/events", "events", query) {
			if err != nil {
				return nil, err
			}
			all = append(all, bundle.CalendarEvent{Category: key, Title: e.Text("body"),
				Days: zone.Days(timeOf(e, "starts_at"), timeOf(e, "ends_at"))})
		}
	}
	return all, nil
}
