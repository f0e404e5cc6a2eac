package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/belfry-schools/belfry/client"
)

// recordNames are the current names of records such as User:3 or Event:12. A deleted or hidden record has none.
type recordNames map[string]string

// of joins the names of some records: 3 as 5 is Anna as Ben.
func (n recordNames) of(records ...string) string {
	var found []string
	for _, r := range records {
		if n[r] != "" {
			found = append(found, n[r])
		}
	}
	return strings.Join(found, " as ")
}

// namedLists are the lists that have the names of a kind of record. Reading one record of a person would add an entry
// to the access log.
var namedLists = map[string]struct{ path, part string }{
	"User": {userPath, "users"}, "Element": {elementPath, "elements"},
	"EventCategory": {categoryPath, "eventcategories"},
}

// maxNamed bounds the events whose titles are read, one by one.
const maxNamed = 200

// namesOf returns the names of the records that entries are about. Objects for programs have none.
func (j job) namesOf(entries []client.Record, about func(client.Record) []string) (recordNames, error) {
	found := recordNames{}
	if j.as.data() || j.as == asNames {
		return found, nil
	}
	wanted, kinds := map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		for _, record := range about(entry) {
			kind, _, _ := strings.Cut(record, ":")
			wanted[record], kinds[kind] = true, true
		}
	}
	for kind, list := range namedLists {
		if !kinds[kind] {
			continue
		}
		for r, err := range j.c.List(j.ctx, list.path, list.part, nil) {
			if hidden(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			if record := fmt.Sprintf("%s:%d", kind, r.ID("id")); wanted[record] {
				found[record] = r.Text("name")
			}
		}
	}
	return found, j.titlesOf(wanted, found)
}

// titlesOf adds the titles of events.
func (j job) titlesOf(wanted map[string]bool, found recordNames) error {
	read := 0
	for record := range wanted {
		text, isEvent := strings.CutPrefix(record, "Event:")
		id, ok := idOf(text)
		if !isEvent || !ok {
			continue
		}
		if read++; read > maxNamed {
			return nil
		}
		event, err := j.c.Get(j.ctx, onePath(eventPath, id), "event")
		switch {
		case err == nil:
			found[record] = event.Text("body")
		case !hidden(err):
			return err
		}
	}
	return nil
}

// hidden says whether a record does not exist for the caller.
func hidden(err error) bool {
	refused := (*client.Error)(nil)
	return errors.As(err, &refused) && !refused.Foreign &&
		(refused.Code == http.StatusForbidden || refused.Code == http.StatusNotFound)
}
