// Command bot decides on what is asked of the elements that its user is an administrator of. It confirms what is at a
// time at which the element is not promised to anything else, and rejects the rest with the reason. Of two that ask for
// the same time, the first in the list gets it. It makes 3 calls, 2 for each decision, and 1 for each category of
// events that share a time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

// event is what the lists show with include=category. The category is missing where the user may not know it.
type event struct {
	belfry.Event
	Category belfry.Element
}

// asked is a commitment that waits for a decision.
type asked struct {
	ID      int64
	Element struct {
		belfry.Element
		EntityType string `json:"entity_type"`
	}
	Event event
}

// bot keeps which categories it knows, by their ids: whether their events take an element's time. Those that it may
// not know have none, and do.
type bot struct {
	*belfry.Client
	busy map[int64]bool
}

func main() {
	most := flag.Int("most", 100, "how many it decides at most")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		var waiting struct{ Commitments []asked }
		query := url.Values{"status": {"requested"}, "include": {"category"}, "limit": {strconv.Itoa(*most)}}
		if err := c.Get(ctx, "/api/commitments", query, &waiting); err != nil {
			return err
		}
		b := bot{c, map[int64]bool{0: true}}
		var faults error // one that can't be decided keeps none of the others waiting
		for _, commitment := range waiting.Commitments {
			if err := b.decide(ctx, commitment); err != nil {
				fmt.Println("left", commitment.Element.Name, commitment.Event.Body)
				faults = errors.Join(faults, err)
			}
		}
		return faults
	})
}

// decide makes two calls: what the element is promised to, and the decision. /api/freebusy would not do for the first:
// there an element is busy with what is merely asked for, too.
func (b bot) decide(ctx context.Context, a asked) error {
	var promised struct {
		Commitments []struct {
			Status string
			Event  event
		}
	}
	const day, minute = "2006-01-02", "2006-01-02 15:04"
	query := url.Values{
		"start_date": {a.Event.StartsAt.Format(day)}, "end_date": {a.Event.EndsAt.Format(day)},
		"include": {"category"},
	}
	path := fmt.Sprintf("/api/elements/%d/commitments", a.Element.ID)
	if err := b.Get(ctx, path, query, &promised); err != nil {
		return err
	}
	decision := map[string]string{"status": "confirmed"}
	for _, other := range promised.Commitments {
		if other.Status != "confirmed" && other.Status != "uncontrolled" || !a.shares(other.Event) {
			continue
		}
		taken, err := b.takeTime(ctx, a.Event, other.Event)
		if err != nil {
			return err
		}
		if taken {
			decision = map[string]string{"status": "rejected", "reason": "It is taken from " +
				other.Event.StartsAt.Format(minute) + " to " + other.Event.EndsAt.Format(minute) + "."}
			break
		}
	}
	err := b.Call(ctx, http.MethodPatch, fmt.Sprintf("/api/commitments/%d", a.ID),
		map[string]any{"commitment": decision}, nil)
	if err == nil {
		fmt.Println(decision["status"], a.Element.Name, a.Event.Body, decision["reason"])
	}
	return err
}

// shares says whether something else is at the time that is asked for. An event shares none with itself, one without
// length none with any, and a property is for any number of events at once.
func (a asked) shares(other event) bool {
	return a.Element.EntityType != "Property" && a.Event.ID != other.ID &&
		a.Event.StartsAt.Before(a.Event.EndsAt) && other.StartsAt.Before(other.EndsAt) &&
		other.StartsAt.Before(a.Event.EndsAt) && a.Event.StartsAt.Before(other.EndsAt)
}

// takeTime says whether all events are of categories that make an element busy. It makes a call for each category that
// the bot does not know yet.
func (b bot) takeTime(ctx context.Context, events ...event) (bool, error) {
	for _, e := range events {
		if _, known := b.busy[e.Category.ID]; !known {
			var answer struct{ Eventcategory struct{ Busy bool } }
			path := fmt.Sprintf("/api/eventcategories/%d", e.Category.ID)
			if err := b.Get(ctx, path, nil, &answer); err != nil {
				return false, err
			}
			b.busy[e.Category.ID] = answer.Eventcategory.Busy
		}
		if !b.busy[e.Category.ID] {
			return false, nil
		}
	}
	return true, nil
}
