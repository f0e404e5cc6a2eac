package api_test

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// found is the part of a search's answer that tests use.
type found struct {
	Events []struct {
		ID   int64
		Body string
	}
	Next *string
}

// bodies returns the titles that a search finds, over all its pages, in their order.
func bodies(t *testing.T, c *servicetest.Client, query string) []string {
	t.Helper()
	var titles []string
	for after := ""; ; {
		page := decoded[found](t, c.Get(t, "/api/events?"+query+after))
		for _, e := range page.Events {
			titles = append(titles, e.Body)
		}
		if page.Next == nil {
			return titles
		}
		after = "&after=" + *page.Next
	}
}

func TestClients_SearchRefusesWhatMeansNothing(t *testing.T) {
	_, owner := loadOwned(t)
	for query, message := range map[string]string{
		"":                                  "a filter or a text is needed",
		"text=&category=&limit=3":           "a filter or a text is needed",
		"text=+++":                          "text is blank",
		"text=ab":                           "text has fewer than 3 characters",
		"text=e%CC%81e%CC%81":               "text has fewer than 3 characters", // accents are none
		"text=%25%25%25":                    "text has neither a letter nor a digit",
		"text=...*":                         "text has neither a letter nor a digit",
		"text=" + strings.Repeat("a", 4096): "text has more than 200 characters",
		"text=%FF%FE%FD":                    "text is not UTF-8",
		"element=x":                         "element is not an id",
		"element=0":                         "element is not an id",
		"text=abc&owner=-1":                 "owner is not an id",
		"text=abc&category=1.5":             "category is not an id",
		"text=abc&eventcategory_id=x":       "eventcategory_id is not an id",
		"text=abc&category=1&event_category_id=2":   "category and event_category_id differ",
		"text=abc&status=maybe":                     "status is not one of a commitment",
		"start_date=tomorrow":                       "start_date is not a date (YYYY-MM-DD)",
		"end_date=2026-02-30":                       "end_date is not a date (YYYY-MM-DD)",
		"start_date=2026-03-02&end_date=2026-03-01": "end_date is before start_date",
		"text=abc&limit=1001":                       "limit is not a number from 1 to 1000",
		"text=abc&limit=0":                          "limit is not a number from 1 to 1000",
		"text=abc&after=AAAA":                       "invalid cursor",
	} {
		a := owner.Get(t, "/api/events?"+query)
		if got := a.Text(t, "message"); a.Code != 400 || got != message {
			t.Errorf("%.60s: %d %q, want %q", query, a.Code, got, message)
		}
	}
	if a := owner.Get(t, "/api/events?element=999999999"); a.Code != 404 ||
		a.Text(t, "exception") != "RecordNotFound" {
		t.Errorf("an element that is none: %d %s", a.Code, a.Body)
	}
}
