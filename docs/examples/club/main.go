// Command club books a weekly club in a room from a first to a last day, but for the holidays. It makes 5 calls,
// however many weeks the term has.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"strings"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

func main() {
	title := flag.String("title", "Chess club", "what it is called")
	room := flag.String("room", "", "the whole `name` of its room")
	first := flag.String("first", "", "its first `day`, such as 2027-01-12; the day of the week is that of the club")
	last := flag.String("last", "", "the last `day` on which it may meet")
	from, to := flag.String("from", "16:00", "when it begins"), flag.String("to", "17:00", "when it ends")
	category := flag.String("category", "Club", "the `name` of its category")
	holidays := flag.String("holidays", "School Holiday",
		"the `name` of the category of holidays; where it is privileged, the user has to be")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		place, err := c.Named(ctx, *room)
		if err != nil {
			return err
		}
		categories, err := c.Categories(ctx)
		if err != nil {
			return err
		}
		for _, name := range []string{*category, *holidays} {
			if categories[name] == 0 {
				return fmt.Errorf("there is no category %q", name)
			}
		}
		return book(ctx, c, map[string]any{
			"event": map[string]any{"body": *title, "eventcategory_id": categories[*category],
				"starts_at_text": *first + " " + *from, "ends_at_text": *first + " " + *to},
			"elements": []int64{place.ID},
			"repeat": map[string]any{
				"rule":       "FREQ=WEEKLY;UNTIL=" + strings.ReplaceAll(*last, "-", ""),
				"not_during": map[string]any{"eventcategory_id": categories[*holidays]},
			},
			"clashes": "skip", // a week in which the room is taken is left out, and told
		})
	})
}

// book makes the series: all of its events, or none. Then it prints when the club meets, and when it does not.
func book(ctx context.Context, c *belfry.Client, body any) error {
	var answer struct {
		Series struct {
			Events  []belfry.Event
			LeftOut []struct{ Date, Reason string } `json:"left_out"`
		}
		Failures []any
	}
	if err := c.Call(ctx, http.MethodPost, "/api/events", body, &answer); err != nil {
		return err
	}
	if len(answer.Failures) > 0 {
		return fmt.Errorf("the room could not be added: %v", answer.Failures)
	}
	for _, event := range answer.Series.Events {
		fmt.Println("meets", event.StartsAt.Format("2006-01-02 15:04"))
	}
	for _, out := range answer.Series.LeftOut {
		fmt.Println("not on", out.Date, out.Reason)
	}
	return nil
}
