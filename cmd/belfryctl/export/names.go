package export

import (
	"context"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/client"
)

// The lists that rows refer to.
const (
	elements   = "elements"
	users      = "users"
	categories = "eventcategories"
)

// names are the keys of what rows refer to, by list and id.
type names struct {
	ctx    context.Context
	c      *client.Client
	origin string
	lists  map[string]map[int64]name
	only   map[string]map[int64]bool // what is exported of the lists; nil: all
}

type name struct {
	key        string
	reference  string // Type:key of an element
	controlled bool
	school     bool // a current one
}

// read reads the names of all.
func (n *names) read() error {
	n.lists = map[string]map[int64]name{}
	for _, list := range []string{elements, users, categories} {
		n.lists[list] = map[int64]name{}
		for r, err := range n.c.List(n.ctx, "/api/admin/"+list, list, nil) {
			if err != nil {
				return err
			}
			is := func(field string) bool { return r.Text(field) == "true" }
			reference := r.Text("entity_type") + ":" + n.keyOf(r)
			_, key, _ := strings.Cut(reference, ":")
			n.lists[list][r.ID("id")] = name{key: key, reference: reference,
				controlled: is("controlled"), school: is("school") && is("current")}
		}
	}
	return nil
}

// keyOf is a record's key without a type: that of its import, otherwise one made of the origin and its id.
func (n *names) keyOf(r client.Record) string {
	if key := r.Text("key"); key != "" {
		return strings.TrimPrefix(key, r.Text("entity_type")+":")
	}
	return fmt.Sprintf("%s:%d", n.origin, r.ID("id"))
}

// of is find for a row that refers to the record, which is exported, too.
func (n *names) of(list string, id int64) (name, error) {
	n.export(list, id)
	return n.find(list, id)
}

func (n *names) export(list string, id int64) {
	if n.only != nil {
		n.only[list][id] = true
	}
}

// find returns the name of an id, none for 0. It reads the lists again if the record is new; nothing is ever removed
// from them.
func (n *names) find(list string, id int64) (name, error) {
	if found, known := n.lists[list][id]; known || id == 0 {
		return found, nil
	}
	if err := n.read(); err != nil {
		return name{}, err
	}
	found, known := n.lists[list][id]
	if !known {
		return name{}, fmt.Errorf("id %d of the %s is referred to, but not listed", id, list)
	}
	return found, nil
}

// exports reports whether a record of a list is exported.
func (n *names) exports(list string, r client.Record) bool {
	return n.only == nil || n.only[list][r.ID("id")]
}
