package api_test

import (
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
