package export

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// given are cells that a row does not take from its record, by column.
type given map[string]string

// add writes the row of a record: the given cells, and the fields that the other columns describe.
func (x *export) add(f *file, r client.Record, g given) (err error) {
	cells := make([]string, len(f.columns))
	for i, c := range f.columns {
		text, given := g[c.Name]
		switch {
		case given:
			cells[i] = text
		case c.Check == "key":
			cells[i] = x.keyOf(r)
		default:
			cells[i], err = load.Cell(c, r, x.named)
		}
		if err != nil {
			return err
		}
	}
	f.Rows++
	return f.rows.Write(cells)
}

// exportEvents writes events, and the decisions on their commitments.
func (x *export) exportEvents() error {
	x.events = map[int64]string{}
	begun := x.state.Files[bundle.Events.File()]
	x.resumed = begun != nil && (begun.Whole || begun.After != "")
	return x.walk("export/events", nil, func(r client.Record, files []*file) error {
		if !x.wants(r) {
			return nil
		}
		x.events[r.ID("id")] = x.keyOf(r)
		return x.event(r, files[0], files[1])
	}, bundle.Events, bundle.Commitments)
}

// wants reports whether an event is exported.
func (x *export) wants(r client.Record) bool {
	if x.changed != nil && !x.changed[r.ID("id")] {
		return false
	}
	is := func(of client.Record) bool { return of.ID("element_id") == x.Element }
	return x.Element == 0 || r.ID("organiser_id") == x.Element ||
		slices.ContainsFunc(slices.Concat(r.Records("commitments"), r.Records("requests")), is)
}

// eventKeys are the keys of the exported events. An export that was interrupted during or after these reads them again.
func (x *export) eventKeys() (map[int64]string, error) {
	if !x.resumed || x.state.isWhole(bundle.Notes.File()) {
		return x.events, nil
	}
	for r, err := range x.c.List(x.ctx, "/api/admin/export/events", "events", nil) {
		if err != nil {
			return nil, err
		}
		if x.wants(r) {
			x.events[r.ID("id")] = x.keyOf(r)
		}
	}
	return x.events, nil
}

// event writes the row of an event, and those of its commitments. A request has a row if it is known who asked.
func (x *export) event(r client.Record, events, commitments *file) error {
	key := x.keyOf(r)
	groups, list := map[int64]string{}, []string{} // groups by request
	for _, q := range r.Records("requests") {
		group, err := x.named(load.Elements, q.ID("element_id"))
		if err == nil && q.ID("asked_by") != 0 && len(list) < bundle.MaxElements {
			err = x.add(commitments, q, given{"event": key, "status": "requested"})
		}
		if err != nil {
			return err
		}
		groups[q.ID("id")] = group.Reference
		for range q.ID("quantity") {
			list = append(list, group.Reference)
		}
	}
	for _, c := range r.Records("commitments") {
		element, err := x.named(load.Elements, c.ID("element_id"))
		if err != nil {
			return err
		}
		if c.ID("request_id") == 0 {
			list = append(list, element.Reference)
		}
		if len(list) > bundle.MaxElements {
			break
		}
		if status := statusOf(c, element); status != "" {
			row := given{"event": key, "status": status, "request": groups[c.ID("request_id")]}
			if err := x.add(commitments, c, row); err != nil {
				return err
			}
		}
	}
	if len(list) > bundle.MaxElements {
		list = list[:bundle.MaxElements]
		events.leaveOut("event %d: elements after the first %d", r.ID("id"), bundle.MaxElements)
	}
	if r.Text("series_place") == "1" {
		events.leaveOut("series %d: its events are exported separately", r.ID("series_id"))
	}
	return x.add(events, r, given{"elements": strings.Join(list, ";")})
}

// statusOf is the status of a commitment's row, "" if it has none: it needs no decision, is not allocated, and it is
// unknown who asked. An element that became controlled after it was added stays confirmed.
func statusOf(c client.Record, element load.Name) string {
	status := c.Text("status")
	switch {
	case status != "uncontrolled" || c.ID("request_id") != 0:
	case element.Controlled:
		return "confirmed"
	case c.ID("asked_by") == 0:
		return ""
	}
	return status
}

// exportNotes writes the notes of the exported events. Those of a topic are left out: the system writes them itself.
func (x *export) exportNotes() error {
	events, err := x.eventKeys()
	if err != nil {
		return err
	}
	return x.walk("export/notes", nil, func(r client.Record, files []*file) error {
		key, exported := events[r.ID("event_id")]
		if !exported || r.Text("topic") != "" {
			return nil
		}
		return x.add(files[0], r, given{"event": key})
	}, bundle.Notes)
}

// exportMemberships writes a row for each span of a membership. For one element these are its groups and its members.
func (x *export) exportMemberships() error {
	return x.walk("export/memberships", nil, func(r client.Record, files []*file) error {
		if x.Element != 0 && r.ID("group_id") != x.Element && r.ID("member_id") != x.Element {
			return nil
		}
		for _, span := range r.Records("spans") {
			span["group_id"], span["member_id"] = r["group_id"], r["member_id"]
			if err := x.add(files[0], span, nil); err != nil {
				return err
			}
		}
		return nil
	}, bundle.Memberships)
}

// exportAdministrators writes who administers which element.
func (x *export) exportAdministrators() error {
	return x.walk(load.Elements, nil, func(r client.Record, files []*file) error {
		if r.Text("controlled") != "true" || !x.exports(load.Elements, r) {
			return nil
		}
		path := "/api/admin/elements/" + strconv.FormatInt(r.ID("id"), 10) + "/administrators"
		for user, err := range x.c.List(x.ctx, path, "administrators", nil) {
			if err == nil {
				err = x.add(files[0], client.Record{"element_id": r["id"], "user_id": user["id"]}, nil)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, bundle.Administrators)
}

// exportUsers writes users without their uuids, of which Belfry has only hashes.
func (x *export) exportUsers() error {
	return x.walk(load.Users, nil, func(r client.Record, files []*file) error {
		if r.ID("element_id") != x.Element && !x.exports(load.Users, r) {
			return nil
		}
		schools, err := x.keys(r, "admin_of", files[0])
		if err != nil {
			return err
		}
		pupils, err := x.keys(r, "stands_for", files[0])
		if err != nil {
			return err
		}
		return x.add(files[0], r, given{"admin_of": schools, "stands_for": pupils})
	}, bundle.Users)
}

// keys are those of the elements that a field of a user lists. A group that is not a school is left out of admin_of: it
// gives no right, and an import refuses it.
func (x *export) keys(user client.Record, field string, users *file) (string, error) {
	var keys []string
	for _, id := range user.IDs(field) {
		of, err := x.find(load.Elements, id)
		if err != nil {
			return "", err
		}
		if field == "admin_of" && !of.School {
			users.leaveOut("user %d: administers the group %d, which is not a current school", user.ID("id"), id)
			continue
		}
		x.include(load.Elements, id)
		keys = append(keys, of.Key)
	}
	slices.Sort(keys) // by id they would come in another order from another Belfry
	return strings.Join(keys, ";"), nil
}

// exportList writes the records of a list, current or not.
func (x *export) exportList(list string, kind bundle.Kind, query map[string][]string) error {
	return x.walk(list, query, func(r client.Record, files []*file) error {
		if !x.exports(list, r) {
			return nil
		}
		return x.add(files[0], r, nil)
	}, kind)
}

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
			return errors.New("an export was imported meanwhile: export again")
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
