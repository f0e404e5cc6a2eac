// Command calendar keeps a copy of a person's timetable in a file, as a program does that writes to another calendar.
// It prints what is new, changed and gone. The first run makes 5 calls. A later one makes 3, of which the second, the
// poll, is answered in a few hundred bytes; where anything has changed in the school, it makes 1 more for each 1,000
// changes and 1 for the timetable.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

// copied is what the file keeps: the copy, and the place in the list of changes at which it was true.
type copied struct {
	Element belfry.Element
	Next    string
	Events  map[int64]belfry.Event
}

func main() {
	name := flag.String("name", "", "the whole `name` of whose timetable it is; needed by the first run")
	file := flag.String("file", "calendar.json", "the `file` of the copy")
	start, end := flag.String("start", "", "the first `day`"), flag.String("end", "", "the last `day`, within a year")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		kept, err := read(*file)
		if err != nil {
			return err
		}
		changed := true
		if kept.Next == "" {
			if kept.Element, err = c.Named(ctx, *name); err != nil {
				return err
			}
			_, kept.Next, err = poll(ctx, c, "") // before the timetable is read: so that nothing is missed between
		} else {
			changed, kept.Next, err = poll(ctx, c, kept.Next)
		}
		if err != nil {
			return err
		}
		if changed {
			query := url.Values{"start_date": {*start}, "end_date": {*end}}
			if err := renew(ctx, c, &kept, query); err != nil {
				return err
			}
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return err
		}
		return os.WriteFile(*file, text, 0o600)
	})
}

// read returns the copy of the file, an empty one when there is none.
func read(file string) (copied, error) {
	kept := copied{Events: map[int64]belfry.Event{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, err
	}
	return kept, json.Unmarshal(text, &kept)
}

// poll says whether anything has changed after a place, and which is the last place: that whose answer leads no
// further, however many changes the answers before had. "" is before all places; its answer has the last one and no
// changes. A poll that is answered 410 comes after a month of absence: delete the file then, and start over.
func poll(ctx context.Context, c *belfry.Client, since string) (changed bool, next string, err error) {
	for {
		query := url.Values{"limit": {"1000"}}
		if since != "" {
			query.Set("after", since)
		}
		var answer struct {
			Changes []struct{ ID int64 }
			Next    string
		}
		if err := c.Get(ctx, "/api/changes", query, &answer); err != nil {
			return false, "", err
		}
		fmt.Fprintf(os.Stderr, "%d changes in %d bytes\n", len(answer.Changes), c.Bytes)
		changed = changed || len(answer.Changes) > 0
		if since == "" || answer.Next == since {
			return changed, answer.Next, nil
		}
		since = answer.Next
	}
}

// renew reads the timetable, and prints in what it differs from the copy.
func renew(ctx context.Context, c *belfry.Client, kept *copied, query url.Values) error {
	var answer struct {
		Commitments []struct {
			Status string
			Event  belfry.Event
		}
	}
	if err := c.Get(ctx, fmt.Sprintf("/api/elements/%d/commitments", kept.Element.ID), query, &answer); err != nil {
		return err
	}
	now := map[int64]belfry.Event{}
	for _, commitment := range answer.Commitments {
		if commitment.Status == "rejected" {
			continue
		}
		event := commitment.Event
		now[event.ID] = event
		switch before, known := kept.Events[event.ID]; {
		case !known:
			fmt.Println("new", told(event))
		case told(before) != told(event):
			fmt.Println("changed", told(event))
		}
	}
	for id, event := range kept.Events {
		if _, still := now[id]; !still {
			fmt.Println("gone", told(event))
		}
	}
	kept.Events = now
	return nil
}

func told(e belfry.Event) string {
	return e.StartsAt.Format(time.RFC3339) + " " + e.EndsAt.Format(time.RFC3339) + " " + e.Body
}
