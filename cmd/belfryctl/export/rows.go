package export

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/bundle"
)

// columns are the columns of the bundle's files, except the uuids of users, which Belfry does not know.
var columns = func() map[bundle.Kind][]string {
	all := map[bundle.Kind][]string{bundle.Commitments: bundle.Commitments.Columns()}
	for _, kind := range bundle.Kinds() {
		all[kind] = slices.DeleteFunc(kind.Columns(), func(c string) bool { return c == "uuid" })
	}
	return all
}()

// maxElements bounds the elements of a row, as the bundle does.
const maxElements = 1000

// cells returns the given cells, then those of a record whose fields are named like the columns.
func cells(kind bundle.Kind, r client.Record, given map[string]string) []string {
	all := make([]string, len(columns[kind]))
	for i, column := range columns[kind] {
		text, ok := given[column]
		if !ok {
			text = r.Text(column)
		}
		all[i] = text
	}
	return all
}

// exportEvents writes events, and what was decided of their commitments.
func (x *export) exportEvents() error {
	x.events = map[int64]string{}
	files := []string{bundle.Events.File(), bundle.Commitments.File()}
	begun := x.state.Files[files[0]]
	x.resumed = begun != nil && (begun.Whole || begun.After != "")
	return x.walk(files, "/api/admin/export/events", "events", nil, func(r client.Record, files []*file) error {
		if !x.wants(r) {
			return nil
		}
		x.events[r.ID("id")] = r.Text("key")
		return x.event(r, files[0], files[1])
	})
}

// wants says whether an event is exported.
func (x *export) wants(r client.Record) bool {
	if x.changed != nil && !x.changed[r.ID("id")] {
		return false
	}
	is := func(of client.Record) bool { return of.ID("element_id") == x.Element }
	return x.Element == 0 || r.ID("organiser_id") == x.Element || slices.ContainsFunc(r.Records("commitments"), is) ||
		slices.ContainsFunc(r.Records("requests"), is)
}

// eventKeys are the keys of the exported events: an export that was interrupted among or after these reads them again.
func (x *export) eventKeys() (map[int64]string, error) {
	if !x.resumed || x.state.isWhole(bundle.Notes.File()) {
		return x.events, nil
	}
	for r, err := range x.c.List(x.ctx, "/api/admin/export/events", "events", nil) {
		if err != nil {
			return nil, err
		}
		if x.wants(r) {
			x.events[r.ID("id")] = r.Text("key")
		}
	}
	return x.events, nil
}

// event writes the row of an event, and those of its commitments.
func (x *export) event(r client.Record, events, commitments *file) error {
	key := x.names.keyOf(r)
	references, err := x.references(r)
	if err != nil {
		return err
	}
	requested, elements := map[int64]string{}, []string{} // groups by request
	for _, q := range r.Records("requests") {
		group, err := x.names.element(q.ID("element_id"))
		if err == nil && len(elements) < maxElements {
			err = x.asked(q, key, group, commitments)
		}
		if err != nil {
			return err
		}
		requested[q.ID("id")] = group
		for range q.ID("quantity") {
			elements = append(elements, group)
		}
	}
	for _, c := range r.Records("commitments") {
		element, err := x.names.element(c.ID("element_id"))
		if err != nil {
			return err
		}
		if c.ID("request_id") == 0 {
			elements = append(elements, element)
		}
		if len(elements) > maxElements {
			break
		}
		if err := x.commitment(c, key, element, requested, commitments); err != nil {
			return err
		}
	}
	if len(elements) > maxElements {
		elements = elements[:maxElements]
		events.leaveOut("event %d: elements after the first %d", r.ID("id"), maxElements)
	}
	if place := r.Text("series_place"); place == "1" {
		events.leaveOut("series %d: its events are there, each by itself", r.ID("series_id"))
	}
	starts, ends := momentOf(r, "starts_at"), momentOf(r, "ends_at")
	references["key"], references["starts_at"], references["ends_at"] = key, starts, ends
	references["elements"] = strings.Join(elements, ";")
	return events.add(cells(bundle.Events, r, references)...)
}

// references are what an event refers to, by column.
func (x *export) references(r client.Record) (map[string]string, error) {
	organiser, err := x.names.element(r.ID("organiser_id"))
	if err != nil {
		return nil, err
	}
	owner, err := x.names.user(r.ID("owner_id"))
	if err != nil {
		return nil, err
	}
	category, err := x.names.category(r.ID("category_id"))
	if err != nil {
		return nil, err
	}
	if x.only != nil {
		x.only.categories[r.ID("category_id")] = true
		x.only.users[r.ID("owner_id")] = true
		x.only.elements[r.ID("organiser_id")] = true
		for _, of := range slices.Concat(r.Records("commitments"), r.Records("requests")) {
			x.only.elements[of.ID("element_id")] = true
			x.only.users[of.ID("decided_by")], x.only.users[of.ID("asked_by")] = true, true
		}
	}
	_, organiser, _ = strings.Cut(organiser, ":")
	return map[string]string{"organiser": organiser, "owner": owner, "category": category}, nil
}

// asked writes who asked for items of a resource group, if known.
func (x *export) asked(q client.Record, event, group string, f *file) error {
	askedBy, err := x.names.user(q.ID("asked_by"))
	if err != nil || askedBy == "" {
		return err
	}
	return f.add(cells(bundle.Commitments, q, map[string]string{
		"event": event, "element": group, "status": "requested", "asked_by": askedBy,
	})...)
}

// commitment writes what was decided of a commitment, and who asked for it. One that needs no decision, and of which
// it is unknown who asked, has no row, unless it is allocated. An element that became controlled after it was added
// stays agreed to: the row says confirmed.
func (x *export) commitment(c client.Record, event, element string, requested map[int64]string, f *file) error {
	status, request := c.Text("status"), requested[c.ID("request_id")]
	askedBy, err := x.names.user(c.ID("asked_by"))
	if err != nil {
		return err
	}
	if status == uncontrolled && request == "" {
		switch {
		case x.names.controlled(c.ID("element_id")):
			status = "confirmed"
		case askedBy == "":
			return nil
		}
	}
	decidedBy, err := x.names.user(c.ID("decided_by"))
	if err != nil {
		return err
	}
	return f.add(cells(bundle.Commitments, c, map[string]string{
		"event": event, "element": element, "status": status, "decided_by": decidedBy, "request": request,
		"asked_by": askedBy,
	})...)
}

// uncontrolled is the status of an entry that needs no decision.
const uncontrolled = "uncontrolled"

// momentOf is a time of an event as a bundle has it: a day, or an instant without the milliseconds, which are none.
func momentOf(r client.Record, field string) string {
	text := r.Text(field)
	if r.Text("all_day") == "true" {
		return text[:len("2026-09-07")]
	}
	return strings.Replace(text, ".000", "", 1)
}

// exportNotes writes the notes of the exported events. Those of a topic are left out: the system writes them itself.
func (x *export) exportNotes() error {
	events, err := x.eventKeys()
	if err != nil {
		return err
	}
	return x.walk([]string{bundle.Notes.File()}, "/api/admin/export/notes", "notes", nil,
		func(r client.Record, files []*file) error {
			key, exported := events[r.ID("event_id")]
			if !exported || r.Text("topic") != "" {
				return nil
			}
			if key == "" {
				key = x.names.made(r.ID("event_id"))
			}
			owner, err := x.names.user(r.ID("owner_id"))
			if err != nil {
				return err
			}
			if x.only != nil {
				x.only.users[r.ID("owner_id")] = true
			}
			return files[0].add(cells(bundle.Notes, r,
				map[string]string{"key": x.names.keyOf(r), "event": key, "owner": owner})...)
		})
}

// exportMemberships writes a row for each span of a membership. Of an element these are what it is in, and what is in
// it.
func (x *export) exportMemberships() error {
	return x.walk([]string{bundle.Memberships.File()}, "/api/admin/export/memberships", "memberships", nil,
		func(r client.Record, files []*file) error {
			group, member := r.ID("group_id"), r.ID("member_id")
			if x.only != nil {
				if group != x.Element && member != x.Element {
					return nil
				}
				x.only.elements[group], x.only.elements[member] = true, true
			}
			groupName, err := x.names.element(group)
			if err != nil {
				return err
			}
			memberName, err := x.names.element(member)
			if err != nil {
				return err
			}
			_, groupKey, _ := strings.Cut(groupName, ":")
			for _, span := range r.Records("spans") {
				err := files[0].add(cells(bundle.Memberships, span,
					map[string]string{"group": groupKey, "member": memberName})...)
				if err != nil {
					return err
				}
			}
			return nil
		})
}

// exportAdministrators writes who administers which element.
func (x *export) exportAdministrators() error {
	return x.walk([]string{bundle.Administrators.File()}, "/api/admin/elements", "elements", nil,
		func(r client.Record, files []*file) error {
			id := r.ID("id")
			if r.Text("controlled") != "true" || x.only != nil && !x.only.elements[id] {
				return nil
			}
			name, err := x.names.element(id)
			if err != nil {
				return err
			}
			path := "/api/admin/elements/" + strconv.FormatInt(id, 10) + "/administrators"
			for user, err := range x.c.List(x.ctx, path, "administrators", nil) {
				if err != nil {
					return err
				}
				key, err := x.names.user(user.ID("id"))
				if err != nil {
					return err
				}
				if x.only != nil {
					x.only.users[user.ID("id")] = true
				}
				if err := files[0].add(name, key); err != nil {
					return err
				}
			}
			return nil
		})
}

// exportUsers writes users without their uuids, of which Belfry has only hashes.
func (x *export) exportUsers() error {
	return x.walk([]string{bundle.Users.File()}, "/api/admin/users", "users", nil,
		func(r client.Record, files []*file) error {
			if x.only != nil {
				if !x.only.users[r.ID("id")] && r.ID("element_id") != x.Element {
					return nil
				}
				x.only.elements[r.ID("element_id")] = true
			}
			element, err := x.names.element(r.ID("element_id"))
			if err != nil {
				return err
			}
			schools, err := x.schools(r, files[0])
			if err != nil {
				return err
			}
			given := map[string]string{"key": x.names.keyOf(r), "element": element, "admin_of": schools}
			for name := range r.Inner("permissions") {
				given[name] = r.Inner("permissions").Text(name)
			}
			return files[0].add(cells(bundle.Users, r, given)...)
		})
}

// schools are the keys of the schools that a user administers. What is no current school is left out: it gives no
// right, and an import refuses it.
func (x *export) schools(user client.Record, users *file) (string, error) {
	var keys []string
	for _, id := range user.IDs("admin_of") {
		name, err := x.names.element(id)
		if err != nil {
			return "", err
		}
		if !x.names.schools[id] {
			users.leaveOut("user %d: administers the group %d, which is no current school", user.ID("id"), id)
			continue
		}
		if x.only != nil {
			x.only.elements[id] = true
		}
		_, key, _ := strings.Cut(name, ":")
		keys = append(keys, key)
	}
	slices.Sort(keys) // by id they would come in another order from another Belfry
	return strings.Join(keys, ";"), nil
}

func (x *export) exportCategories() error {
	return x.walk([]string{bundle.EventCategories.File()}, "/api/admin/eventcategories", "eventcategories", nil,
		func(r client.Record, files []*file) error {
			if x.only != nil && !x.only.categories[r.ID("id")] {
				return nil
			}
			school := r.ID("school_id")
			if x.only != nil {
				x.only.elements[school] = true
			}
			name, err := x.names.element(school)
			if err != nil {
				return err
			}
			_, of, _ := strings.Cut(name, ":")
			given := map[string]string{"key": x.names.keyOf(r), "school": of}
			return files[0].add(cells(bundle.EventCategories, r, given)...)
		})
}

// exportElements writes the elements of a type, those that are no longer current among them.
func (x *export) exportElements(kind bundle.Kind) error {
	query := map[string][]string{"entity_type": {kind.EntityType()}}
	return x.walk([]string{kind.File()}, "/api/admin/elements", "elements", query,
		func(r client.Record, files []*file) error {
			if x.only != nil && !x.only.elements[r.ID("id")] {
				return nil
			}
			return files[0].add(cells(kind, r, map[string]string{"key": x.names.keyOf(r)})...)
		})
}
