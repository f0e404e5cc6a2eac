package api

import (
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/series"
)

// changesSeveral says whether a change is of several events of a series.
func changesSeveral(c *fiber.Ctx) bool { return readScope(c) != series.One }

// What a change of several events takes: beside event, and in it. Anything else is a fault there, as it would be
// ignored.
var (
	besideEvent = []string{"event", "overwrite", "clashes"}
	inEvent     = append(event.TextNames(), categoryField, categoryOther, "category", "organiser_id",
		"all_day_field", "starts_at_text", "ends_at_text", "all_day", "starts_at", "ends_at")
)

// readSeriesChange reads which events are to be changed, and how.
func (h handlers) readSeriesChange(c *fiber.Ctx, change web.Change) (series.ChangeRequest, error) {
	scope := readScope(c)
	body, err := web.Body(c)
	if err != nil {
		return series.ChangeRequest{}, err
	}
	q := series.ChangeRequest{
		Fields: h.readFields(change.Fields), Scope: scope, Match: change.Match, Key: web.IdempotencyKey(c),
	}
	faults := q.Fields.Faults
	q.Overwrite = or(body.Bool("overwrite", faults))
	if q.Overwrite && scope == series.One {
		return q, problem.New(problem.Malformed, "overwrite needs scope in the query (following, all)")
	}
	q.Clashes = readClashes(body, event.AllowClashes)
	if scope != series.One {
		refuseOthers(body, besideEvent, faults)
		refuseOthers(change.Fields, inEvent, faults)
	}
	return q, nil
}

// refuseOthers finds fault with fields that are none of those.
func refuseOthers(o web.Object, known []string, faults problem.Fields) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, name) && len(faults) < maxUnknown {
			faults.Add(name, problem.Fixed)
		}
	}
}

// maxUnknown bounds the faults of unknown fields.
const maxUnknown = 20

// shownChange is what became of events of a series.
type shownChange struct {
	ID      int64          `json:"id"`
	Changed []shownPlanned `json:"changed"`
	LeftOut []shownKept    `json:"left_out"`
}

// shownKept is an event of a series that was left as it is, and why.
type shownKept struct {
	Place     int         `json:"place"`
	ID        *int64      `json:"id"`        // null: it is hidden
	StartsAt  *string     `json:"starts_at"` // null: it is deleted, or hidden
	Reason    string      `json:"reason"`
	Changed   []event.Own `json:"changed_alone"`
	EventID   *int64      `json:"event_id"`
	ElementID *int64      `json:"element_id"`
}

// changeOfSeries are what became of the other events, beside the one named.
func (s shape) changeOfSeries(v series.ChangeView) []web.Field {
	fields := []web.Field{{Name: "series", Value: s.seriesChange(v)}}
	if v.Clashes != nil {
		clashes := s.seriesClashes(v.Clashes, func(i int) int { return v.Changed[i].Place })
		fields = append(fields, web.Field{Name: "clashes", Value: clashes})
	}
	return fields
}

func (s shape) seriesChange(v series.ChangeView) shownChange {
	shown := shownChange{
		ID: v.SeriesID, Changed: make([]shownPlanned, len(v.Changed)), LeftOut: s.kept(v.Kept),
	}
	for i, e := range v.Changed {
		shown.Changed[i] = s.occurrence(e.Place, e.ID, e.Span)
	}
	return shown
}

func (s shape) kept(kept []series.KeptEvent) []shownKept {
	shown := make([]shownKept, len(kept))
	for i, k := range kept {
		shown[i] = shownKept{
			Place: k.Place, ID: orNull(k.EventID), StartsAt: s.moment(k.Event.Span.Starts), Reason: string(k.Reason),
			Changed: own(k.Event), EventID: orNull(k.OtherID), ElementID: orNull(k.ElementID),
		}
	}
	return shown
}

// own is what of an event was changed by itself, [] when nothing was.
func own(e event.Event) []event.Own { return append([]event.Own{}, e.Own...) }
