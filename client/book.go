package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Booked is an event that was made, with what could not be added to it.
type Booked struct {
	Event    Record   `json:"event"`
	Failures []Record `json:"failures"` // each with index, element_id, item_type and item
	Clashes  []Record `json:"clashes,omitempty"`
}

// Book makes an event of the elements. One that a busy event holds at that time is among the failures, unless clashes
// are allowed; the event is made without it. It needs the permission can_add_events. An answer other than success is an
// *Error.
func (c *Client) Book(ctx context.Context, fields any, elements []int64, allowClashes bool) (Booked, error) {
	clashes := "skip"
	if allowClashes {
		clashes = "allow"
	}
	return c.BookWith(ctx, fields, elements, clashes)
}

// BookWith is Book with clashes as POST /api/events takes them: with "report" they are in the answer.
func (c *Client) BookWith(ctx context.Context, fields any, elements []int64, clashes string) (Booked, error) {
	return c.book(ctx, "/api/events",
		map[string]any{"event": fields, "elements": append([]int64{}, elements...), "clashes": clashes})
}

// DeleteEvent deletes an event and others of its series, those of the scope: one, following or all. It returns those
// that stay, each with the reason. An answer other than success is an *Error.
func (c *Client) DeleteEvent(ctx context.Context, id int64, scope string) (leftOut []Record, err error) {
	r := request{
		method: http.MethodDelete, path: fmt.Sprintf("/api/events/%d", id), query: url.Values{"scope": {scope}},
	}
	var answer struct {
		LeftOut []Record `json:"left_out"`
	}
	err = c.call(ctx, r, &answer)
	return answer.LeftOut, err
}

// Add adds elements to an event; clashes are as POST /api/events/<id>/add takes them, and with "skip" what clashes is
// among the failures. It needs edit rights. An answer other than success is an *Error.
func (c *Client) Add(ctx context.Context, id int64, elements []int64, clashes string) (Booked, error) {
	return c.book(ctx, fmt.Sprintf("/api/events/%d/add", id), map[string]any{"elements": elements, "clashes": clashes})
}

// Replacement is an element of an event, and the one that replaces it.
type Replacement struct {
	Element int64 `json:"element"`
	With    int64 `json:"with"`
}

// Replace replaces elements of an event in one write; clashes are as POST /api/events/<id>/replace takes them, and with
// "skip" the failures are those that stay. It needs edit rights. An answer other than success is an *Error.
func (c *Client) Replace(ctx context.Context, id int64, replace []Replacement, clashes string) (Booked, error) {
	return c.book(ctx, fmt.Sprintf("/api/events/%d/replace", id),
		map[string]any{"replace": replace, "clashes": clashes})
}

// Allocate gives a request things of its group. Those that are taken are among the failures, the others are allocated.
// It needs to administer the group. An answer other than success is an *Error.
func (c *Client) Allocate(ctx context.Context, to int64, elements []int64) (Booked, error) {
	return c.book(ctx, fmt.Sprintf("/api/requests/%d/allocations", to), map[string]any{"elements": elements})
}

// book posts, and decodes an event with what it did not get; in a dry run its decisions tell who would decide.
func (c *Client) book(ctx context.Context, path string, body any) (b Booked, err error) {
	r := request{method: http.MethodPost, path: path, json: body, creates: true}
	if ctx.Value(dryRun{}) != nil {
		r.query = url.Values{"include": {"decisions"}}
	}
	err = c.call(ctx, r, &b)
	return b, err
}

// Planned is a series of events as it was made.
type Planned struct {
	Series   Record   `json:"series"`   // with events and left_out
	Failures []Record `json:"failures"` // as those of Booked
	Clashes  []Record `json:"clashes,omitempty"`
}

// Repeat makes a series of events of the elements, all or none; repeat and clashes are as POST /api/events takes them.
// It needs the permission can_add_events. An answer other than success is an *Error.
func (c *Client) Repeat(
	ctx context.Context, fields any, elements []int64, repeat any, clashes string,
) (Planned, error) {
	r := request{method: http.MethodPost, path: "/api/events", creates: true, json: map[string]any{
		"event": fields, "elements": append([]int64{}, elements...), "repeat": repeat, "clashes": clashes,
	}}
	var p Planned
	err := c.call(ctx, r, &p)
	return p, err
}

// ChangedSeries is the outcome of a change for events of a series.
type ChangedSeries struct {
	Event   Record   `json:"event"`
	Series  Record   `json:"series"` // with changed and left_out
	Clashes []Record `json:"clashes,omitempty"`
}

// ChangeSeries changes an event and others of its series, those of the scope; body is as PATCH /api/events/<id> takes
// it. It moves them by as much as it moves the event, so that made twice it is made once. An answer other than success
// is an *Error.
func (c *Client) ChangeSeries(ctx context.Context, id int64, scope string, body any) (ChangedSeries, error) {
	r := request{
		method: http.MethodPatch, path: fmt.Sprintf("/api/events/%d", id), query: url.Values{"scope": {scope}},
		json: body,
	}
	var s ChangedSeries
	err := c.call(ctx, r, &s)
	return s, err
}
