package export

import (
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// readNames reads the names of all.
func (x *export) readNames() (err error) {
	x.names, err = load.ReadNames(x.ctx, x.c, x.keyOf)
	return err
}

// keyOf is a record's key without a type: that of its import, otherwise one made of the origin and its id.
func (x *export) keyOf(r client.Record) string {
	if key := r.Text("key"); key != "" {
		return strings.TrimPrefix(key, r.Text("entity_type")+":")
	}
	return fmt.Sprintf("%s:%d", x.Origin, r.ID("id"))
}

// named is find for a row that refers to the record, which is exported, too.
func (x *export) named(list string, id int64) (load.Name, error) {
	x.include(list, id)
	return x.find(list, id)
}

func (x *export) include(list string, id int64) {
	if x.only != nil {
		x.only[list][id] = true
	}
}

// find returns the name of an id, none for 0. It reads the lists again if the record is new; nothing is ever removed
// from them.
func (x *export) find(list string, id int64) (load.Name, error) {
	if found, known := x.names[list][id]; known || id == 0 {
		return found, nil
	}
	if err := x.readNames(); err != nil {
		return load.Name{}, err
	}
	found, known := x.names[list][id]
	if !known {
		return load.Name{}, fmt.Errorf("id %d of the %s is referred to, but not listed", id, list)
	}
	return found, nil
}

// exports reports whether a record of a list is exported.
func (x *export) exports(list string, r client.Record) bool {
	return x.only == nil || x.only[list][r.ID("id")]
}
