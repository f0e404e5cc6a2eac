package api

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// mayHaveAgain says whether a caller who got an answer with events may get it again.
func (h handlers) mayHaveAgain(c *fiber.Ctx, answer []byte) error {
	var whole any
	if err := json.Unmarshal(answer, &whole); err != nil {
		return err
	}
	told := event.Answered{Events: map[int64]bool{}, Elements: map[int64]bool{}}
	collect(whole, "", &told)
	return h.events.StillTells(c.UserContext(), web.Principal(c), told)
}

// mayHaveNoteAgain says the same of a note of the caller's on an event.
func (h handlers) mayHaveNoteAgain(c *fiber.Ctx, _ []byte) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	return h.events.StillTells(c.UserContext(), web.Principal(c), event.Answered{Events: map[int64]bool{id: true}})
}

// mayGetAgain says the same of a call that answers with a record and its id.
func mayGetAgain[T any](
	get func(context.Context, principal.Principal, int64) (T, error),
) func(c *fiber.Ctx, answer []byte) error {
	return func(c *fiber.Ctx, answer []byte) error {
		var made struct{ EventCategory, Webhook struct{ ID int64 } } // one of them is there
		if err := json.Unmarshal(answer, &made); err != nil {
			return err
		}
		_, err := get(c.UserContext(), web.Principal(c), made.EventCategory.ID+made.Webhook.ID)
		return err
	}
}

// collect finds the events and elements in a value of an answer, by the names of its fields.
func collect(value any, field string, told *event.Answered) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			collect(one, field, told)
		}
	case map[string]any:
		id, _ := value["id"].(float64)
		switch field {
		case "event", "events", "changed", "left_out":
			body, _ := value["body"].(string)
			if id != 0 {
				told.Events[int64(id)] = told.Events[int64(id)] || body != "" && body != event.RedactedBody
			}
		case "element", "elements", "organiser":
			if id != 0 {
				told.Elements[int64(id)] = true
			}
		}
		for name, inner := range value {
			collect(inner, name, told)
		}
	case float64:
		switch field {
		case "event_id":
			told.Events[int64(value)] = told.Events[int64(value)]
		case "element_id":
			told.Elements[int64(value)] = true
		}
	}
}
