package load

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Calendar reads the events in Belfry of categories, given by their keys, that the user sees. A category that does not
// exist yet has none.
func Calendar(
	ctx context.Context, c *client.Client, keys []string, zone wiretime.Zone,
) (all []bundle.CalendarEvent, err error) {
	for category, err := range records(ctx, c, Categories, nil) {
		if err != nil {
			return nil, err
		}
		key := category.Text("key")
		if !slices.Contains(keys, key) {
			continue
		}
		// Without a day, a search needs a title or an element.
		query := url.Values{"category": {category.Text("id")}, "start_date": {wiretime.Day(0).String()},
			"limit": {strconv.Itoa(maxFound)}}
		for e, err := range c.List(ctx, "/api/events", "events", query) {
			if err != nil {
				return nil, err
			}
			all = append(all, bundle.CalendarEvent{Category: key, Title: e.Text("body"),
				Days: zone.Days(timeOf(e, "starts_at"), timeOf(e, "ends_at"))})
		}
	}
	return all, nil
}

// maxFound is the most events that a page of a search has.
const maxFound = 200
