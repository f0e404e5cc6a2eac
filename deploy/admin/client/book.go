package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Booked is an event that was made, with what could not be added to it.
type Booked struct {
	Event    Record   `json:"event"`
	Failures []Record `json:"failures"` // each with index, element_id, item_type and item
}

// Book makes an event of the elements. One that a busy event holds at that time is among the failures, unless clashes
// are allowed; the event is made without it. It needs the permission can_add_events. An answer other than success is an
// *Error.
func (c *Client) Book(ctx context.Context, fields any, elements []int64, allowClashes bool) (Booked, error) {
	body := map[string]any{"event": fields, "elements": append([]int64{}, elements...)}
	if !allowClashes {
		body["clashes"] = "refuse"
	}
	r := request{method: http.MethodPost, path: "/api/events", json: body, creates: true}
	var answer map[string]json.RawMessage
	if err := c.call(ctx, r, &answer); err != nil {
		return Booked{}, err
	}
	var booked Booked
	for part, target := range map[string]any{"event": &booked.Event, "failures": &booked.Failures} {
		if err := decode(answer[part], target); err != nil {
			return Booked{}, fmt.Errorf("%s %s: the answer is not Belfry's: %w", r.method, r.path, err)
		}
	}
	return booked, nil
}
