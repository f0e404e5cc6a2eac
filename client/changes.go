package client

import (
	"context"
	"net/http"
	"net/url"
)

// Changes returns what changed after a token, and the token to go on with; without one, nothing and the token of now.
// Where it is the same token, there is nothing more for now.
func (c *Client) Changes(ctx context.Context, since string) (changes []Record, next string, err error) {
	query := url.Values{"limit": {"1000"}}
	if since != "" {
		query.Set("after", since)
	}
	var answer struct {
		Changes []Record `json:"changes"`
		Next    string   `json:"next"`
	}
	err = c.call(ctx, request{method: http.MethodGet, path: "/api/changes", query: query}, &answer)
	return answer.Changes, answer.Next, err
}
