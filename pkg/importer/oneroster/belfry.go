package oneroster

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Directory lists what is in Belfry; a logged-in client.Client is one.
type Directory interface {
	List(ctx context.Context, path, part string, query url.Values) iter.Seq2[client.Record, error]
}

// The prefixes of keys that come from a roster. Orgs and classes are both groups, and may have the same sourcedId.
const (
	orgKeys   = bundle.Reserved + "org:"
	classKeys = bundle.Reserved + "class:"
	userKeys  = bundle.Reserved + "user:"
)

// known is the part of Belfry's records that a roster needs.
type known struct {
	elements map[string]element // those of rosters, by Type:key
	keys     map[int64]string   // theirs, by id
	initials map[string]int     // how many members of staff have them
}

type element struct {
	id          int64
	current     bool
	initials    string
	description string
}

// fetch reads the elements.
func fetch(ctx context.Context, d Directory) (*known, error) {
	k := &known{elements: map[string]element{}, keys: map[int64]string{}, initials: map[string]int{}}
	for _, entityType := range []string{form.Staff, form.Pupil, form.Group} {
		for record, err := range d.List(ctx, "/api/admin/elements", "elements",
			url.Values{"entity_type": {entityType}}) {
			if err != nil {
				return nil, err
			}
			if entityType == form.Staff {
				k.initials[record.Text("initials")]++
			}
			key := record.Text("key")
			if _, own, _ := strings.Cut(key, ":"); strings.HasPrefix(own, bundle.Reserved) {
				k.keys[record.ID("id")] = key
				k.elements[key] = element{id: record.ID("id"), current: record["current"] == true,
					initials: record.Text("initials"), description: record.Text("description")}
			}
		}
	}
	return k, nil
}

// members lists the roster members of a group on that day or later, as Type:key, each once.
func (k *known) members(ctx context.Context, d Directory, group, today string) ([]string, error) {
	var all []string
	listed := map[string]bool{}
	for record, err := range d.List(ctx,
		fmt.Sprintf("/api/admin/elements/%d/members", k.elements[form.Group+":"+group].id), "members", nil) {
		if err != nil {
			return nil, err
		}
		last := record.Text("last_day")
		if key := k.keys[record.ID("element_id")]; key != "" && !listed[key] && (last == "" || last >= today) {
			listed[key] = true
			all = append(all, key)
		}
	}
	return all, nil
}

// has reports whether Belfry has the record of a reference.
func (k *known) has(t table, id string) bool {
	keys, isGroup := map[table]string{orgs: orgKeys, classes: classKeys}[t]
	if !isGroup {
		return k.kind(id) != neither
	}
	_, ok := k.elements[form.Group+":"+keys+id]
	return ok
}

// kind is the kind of a user in Belfry; of two elements, the current one counts.
func (k *known) kind(id string) string {
	found := neither
	for _, kind := range []string{pupil, staff} {
		if e, ok := k.elements[kind+":"+userKeys+id]; ok && (found == neither || e.current) {
			found = kind
		}
	}
	return found
}
