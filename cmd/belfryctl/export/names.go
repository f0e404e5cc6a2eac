package export

import (
	"context"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/client"
)

// names are the keys by which rows refer to elements, users and categories.
type names struct {
	ctx    context.Context
	c      *client.Client
	origin string

	elements   map[int64]string // Type:key
	users      map[int64]string
	categories map[int64]string
	decided    map[int64]bool // the elements that are controlled
	schools    map[int64]bool // those that are schools, and current
}

// read reads the names of all.
func (n *names) read() error {
	n.elements, n.users, n.categories = map[int64]string{}, map[int64]string{}, map[int64]string{}
	n.decided, n.schools = map[int64]bool{}, map[int64]bool{}
	for record, err := range n.c.List(n.ctx, "/api/admin/elements", "elements", nil) {
		if err != nil {
			return err
		}
		n.elements[record.ID("id")] = record.Text("entity_type") + ":" + n.keyOf(record)
		if record.Text("controlled") == "true" {
			n.decided[record.ID("id")] = true
		}
		if record.Text("school") == "true" && record.Text("current") == "true" {
			n.schools[record.ID("id")] = true
		}
	}
	for record, err := range n.c.List(n.ctx, "/api/admin/users", "users", nil) {
		if err != nil {
			return err
		}
		n.users[record.ID("id")] = n.keyOf(record)
	}
	for record, err := range n.c.List(n.ctx, "/api/admin/eventcategories", "eventcategories", nil) {
		if err != nil {
			return err
		}
		n.categories[record.ID("id")] = n.keyOf(record)
	}
	return nil
}

// keyOf is a record's key without a type: that of its import, or one made of the origin and its id.
func (n *names) keyOf(r client.Record) string {
	if key := r.Text("key"); key != "" {
		return strings.TrimPrefix(key, r.Text("entity_type")+":")
	}
	return n.made(r.ID("id"))
}

func (n *names) made(id int64) string { return fmt.Sprintf("%s:%d", n.origin, id) }

// named returns the name of an id, "" for 0. What was made since the names were read is read then; nothing of these
// kinds is ever removed.
func (n *names) named(of func() map[int64]string, id int64) (string, error) {
	if id == 0 {
		return "", nil
	}
	if name, known := of()[id]; known {
		return name, nil
	}
	if err := n.read(); err != nil {
		return "", err
	}
	name, known := of()[id]
	if !known {
		return "", fmt.Errorf("what has the id %d is referred to, but is not listed", id)
	}
	return name, nil
}

func (n *names) element(id int64) (string, error) {
	return n.named(func() map[int64]string { return n.elements }, id)
}

func (n *names) user(id int64) (string, error) {
	return n.named(func() map[int64]string { return n.users }, id)
}

func (n *names) category(id int64) (string, error) {
	return n.named(func() map[int64]string { return n.categories }, id)
}

// controlled says whether additions of an element are decided on.
func (n *names) controlled(id int64) bool { return n.decided[id] }
