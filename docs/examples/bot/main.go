// Command bot decides on what is asked of the elements that its user is an administrator of. It confirms what is at a
// time at which nothing else holds the element, and rejects the rest with the reason. It makes 2 calls, and 2 for each
// decision.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

// asked is a commitment that waits for a decision.
type asked struct {
	ID      int64
	Element belfry.Element
	Event   belfry.Event
}

func main() {
	most := flag.Int("most", 100, "how many it decides at most")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		var waiting struct{ Commitments []asked }
		query := url.Values{"status": {"requested"}, "limit": {strconv.Itoa(*most)}}
		if err := c.Get(ctx, "/api/commitments", query, &waiting); err != nil {
			return err
		}
		for _, commitment := range waiting.Commitments {
			if err := decide(ctx, c, commitment); err != nil {
				return err
			}
		}
		return nil
	})
}

// decide makes two calls: what else is there, and the decision.
func decide(ctx context.Context, c *belfry.Client, a asked) error {
	var times struct {
		Elements []struct {
			Busy []struct {
				StartsAt time.Time `json:"starts_at"`
				EndsAt   time.Time `json:"ends_at"`
			}
		}
	}
	const day = "2006-01-02"
	query := url.Values{
		"elements":   {strconv.FormatInt(a.Element.ID, 10)},
		"start_date": {a.Event.StartsAt.Format(day)}, "end_date": {a.Event.EndsAt.Format(day)},
		"except": {strconv.FormatInt(a.Event.ID, 10)}, // or the event would clash with itself
	}
	if err := c.Get(ctx, "/api/freebusy", query, &times); err != nil {
		return err
	}
	decision := map[string]string{"status": "confirmed"}
	for _, busy := range times.Elements[0].Busy {
		if busy.StartsAt.Before(a.Event.EndsAt) && busy.EndsAt.After(a.Event.StartsAt) {
			decision = map[string]string{"status": "rejected", "reason": "It is taken from " +
				busy.StartsAt.Format("2006-01-02 15:04") + " to " + busy.EndsAt.Format("2006-01-02 15:04") + "."}
		}
	}
	err := c.Call(ctx, http.MethodPatch, fmt.Sprintf("/api/commitments/%d", a.ID),
		map[string]any{"commitment": decision}, nil)
	if err == nil {
		fmt.Println(decision["status"], a.Element.Name, a.Event.Body, decision["reason"])
	}
	return err
}
