package api

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/web"
)

// lookPage is the number of rows of an administrator's list.
const lookPage = "50"

// row leads to a record.
type row struct {
	Path, Name, Hint string
}

// listBody is what a page with a list of records shows.
type listBody struct {
	At    string // its path
	Query string // what is looked for
	Finds bool   // it has a search
	Old   string // the other list, of those that are no longer here, or of those that are; "" for none
	OldAs string // its text
	Add   string // where one adds a record; "" for nowhere
	Note  string // a text above the list; "" for none
	Rows  []row
	Next  string // the address of the next page, "" on the last
}

// lookAfter lists the kinds of records to administer.
func (h handlers) lookAfter(v *visit) error {
	b := listBody{At: "/look-after"}
	for _, t := range elementTypes {
		b.Rows = append(b.Rows, row{b.At + "/list/" + t.name, v.texts.T("look.of." + t.name),
			v.texts.T("look.about." + t.name)})
	}
	for _, name := range []string{"users", "kinds", "webhooks", "import", "history"} {
		b.Rows = append(b.Rows, row{b.At + "/" + name, v.texts.T("look." + name), v.texts.T("look.about." + name)})
	}
	return v.show("look", v.texts.T("look"), b)
}

// listed lists the records of a kind, of which there are few.
func listed(k recordKind, title string) func(*visit) error {
	return func(v *visit) error {
		return v.showList(listBody{At: k.at, Add: k.add}, title, k, k.path, url.Values{})
	}
}

// readAtMost bounds the calls of one search among records, each of 1,000; the next page continues it. A search ends
// once it has found foundAtLeast.
const readAtMost, foundAtLeast = 2, 50

// showList shows a page of records of a kind: those of a list of the interface, which answers a search that finds
// nothing with 404, and what belongs to a group that is no longer a school with 400. Its lists for administrators have
// no search, so the page looks for the text itself.
func (v *visit) showList(b listBody, title string, k recordKind, path string, query url.Values) error {
	query.Set("limit", lookPage)
	var part needle.Needle
	calls := 1
	if path == k.path && b.Query != "" {
		query.Set("limit", "1000")
		part, calls = needle.New(b.Query), readAtMost
	}
	next := v.c.Query("after")
	for range calls {
		records, following, err := v.api.Page(v.ctx, path, k.list, query, next)
		ended := query.Has("school") && refused(err, fiber.StatusBadRequest) != nil
		if err != nil && !nothing(err) && !ended {
			return err
		}
		next = following
		for _, r := range records {
			shown := row{Path: k.page(r), Name: r.Text(k.called), Hint: r.Text(k.also)}
			if !part.In(shown.Name + " " + shown.Hint) {
				continue
			}
			if r.Text("active") == no {
				shown.Hint = strings.TrimPrefix(shown.Hint+" · "+v.texts.T(k.off), " · ")
			}
			b.Rows = append(b.Rows, shown)
		}
		if next == "" || len(b.Rows) >= foundAtLeast {
			break
		}
	}
	if next != "" {
		b.Next = b.At + "?" + url.Values{"q": {b.Query}, "old": {v.c.Query("old")}, "after": {next}}.Encode()
	}
	return v.show("look", v.texts.T(title), b)
}

// entry is a field of a form about a record.
type entry struct {
	Name  string // as the interface has it
	Value string // as it is, or was typed; true or false of a box
	Was   string // when the form was shown: what is still the same is not sent, so that nothing of others is undone
	As    string // box, email, url, date or number; "" for text
	Words []string
	Must  bool
	Fault string

	within string // the field whose record has it; "" for the record itself
	among  string // of a box: the list that has its name where it is ticked; "" for none
	digits bool   // the interface takes a number, not its text
}

// in is the entry's value in a record.
func (e entry) in(found client.Record) string {
	switch {
	case e.among != "":
		return fmt.Sprint(slices.Contains(strings.Fields(found.Text(e.among)), e.Name))
	case e.within != "":
		found = found.Inner(e.within)
	}
	return e.ticked(found.Text(e.Name))
}

// yes and no are the values of a box.
const yes, no = "true", "false"

// ticked is a value; a box that is not yes is no.
func (e entry) ticked(value string) string {
	if e.As == "box" && value != yes {
		return no
	}
	return value
}

// record is a form about a record.
type record struct {
	Entries []entry
	Fault   string // what is wrong with none of the entries
}

// entries are fields that differ from like only in their names.
func entries(like entry, names ...string) (all []entry) {
	for _, name := range names {
		like.Name = name
		all = append(all, like)
	}
	return all
}

// must is a form whose first entries a record needs.
func must(count int, parts ...[]entry) record {
	r := record{Entries: slices.Concat(parts...)}
	for i := range count {
		r.Entries[i].Must = true
	}
	return r
}

// fill shows a record as it is.
func (r record) fill(found client.Record) record {
	r.Entries = slices.Clone(r.Entries)
	for i, e := range r.Entries {
		r.Entries[i].Value = e.in(found)
		r.Entries[i].Was = r.Entries[i].Value
	}
	return r
}

// read reads what was typed.
func (r record) read(v *visit) record {
	r.Entries = slices.Clone(r.Entries)
	for i, e := range r.Entries {
		r.Entries[i].Value, r.Entries[i].Was = e.ticked(v.typed.Get("is."+e.Name)), v.typed.Get("was."+e.Name)
	}
	return r
}

// changed are the fields of the record found that the form changes, as the interface takes them.
func (r record) changed(found client.Record) map[string]any {
	fields := map[string]any{}
	for _, e := range r.Entries {
		if e.Value == e.Was {
			continue
		}
		n, err := strconv.Atoi(e.Value)
		switch {
		case e.among != "":
			fields[e.among] = r.tickedOf(e.among, found)
		case e.within != "":
			inner, _ := fields[e.within].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			inner[e.Name], fields[e.within] = e.Value, inner
		case e.Value == "" && e.As == "number":
			fields[e.Name] = nil
		case e.digits && err == nil: // the interface says what is wrong with any other text
			fields[e.Name] = n
		default:
			fields[e.Name] = e.Value
		}
	}
	return fields
}

// tickedOf are the names of the ticked boxes of a list. A box that the form leaves as it was is as the record found has
// it: another may have changed it since.
func (r record) tickedOf(list string, found client.Record) []string {
	names := []string{}
	for _, e := range r.Entries {
		if e.among == list && (e.Value == yes && e.Was != yes || e.Value == e.Was && e.in(found) == yes) {
			names = append(names, e.Name)
		}
	}
	return names
}

// refused puts the interface's errors of an invalid record beside its fields. False for any other error.
func (r record) refused(err error) (record, bool) {
	failed := refused(err, fiber.StatusUnprocessableEntity, fiber.StatusBadRequest, fiber.StatusConflict)
	if failed == nil {
		return r, false
	}
	rest := *failed
	rest.Fields = maps.Clone(failed.Fields)
	for i, e := range r.Entries {
		r.Entries[i].Fault = strings.Join(failed.Fields[e.Name], ", ")
		delete(rest.Fields, e.Name)
	}
	if len(rest.Fields) > 0 || len(failed.Fields) == 0 {
		r.Fault = rest.Problems()
	}
	return r, true
}

// recordBody is what the page of a record shows.
type recordBody struct {
	record
	At         string // its path, to which the form is sent
	Name       string
	New        bool
	Person     string        // whose account the new one is; "" for no one
	Schools    []api.Element // to choose from, to which it belongs; nil: there is no choice
	School     int64         // of them, the chosen one; 0: none
	WasSchool  int64         // when the form was shown
	Fixed      bool          // the visitor may not change it
	Key        string        // so that a form that adds something, sent twice, adds one
	Own        bool          // it is the visitor's own account
	Done       string        // the text of what has just happened
	Secret     string        // shown this once
	History    string        // the address of what was done to it
	Actions    []action
	Element    *elementParts
	People     *peopleShown // of an account, with its tokens
	Tokens     *tokensShown
	Deliveries []api.Delivery // of a webhook, newest first; nil: it is none
}

// action is a button beside a record's form.
type action struct {
	Path, Text string
	Danger     bool
}

// dones are the texts that the address of a page may name.
var dones = []string{"added", "changed", "retired", "returned", "sent", "ended"}

// showRecord shows a record below the action that its address reports.
func (v *visit) showRecord(b recordBody, code int) error {
	if done := v.c.Query("done"); slices.Contains(dones, done) && code == fiber.StatusOK && b.Done == "" {
		b.Done = "look.done." + done
	}
	b.Key = rand.Text()
	return v.answer(code, "record", b.Name, b)
}

// recordKind is a kind of records, whose pages are only for administrators.
type recordKind struct {
	name       string // the text look.new.NAME is the title of the form for a new one
	at, add    string // the path of its pages, and that of the form for a new one
	path       string // where the interface has them
	part, list string // what the interface calls one, and several
	inList     bool   // the interface has one in its list alone
	audit      string // what the history calls it
	called     string // the field that is the title of its page
	also       string // the field that a list shows beside that; "" for none
	off        string // the text that a list says of one that is not active
	form       record
	types      []typeForm    // nil: it has no types
	first      client.Record // what the form for a new one is filled in with
	// made returns the page that a new record shows once; nil: its own page follows.
	made func(client.Record) recordBody
	// beside adds the page's parts besides the form.
	beside func(*visit, recordKind, client.Record, *recordBody) error
}

// typeForm is the form of a type.
type typeForm struct {
	name string
	form record
}

// page is the address of a record's page.
func (k recordKind) page(found client.Record) string { return k.at + "/" + id(found.ID("id")) }

// of is the kind with the form of a type. It is false for a type that does not exist.
func (k recordKind) of(name string) (recordKind, bool) {
	if k.types == nil {
		return k, true
	}
	i := slices.IndexFunc(k.types, func(t typeForm) bool { return t.name == name })
	if i < 0 {
		return k, false
	}
	k.name, k.form, k.add = name, k.types[i].form, strings.Replace(k.add, ":type", name, 1)
	return k, true
}

// record is the path of the record in the page's address, followed by more; path is that of its kind.
func (v *visit) record(path, more string) string {
	return path + "/" + url.PathEscape(v.c.Params("id")) + more
}

// readRecord finds the record of the page.
func (v *visit) readRecord(k recordKind) (client.Record, error) {
	if !k.inList {
		return v.api.Get(v.ctx, v.record(k.path, ""), k.part)
	}
	id, err := web.PathID(v.c, "id")
	if err != nil {
		return nil, err
	}
	return v.fromList(k, id)
}

// fromList finds a record by its id: the list from its id on begins with it.
func (v *visit) fromList(k recordKind, id int64) (client.Record, error) {
	found, _, err := v.api.Page(v.ctx, k.path, k.list, url.Values{"from_id": {fmt.Sprint(id)}, "limit": {"1"}}, "")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || found[0].ID("id") != id {
		return nil, problem.New(problem.NotFound, "")
	}
	return found[0], nil
}

func (v *visit) showNew(k recordKind, r record, code int) error {
	var schools []api.Element
	var err error
	if k.name != "user" && (v.me.Permissions.Admin || len(v.me.AdminOf) > 1) { // an account belongs to its person's
		if schools, err = v.schools(); err != nil {
			return err
		}
	}
	return v.showRecord(recordBody{record: r, New: true, At: k.add, Name: v.texts.T("look.new." + k.name),
		Person:  cmp.Or(v.c.Query("person"), v.typed.Get("person")),
		Schools: schools, School: number(v.typed.Get("school"))}, code)
}

// schools are those that the visitor administers.
func (v *visit) schools() (all []api.Element, err error) {
	if v.me.Permissions.Admin {
		for e, err := range v.api.List(v.ctx, elements.path, elements.list,
			url.Values{"type": {"Group"}, "current": {yes}, "limit": {"1000"}}) {
			if err != nil {
				return nil, err
			}
			if e.Text("school") == yes {
				all = append(all, client.As[api.Element](e))
			}
		}
		return all, nil
	}
	for _, school := range v.me.AdminOf {
		found, err := v.api.Get(v.ctx, elements.path+"/"+id(school), elements.part)
		if refused(err, fiber.StatusForbidden) != nil { // it is no longer a school
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, client.As[api.Element](found))
	}
	return all, nil
}

// newRecord shows the form for a new record, or adds one.
func newRecord(k recordKind) func(*visit) error {
	return func(v *visit) error {
		k, found := k.of(v.c.Params("type"))
		if !found {
			return v.refuse(fiber.StatusNotFound, "missing")
		}
		if v.c.Method() == fiber.MethodGet {
			first, err := v.accountOf(k.first)
			if err != nil {
				return err
			}
			return v.showNew(k, k.form.fill(first), fiber.StatusOK)
		}
		r := k.form.read(v)
		fields := r.changed(nil)
		if k.types != nil {
			fields["type"] = k.name
		}
		if person := v.typed.Get("person"); person != "" {
			fields["element_id"] = person
		}
		if school := v.typed.Get("school"); school != "" {
			fields["school_id"] = school
		}
		made, err := v.api.Create(v.once(), k.path, k.part, fields)
		if refused, is := r.refused(err); is {
			return v.showNew(k, refused, fiber.StatusUnprocessableEntity)
		}
		if err != nil {
			return err
		}
		if k.made == nil {
			return v.leave(k.page(made) + "?done=added")
		}
		return v.showFound(k, made, k.form.fill(made), k.made(made), fiber.StatusCreated)
	}
}

// showFound completes the page of a record: b has the action just done. Administrators of a school see records that
// they may not change, such as the school's, which a trial tells.
func (v *visit) showFound(k recordKind, found client.Record, r record, b recordBody, code int) error {
	b.record, b.At, b.Name = r, k.page(found), found.Text(k.called)
	b.History = fmt.Sprintf("/look-after/history?record=%s:%d", k.audit, found.ID("id"))
	if k.beside != nil {
		if err := k.beside(v, k, found, &b); err != nil {
			return err
		}
	}
	var err error
	if v.me.Permissions.Admin {
		if k.name != kinds.name { // nothing else is given to another school
			return v.showRecord(b, code)
		}
		b.School, b.WasSchool = found.ID("school_id"), found.ID("school_id")
		if v.typed.Has("school") {
			b.School, b.WasSchool = number(v.typed.Get("school")), number(v.typed.Get("was.school"))
		}
		if b.Schools, err = v.schools(); err != nil {
			return err
		}
		return v.showRecord(b, code)
	}
	path := k.path + "/" + id(found.ID("id"))
	_, err = v.api.Change(client.DryRun(v.ctx), path, k.part, map[string]any{})
	if b.Fixed = refused(err, fiber.StatusForbidden) != nil; b.Fixed {
		b.Actions, b.Tokens = nil, nil
	}
	return v.showRecord(b, code)
}

// oneRecord shows a record, or changes it.
func oneRecord(k recordKind) func(*visit) error {
	return func(v *visit) error {
		found, err := v.readRecord(k)
		if err != nil {
			return err
		}
		k, _ := k.of(found.Text("entity_type"))
		if v.c.Method() == fiber.MethodGet {
			return v.showFound(k, found, k.form.fill(found), recordBody{}, fiber.StatusOK)
		}
		r := k.form.read(v)
		fields := r.changed(found)
		if school := v.typed.Get("school"); number(school) != number(v.typed.Get("was.school")) {
			fields["school_id"] = school
		}
		_, err = v.api.Change(v.ctx, k.path+"/"+id(found.ID("id")), k.part, fields)
		if refused, is := r.refused(err); is {
			return v.showFound(k, found, refused, recordBody{}, fiber.StatusUnprocessableEntity)
		}
		return v.done(err, "changed")
	}
}

// sureBody is the page that asks for confirmation before a form does something that can't be undone.
type sureBody struct {
	Text  string // of the button; TEXT.sure says what will happen
	Back  string
	Typed url.Values
}

// sure asks for confirmation. That page sends the form again.
func sure(text string, sent func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if v.typed.Has("sure") {
			return sent(v)
		}
		v.typed.Del("token")
		return v.show("sure", v.texts.T(text), sureBody{text, v.recordPage(), v.typed})
	}
}

// end returns the handler of a form that ends the page's record, or something that the interface has below its path, by
// the id in a field of the form.
func end(path, below, field, done string) func(*visit) error {
	return func(v *visit) error {
		return v.done(v.remove(v.record(path, below+url.PathEscape(v.typed.Get(field)))), done)
	}
}

// recordPage is the page of the record that a form belongs to.
func (v *visit) recordPage() string {
	path := strings.Split(v.c.Path(), "/") // "", look-after, elements, 68 and what is below it
	if path[1] == "account" {
		return "/account"
	}
	return strings.Join(path[:min(len(path), 4)], "/")
}

// done goes back to the record's page, which reports the action.
func (v *visit) done(err error, what string) error { return v.after(err, v.recordPage()+"?done="+what) }
