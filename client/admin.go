package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Imported is the answer to one batch. The four numbers add up to the batch's records.
type Imported struct {
	Created   int              `json:"created"`
	Updated   int              `json:"updated"`
	Unchanged int              `json:"unchanged"`
	Failed    int              `json:"failed"`
	Records   []ImportedRecord `json:"records"`
}

// ImportedRecord is the outcome of one record of a batch.
type ImportedRecord struct {
	Index  int                 `json:"index"` // its place in the batch, from 0
	Key    string              `json:"key"`
	Result string              `json:"result"` // created, updated, unchanged or failed
	ID     int64               `json:"id"`     // 0 for one that failed or that a dry run would create
	Errors map[string][]string `json:"errors"` // field to messages, of one that failed
}

// ImportOptions say how a batch is imported. The zero value is usable.
type ImportOptions struct {
	DryRun bool  // the service only reports what it would do
	School int64 // of elements alone: new ones become members of this group; 0: the service chooses
}

// Import sends one batch of records of a kind, such as pupils (docs/bundle.md): newline-delimited JSON, at most 1,000
// records and 4 MiB. An invalid record does not affect the others. Requires the admin permission, or the
// administration of a school, whose records alone are taken then.
func (c *Client) Import(ctx context.Context, kind string, batch []byte, options ImportOptions) (Imported, error) {
	r := request{method: http.MethodPost, path: "/api/admin/import/" + kind, body: batch, query: url.Values{}}
	if options.DryRun {
		ctx = DryRun(ctx)
	}
	if options.School != 0 {
		r.query.Set("school_id", strconv.FormatInt(options.School, 10))
	}
	var answer Imported
	err := c.call(ctx, r, &answer)
	return answer, err
}

// Element is an entry of the administrators' list of elements.
type Element struct {
	ID         int64  `json:"id"`
	Key        string `json:"key"` // Type:key as imported, empty for one made by hand
	Name       string `json:"name"`
	EntityType string `json:"entity_type"`
}

// CurrentElements lists the current elements of a type. Requires the admin permission.
func (c *Client) CurrentElements(ctx context.Context, entityType string) ([]Element, error) {
	var all []Element
	query := url.Values{"entity_type": {entityType}, "current": {"true"}}
	for e, err := range All[Element](c.List(ctx, "/api/admin/elements", "elements", query)) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Empty says whether the school has no element at all. Requires the admin permission.
func (c *Client) Empty(ctx context.Context) (bool, error) {
	first, _, err := c.Page(ctx, "/api/admin/elements", "elements", url.Values{"limit": {"1"}}, "")
	return len(first) == 0, err
}

// Retire makes an element no longer current; its history stays. It is not an error if the element no longer exists.
// Requires the admin permission.
func (c *Client) Retire(ctx context.Context, id int64) error {
	err := c.call(ctx, request{method: http.MethodDelete, path: "/api/admin/elements/" + strconv.FormatInt(id, 10)},
		nil)
	if Missing(err) {
		return nil
	}
	return err
}
