package export

import (
	"context"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// names are the keys of what rows refer to, by list and id.
type names struct {
	ctx    context.Context
	c      *client.Client
	origin string
	lists  map[string]map[int64]load.Name
	only   map[string]map[int64]bool // what is exported of the lists; nil: all
}

// read reads the names of all.
func (n *names) read() (err error) {
	n.lists, err = load.ReadNames(n.ctx, n.c, n.keyOf)
	return err
}

// keyOf is a record's key without a type: that of its import, otherwise one made of the origin and its id.
func (n *names) keyOf(r client.Record) string {
	if key := r.Text("key"); key != "" {
		return strings.TrimPrefix(key, r.Text("entity_type")+":")
	}
	return fmt.Sprintf("%s:%d", n.origin, r.ID("id"))
}

// of is find for a row that refers to the record, which is exported, too.
func (n *names) of(list string, id int64) (load.Name, error) {
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
func (n *names) find(list string, id int64) (load.Name, error) {
	if found, known := n.lists[list][id]; known || id == 0 {
		return found, nil
	}
	if err := n.read(); err != nil {
		return load.Name{}, err
	}
	found, known := n.lists[list][id]
	if !known {
		return load.Name{}, fmt.Errorf("id %d of the %s is referred to, but not listed", id, list)
	}
	return found, nil
}

// exports reports whether a record of a list is exported.
func (n *names) exports(list string, r client.Record) bool {
	return n.only == nil || n.only[list][r.ID("id")]
}
