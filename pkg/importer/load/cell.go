package load

import (
	"cmp"
	"context"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// The lists that rows refer to.
const (
	Elements   = "elements"
	Users      = "users"
	Categories = "eventcategories"
)

// Name is how rows refer to a record.
type Name struct {
	Key        string
	Reference  string // Type:key of an element
	Controlled bool
	School     bool // a current one
}

// ReadNames returns the names of elements, users and categories, by list and id. KeyOf is a record's key without a
// type. Requires the admin permission; an administrator of a school reads those of it.
func ReadNames(
	ctx context.Context, c *client.Client, keyOf func(client.Record) string,
) (map[string]map[int64]Name, error) {
	lists := map[string]map[int64]Name{}
	for _, list := range []string{Elements, Users, Categories} {
		lists[list] = map[int64]Name{}
		for r, err := range records(ctx, c, list, nil) {
			if err != nil {
				return nil, err
			}
			is := func(field string) bool { return r.Text(field) == "true" }
			key := keyOf(r)
			lists[list][r.ID("id")] = Name{Key: key, Reference: r.Text("entity_type") + ":" + key,
				Controlled: is("controlled"), School: is("school") && is("current")}
		}
	}
	return lists, nil
}

// Cell is a record's cell in a column of a bundle other than its key. A reference is an id, whose name named returns.
func Cell(c bundle.Column, r client.Record, named func(list string, id int64) (Name, error)) (string, error) {
	id := cmp.Or(r.ID(c.Name+"_id"), r.ID(c.Name))
	switch c.Check {
	case "element":
		name, err := named(Elements, id)
		return name.Reference, err
	case "key of":
		list := c.Of
		if bundle.Kind(list).EntityType() != "" {
			list = Elements
		}
		name, err := named(list, id)
		return name.Key, err
	case "time":
		return cellOfTime(r, c.Name), nil
	case bundle.Permission:
		return r.Inner("permissions").Text(c.Name), nil
	}
	return r.Text(c.Name), nil
}

// cellOfTime is a time of an event in a bundle: a day, or an instant without its milliseconds, which are zero.
func cellOfTime(r client.Record, field string) string {
	text := r.Text(field)
	if r.Text("all_day") == "true" {
		return text[:len("2026-09-07")]
	}
	return withoutZeros(text)
}
