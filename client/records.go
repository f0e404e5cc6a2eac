package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Record is one record as the API shows it, its fields by name. Ids are json.Number.
type Record map[string]any

// Text is a field as text for people: "" for null or absent, the entries of a list separated by spaces.
func (r Record) Text(field string) string {
	switch value := r[field].(type) {
	case nil:
		return ""
	case []any:
		text := ""
		for i, entry := range value {
			if i > 0 {
				text += " "
			}
			text += fmt.Sprint(entry)
		}
		return text
	default:
		return fmt.Sprint(value)
	}
}

// ID is the id in a field, 0 when there is none.
func (r Record) ID(field string) int64 {
	n, ok := r[field].(json.Number)
	if !ok {
		return 0
	}
	id, err := n.Int64()
	if err != nil {
		return 0
	}
	return id
}

// IDs are the ids in a field, none when it has none.
func (r Record) IDs(field string) (ids []int64) {
	list, _ := r[field].([]any)
	for _, entry := range list {
		if id := (Record{"id": entry}).ID("id"); id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Inner is a record in a field, empty when there is none.
func (r Record) Inner(field string) Record {
	inner, _ := r[field].(map[string]any)
	return inner
}

// Records are the records in a field, none when it has none.
func (r Record) Records(field string) (records []Record) {
	list, _ := r[field].([]any)
	for _, entry := range list {
		if record, ok := entry.(map[string]any); ok {
			records = append(records, record)
		}
	}
	return records
}

// As returns a record as the type that the interface document gives it, such as api.Event. A field that is null, absent
// or of another type has its zero value. As a Record it is itself.
func As[T any](r Record) (typed T) {
	if same, ok := any(r).(T); ok {
		return same
	}
	if text, err := json.Marshal(r); err == nil {
		_ = json.Unmarshal(text, &typed) // the answer of a later release may differ: what fits is read
	}
	return typed
}

// Each returns records, each as As returns it.
func Each[T any](records []Record) (all []T) {
	for _, r := range records {
		all = append(all, As[T](r))
	}
	return all
}

// All yields the records of a list, each as As returns it.
func All[T any](records iter.Seq2[Record, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for record, err := range records {
			if !yield(As[T](record), err) {
				return
			}
		}
	}
}

// Get returns one record: the field of that name in the answer of a path, which may end with a query; the whole answer
// when the name is empty. Get and the calls below require the permissions of the path: below /api/admin/ the admin
// permission. An answer other than success is an *Error.
func (c *Client) Get(ctx context.Context, path, part string) (Record, error) {
	path, text, _ := strings.Cut(path, "?")
	query, err := url.ParseQuery(text)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	r := request{method: http.MethodGet, path: path, query: query}
	if part != "" {
		return c.record(ctx, r, part)
	}
	var answer Record
	err = c.call(ctx, r, &answer)
	return answer, err
}

// Create posts a new record and returns it as stored.
func (c *Client) Create(ctx context.Context, path, part string, fields any) (Record, error) {
	return c.record(ctx,
		request{method: http.MethodPost, path: path, json: map[string]any{part: fields}, creates: true}, part)
}

// Change patches a record and returns it as stored.
func (c *Client) Change(ctx context.Context, path, part string, fields any) (Record, error) {
	return c.record(ctx, request{method: http.MethodPatch, path: path, json: map[string]any{part: fields}}, part)
}

// Put sends a PUT without a body and returns the record.
func (c *Client) Put(ctx context.Context, path, part string) (Record, error) {
	return c.record(ctx, request{method: http.MethodPut, path: path}, part)
}

// Delete deletes, with a query that may be nil. When the first answer was lost and the call is made again, the error
// may say that there is no such record.
func (c *Client) Delete(ctx context.Context, path string, query url.Values) error {
	return c.call(ctx, request{method: http.MethodDelete, path: path, query: query}, nil)
}

func (c *Client) record(ctx context.Context, r request, part string) (Record, error) {
	var answer map[string]json.RawMessage
	if err := c.call(ctx, r, &answer); err != nil {
		return nil, err
	}
	record := Record{}
	if err := decode(answer[part], &record); err != nil {
		return nil, fmt.Errorf("%s %s: the answer is not Belfry's: %w", r.method, r.path, err)
	}
	return record, nil
}

// NewUUID replaces the uuid of a user and returns the new one. All sessions, tokens and calendar feeds of the user end.
func (c *Client) NewUUID(ctx context.Context, user int64) (string, error) {
	var answer struct{ UUID string }
	path := "/api/admin/users/" + strconv.FormatInt(user, 10) + "/uuid"
	err := c.call(ctx, request{method: http.MethodPost, path: path}, &answer)
	return answer.UUID, err
}

// AddMembers makes elements members of a group. It is idempotent.
func (c *Client) AddMembers(ctx context.Context, group int64, members []map[string]any) ([]Record, error) {
	path := "/api/admin/elements/" + strconv.FormatInt(group, 10) + "/members"
	var answer struct{ Members []Record }
	err := c.call(ctx, request{method: http.MethodPost, path: path, json: map[string]any{"members": members}}, &answer)
	return answer.Members, err
}

// List yields the records of a paged list, in its order. It fetches pages only as far as the caller reads.
func (c *Client) List(ctx context.Context, path, part string, query url.Values) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for after := ""; ; {
			records, next, err := c.Page(ctx, path, part, query, after)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, record := range records {
				if !yield(record, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			after = next
		}
	}
}

// Page returns a page of a list, and where the next one begins, "" after the last one. The first one begins at "".
func (c *Client) Page(
	ctx context.Context, path, part string, query url.Values, after string,
) (records []Record, next string, err error) {
	page := url.Values{"limit": {"1000"}}
	for name, values := range query {
		page[name] = values
	}
	if after != "" {
		page.Set("after", after)
	}
	var answer map[string]json.RawMessage
	if err := c.call(ctx, request{method: http.MethodGet, path: path, query: page}, &answer); err != nil {
		return nil, "", err
	}
	if err := decode(answer[part], &records); err != nil {
		return nil, "", fmt.Errorf("GET %s: the answer is not Belfry's: %w", path, err)
	}
	if len(answer["next"]) > 0 {
		err = json.Unmarshal(answer["next"], &next) // null leaves it empty
	}
	return records, next, err
}

// Calendar returns the calendar of an element as calendar programs read it.
func (c *Client) Calendar(ctx context.Context, element int64) (text []byte, err error) {
	path := "/api/elements/" + strconv.FormatInt(element, 10) + "/calendar.ics"
	err = c.call(ctx, request{method: http.MethodGet, path: path, media: "text/calendar", text: &text}, nil)
	return text, err
}

// ParseRecord reads a record from JSON as the client reads those of answers.
func ParseRecord(text []byte) (Record, error) {
	var record Record
	err := decode(text, &record)
	return record, err
}

// decode keeps numbers as they are written: floating point cannot hold every id.
func decode(text json.RawMessage, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(target)
}
