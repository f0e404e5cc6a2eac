package export

import (
	"errors"
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// readNames reads the names of all. If an export of the same origin was imported here, its keys would be those of other
// records made by hand, so these get another origin; an error where that happens during an export.
func (x *export) readNames() (err error) {
	again := x.names != nil
	for n := 2; ; n++ {
		taken := false
		x.names, err = load.ReadNames(x.ctx, x.c, func(r client.Record) string {
			taken = taken || strings.HasPrefix(importedKey(r), x.origin+":")
			return x.keyOf(r)
		})
		if err != nil || !taken {
			return err
		}
		if again {
			return errors.New("another export was imported meanwhile: export again")
		}
		x.origin = fmt.Sprintf("%s-%d", x.Origin, n)
	}
}

// keyOf is a record's key without a type: that of its import, otherwise one made of the origin and its id.
func (x *export) keyOf(r client.Record) string {
	if key := importedKey(r); key != "" {
		return key
	}
	return fmt.Sprintf("%s:%d", x.origin, r.ID("id"))
}

// importedKey is the key of a record's import without a type, "" of one made by hand.
func importedKey(r client.Record) string {
	return strings.TrimPrefix(r.Text("key"), r.Text("entity_type")+":")
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
