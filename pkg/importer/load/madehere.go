package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// maxCompared bounds the rows of a kind that MadeHere compares: the first that may be such.
const maxCompared = 1000

// maxID is above every id that a Belfry gives.
const maxID = 1 << 53

// MadeHere warns of an export that is imported into the Belfry that it came from: records made by hand there have no
// key, so they would be duplicated. An export gives them keys that end with their ids; for other sources it does
// nothing. Only elements and events are compared, since every Belfry has a first administrator and categories with the
// same names. Requires the admin permission.
func MadeHere(ctx context.Context, c *client.Client, source Source) ([]Warning, error) {
	if export, ok := source.(interface{ Exported() bool }); !ok || !export.Exported() {
		return nil, nil
	}
	var all []Warning
	v := &values{client: c}
	for _, kind := range bundle.Kinds() {
		if kind != bundle.Events && kind.EntityType() == "" || !source.Has(kind) {
			continue
		}
		rows, first, err := exportedRows(source, kind)
		if err != nil {
			return nil, err
		}
		stored, err := v.find(ctx, kind, slices.Collect(maps.Keys(rows)))
		if err != nil {
			return nil, err
		}
		twice := 0
		for id, r := range stored {
			if r.Text("key") == "" && sameName(kind, r, rows[id]) {
				twice++
			}
		}
		if twice > 0 {
			text := fmt.Sprintf("%s: of the %d rows from line %d on that an export has made keys for, %d were made by "+
				"hand in this Belfry and would come a second time", kind.File(), len(rows), first, twice)
			all = append(all, Warning{Confirm: string(kind), Text: text})
		}
	}
	return all, nil
}

// exportedRows are the first rows of a kind whose keys end with an id, as in an export, by that id, and the line of the
// first one.
func exportedRows(source Source, kind bundle.Kind) (rows map[int64]client.Record, first int, err error) {
	rows = map[int64]client.Record{}
	for row, err := range source.Rows(kind) {
		if err != nil {
			return nil, 0, err
		}
		id, err := strconv.ParseInt(row.Key[strings.LastIndex(row.Key, ":")+1:], 10, 64)
		if err != nil || id < 1 || id > maxID || !strings.Contains(row.Key, ":") {
			continue
		}
		first = cmp.Or(first, row.Line)
		fields, err := fieldsOf(row)
		if err != nil {
			return nil, 0, err
		}
		if rows[id] = fields; len(rows) == maxCompared {
			break
		}
	}
	return rows, first, nil
}

// sameName says whether a record that was made by hand is called as a row is.
func sameName(kind bundle.Kind, stored, row client.Record) bool {
	if entity := kind.EntityType(); entity != "" && stored.Text("entity_type") != entity {
		return false
	}
	fields := []string{"name"}
	switch kind {
	case bundle.Staff, bundle.Pupils:
		fields = []string{"forename", "surname"}
	case bundle.Events:
		fields = []string{"body"}
	}
	for _, field := range fields {
		if stored.Text(field) != row.Text(field) {
			return false
		}
	}
	return true
}
