// Command cover finds a cover for each lesson of an absent teacher on a day: the first of those who are free then, of
// the people who share most of the teacher's groups. It makes 4 calls, and 2 for each lesson.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

func main() {
	name := flag.String("for", "", "the whole `name` of who is absent")
	day := flag.String("day", "", "the `day`, such as 2026-11-24; today unless given")
	try := flag.Bool("try", false, "only show who would cover")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		absent, err := c.Named(ctx, *name)
		if err != nil {
			return err
		}
		var timetable struct {
			Commitments []struct {
				Status  string
				Element *belfry.Element // the group through which; nil when the teacher is committed
				Event   belfry.Event
			}
		}
		query := url.Values{}
		if *day != "" {
			query.Set("start_date", *day)
		}
		path := "/api/elements/" + strconv.FormatInt(absent.ID, 10) + "/commitments"
		if err := c.Get(ctx, path, query, &timetable); err != nil {
			return err
		}
		var faults error // a lesson that can't be covered keeps none of the others waiting
		for _, lesson := range timetable.Commitments {
			if lesson.Element == nil && lesson.Status != "rejected" && !lesson.Event.AllDay {
				faults = errors.Join(faults, cover(ctx, c, absent, lesson.Event, *try))
			}
		}
		return faults
	})
}

// cover replaces the absent teacher in one lesson. Replacing refuses clashes unless it is told otherwise, so when the
// other was booked since, nothing is written.
func cover(ctx context.Context, c *belfry.Client, absent belfry.Element, lesson belfry.Event, try bool) error {
	id := strconv.FormatInt(lesson.ID, 10)
	near := strconv.FormatInt(absent.ID, 10)
	var free struct{ Elements []belfry.Element }
	if err := c.Get(ctx, "/api/free", url.Values{"type": {"Staff"}, "event": {id}, "near": {near}}, &free); err != nil {
		return err
	}
	title := lesson.StartsAt.Format("15:04") + " " + lesson.Body
	// The lesson itself takes no one's time, so the absent teacher is among those who are free.
	others := slices.DeleteFunc(free.Elements, func(e belfry.Element) bool { return e.ID == absent.ID })
	if len(others) == 0 {
		fmt.Println("no one is free", title)
		return nil
	}
	other := others[0]
	path := "/api/events/" + id + "/replace?dry_run=" + strconv.FormatBool(try)
	swap := map[string]any{"replace": []any{map[string]int64{"element": absent.ID, "with": other.ID}}}
	if err := c.Call(ctx, http.MethodPost, path, swap, nil); err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	fmt.Println(title, "→", other.Name)
	return nil
}
