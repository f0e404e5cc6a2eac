package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

const (
	// occurrences is how many events a series has: enough that they are written together.
	occurrences = 6
	// seriesBegin is the first day of series, counted as those of events are, which come before.
	seriesBegin = days + 7
)

// daily is the rule of all series.
var daily = fmt.Sprintf("FREQ=DAILY;COUNT=%d", occurrences)

// repeated is a series in the ledger.
type repeated struct {
	title  string
	first  time.Time
	stands verdict
	events []int64 // as the answer has them; nil: there was none
}

// hallsThere is how many halls there are.
const hallsThere = 3

// hall is a room that one daily series has for itself.
type hall struct {
	room   int64
	series int64
	events []int64
}

// fillHalls makes the halls and their series.
func (sc *school) fillHalls(ctx context.Context) error {
	m := maker{ctx: ctx, client: sc.client}
	for n := range hallsThere {
		h := hall{room: m.element("Location", rooms+n, fields{})}
		first := firstDay.AddDate(0, 0, seriesBegin).Add(9 * time.Hour)
		m.do(func() error {
			made, err := sc.client.Repeat(ctx, sc.eventAt("Hall", first, time.Hour), []int64{h.room},
				fields{"rule": daily}, "allow")
			h.series = made.Series.ID("id")
			for _, e := range made.Series.Records("events") {
				h.events = append(h.events, e.ID("id"))
			}
			return err
		})
		sc.halls = append(sc.halls, h)
	}
	return m.err
}

// move moves the series of a hall by some days, each of its events to the time of another, while one of them is changed
// individually.
func (w *writer) move(ctx context.Context) bool {
	events := w.halls[w.dice.IntN(len(w.halls))].events
	alone, named := events[w.dice.IntN(len(events))], events[w.dice.IntN(len(events))]
	first := firstDay.AddDate(0, 0, seriesBegin+w.dice.IntN(2*occurrences)).Add(9 * time.Hour)
	starts, ends := first.Format(time.RFC3339), first.Add(time.Hour).Format(time.RFC3339)
	clashes := []string{"refuse", "skip"}[w.dice.IntN(2)]
	var beside sync.WaitGroup
	beside.Go(func() { // whatever becomes of it
		_, _ = w.admin.send(ctx, http.MethodPatch, fmt.Sprintf("/api/events/%d", alone),
			fields{"event": fields{"body": word("Hall")}})
	})
	w.attempt(ctx, w.admin, kindMove, http.MethodPatch, fmt.Sprintf("/api/events/%d?scope=all", named), fields{
		"event":   fields{"starts_at": starts, "ends_at": ends},
		"clashes": clashes, "overwrite": true,
	}, func(a servicetest.Answer, _ bool) bool {
		return a.Code == http.StatusConflict || a.Code == http.StatusUnprocessableEntity
	})
	beside.Wait()
	return true
}

// taking is when an event of a hall begins.
type taking struct {
	room   int64
	starts time.Time
}

// compareHalls checks that no two events of a hall are at one time.
func (c *check) compareHalls(ctx context.Context) error {
	for _, h := range c.ledger.halls {
		var found struct {
			Series struct {
				Events []struct {
					Event struct {
						StartsAt time.Time `json:"starts_at"`
					}
				}
			}
		}
		path := fmt.Sprintf("/api/series/%d", h.series)
		if _, err := c.get(ctx, path, &found); err != nil {
			return err
		}
		times := map[time.Time]int{}
		for _, e := range found.Series.Events {
			times[e.Event.StartsAt.UTC()]++
			c.taken[taking{h.room, e.Event.StartsAt.UTC()}] = true
		}
		if len(times) != occurrences || len(found.Series.Events) != occurrences {
			c.complaints.add("the %d events of the series %d are at %d times", len(found.Series.Events), h.series,
				len(times))
		}
	}
	return nil
}

// series creates a series of daily lessons.
func (w *writer) series(ctx context.Context) bool {
	day := firstDay.AddDate(0, 0, seriesBegin+w.dice.IntN(days))
	r := &repeated{title: word("Series"), first: day.Add(9 * time.Hour)}
	a, v := w.attempt(ctx, w.writer, kindSeries, http.MethodPost, "/api/events", fields{
		"event": w.eventAt(r.title, r.first, time.Hour), "repeat": fields{"rule": daily},
		"elements": sent(w.pick(w.rooms), w.pick(w.groups)),
	}, nil)
	if r.stands = v; v == done {
		var reply struct {
			Series   struct{ Events []struct{ ID int64 } }
			Failures []json.RawMessage
		}
		err := json.Unmarshal([]byte(a.Body), &reply)
		if err != nil || len(reply.Failures) > 0 || len(reply.Series.Events) != occurrences {
			w.complaints.add("%s: the series is not whole: %s", a.Request, a.Body)
		}
		for _, e := range reply.Series.Events {
			r.events = append(r.events, e.ID)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repeated = append(w.repeated, r)
	return true
}

// compareSeries finds the events of each series by their title: all that were acknowledged, each once, and of every
// other series all or none.
func (c *check) compareSeries(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, r := range c.ledger.repeated {
		group.Go(func() error {
			var found struct {
				Events []struct {
					ID       int64
					StartsAt time.Time `json:"starts_at"`
				}
			}
			path := "/api/events?limit=200&text=" + url.QueryEscape(r.title)
			if _, err := c.get(ctx, path, &found); err != nil {
				return err
			}
			var ids []int64
			whole := len(found.Events) == occurrences
			for place, e := range found.Events {
				ids = append(ids, e.ID)
				whole = whole && e.StartsAt.Equal(r.first.AddDate(0, 0, place))
			}
			switch {
			case len(ids) == 0 && r.stands != done:
			case !whole:
				c.complaints.add("of the series %q there are %d events; acknowledged: %t", r.title, len(ids),
					r.stands == done)
			case r.events != nil && !slices.Equal(ids, r.events):
				c.complaints.add("the series %q has the events %v, and was answered with %v", r.title, ids, r.events)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.occurring = append(c.occurring, ids...)
			return nil
		})
	}
	return group.Wait()
}
