// Command sign prints, for a screen in the hall, what is in each room on a day. With a token it makes 1 call, and 1
// more for each refresh, however many rooms there are.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"time"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

func main() {
	day := flag.String("day", "", "the `day`, such as 2026-11-24; today unless given")
	refreshes := flag.Int("refreshes", 0, "how many times it is shown again")
	every := flag.Duration("every", time.Minute, "how long it waits between two")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		for n := 0; ; n++ {
			if err := show(ctx, c, *day); err != nil || n == *refreshes {
				return err
			}
			select {
			case <-time.After(*every):
			case <-ctx.Done():
				return nil
			}
		}
	})
}

// show prints all rooms, each with its events in order. One call has all of them.
func show(ctx context.Context, c *belfry.Client, day string) error {
	var answer struct {
		Timetables []struct {
			Element     belfry.Element
			Commitments []struct {
				Status string
				Event  belfry.Event
			}
		}
	}
	query := url.Values{"type": {"Location"}, "include": {"staff"}}
	if day != "" {
		query.Set("start_date", day)
	}
	if err := c.Get(ctx, "/api/timetables", query, &answer); err != nil {
		return err
	}
	for _, room := range answer.Timetables {
		fmt.Println(room.Element.Name)
		for _, commitment := range room.Commitments {
			event := commitment.Event
			if commitment.Status == "rejected" {
				continue // asked for, and refused
			}
			fmt.Printf("  %s–%s  %s  %s\n", event.StartsAt.Format("15:04"), event.EndsAt.Format("15:04"), event.Body,
				event.Staff)
		}
	}
	return nil
}
