package api

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// search is GET /api/events.
func (h handlers) search(c *fiber.Ctx) error {
	q, err := readSearch(c)
	if err != nil {
		return err
	}
	limit, err := web.Limit(c)
	if err != nil {
		return err
	}
	after, err := readFoundPlace(c)
	if err != nil {
		return err
	}
	found, next, err := h.events.Search(c.UserContext(), web.Principal(c), q, after, limit)
	if err != nil {
		return err
	}
	included, err := h.includedIn(c, found)
	if err != nil {
		return err
	}
	shown := sequence.Map(found, func(e event.Event) form.Event { return h.shape.including(&e, included) })
	return web.OKPage(c, "events", shown, nextFound(c, next), func(i int) web.Field {
		return nextFound(c, event.PlaceFound(&found[i], next.Window))
	})
}

// includedIn is what the client asks the summaries of events to include; they have no decisions.
func (h handlers) includedIn(c *fiber.Ctx, events []event.Event) (event.Included, error) {
	include := readInclude(c)
	include.Decisions = false
	return h.events.Included(c.UserContext(), h.reader(c), include, event.EachOf(events, event.Itself))
}

// readSearch reads a search from the query. An empty parameter counts as not given.
func readSearch(c *fiber.Ctx) (event.Search, error) {
	text, err := web.Query(c, "text")
	if err != nil {
		return event.Search{}, err
	}
	q := event.Search{Text: strings.TrimSpace(text), Status: event.Status(c.Query("status"))}
	if text != "" && q.Text == "" {
		return event.Search{}, problem.New(problem.Malformed, "text is blank")
	}
	if q.Status != "" && !q.Status.Valid() {
		return event.Search{}, problem.New(problem.Malformed, "status is not a status of a commitment")
	}
	category, _, err := web.Spelled(c, "category", "eventcategory_id", "event_category_id")
	if err != nil {
		return event.Search{}, err
	}
	for name, id := range map[string]*int64{category: &q.CategoryID, "element": &q.ElementID, "owner": &q.OwnerID} {
		if *id, err = web.QueryID(c, name); err != nil {
			return event.Search{}, err
		}
	}
	q.Days, err = readOpenDays(c)
	return q, err
}

// readOpenDays reads days of which one end or both may be open.
func readOpenDays(c *fiber.Ctx) (wiretime.Days, error) {
	days := wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}
	for name, day := range map[string]*wiretime.Day{"start_date": &days.First, "end_date": &days.Last} {
		value := c.Query(name)
		if value == "" {
			continue
		}
		var err error
		if *day, err = wiretime.ParseDay(value); err != nil {
			return days, problem.New(problem.Malformed, "%s is not a date (YYYY-MM-DD)", name)
		}
	}
	if days.Last < days.First {
		return days, problem.New(problem.Malformed, "end_date is before start_date")
	}
	return days, nil
}

// readFoundPlace reads the place in after, as nextFound wrote it.
func readFoundPlace(c *fiber.Ctx) (event.FoundPlace, error) {
	var starts, ends, id, window int64
	given, err := web.ReadPlace(c, &starts, &ends, &id, &window)
	if !given || err != nil {
		return event.FoundPlace{}, err
	}
	return event.FoundPlace{
		Starts: time.Unix(starts, 0).UTC(), Ends: time.Unix(ends, 0).UTC(), EventID: id,
		Window: time.Duration(window) * time.Second,
	}, nil
}

func nextFound(c *fiber.Ctx, p event.FoundPlace) web.Field {
	if p.IsZero() {
		return web.NextPlace(c)
	}
	return web.NextPlace(c, p.Starts.Unix(), p.Ends.Unix(), p.EventID, int64(p.Window/time.Second))
}
