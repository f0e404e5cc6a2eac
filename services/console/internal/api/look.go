package api

import (
	"errors"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// lookPage is how many rows a list of those who look after the school has.
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
	Rows  []row
	Next  string // the address of the next page, "" on the last
}

// address is that of the list with other parameters.
func (b listBody) address(query url.Values) string {
	for name, values := range query {
		if values[0] == "" {
			delete(query, name)
		}
	}
	if len(query) == 0 {
		return b.At
	}
	return b.At + "?" + query.Encode()
}

// forAdministrators lets only those see a page who look after the school, or a school. What they may do there is
// decided by each service.
func (h handlers) forAdministrators(shown func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if !v.me.LooksAfter() {
			return v.refuse(fiber.StatusForbidden, "forbidden")
		}
		return shown(v)
	}
}

// lookAfter lists what there is to look after.
func (h handlers) lookAfter(v *visit) error {
	b := listBody{At: "/look-after"}
	for _, t := range elementTypes {
		b.Rows = append(b.Rows, row{b.At + "/list/" + t.name, v.texts.T("look.of." + t.name),
			v.texts.T("look.about." + t.name)})
	}
	for _, name := range []string{"users", "kinds", "webhooks", "history"} {
		b.Rows = append(b.Rows, row{b.At + "/" + name, v.texts.T("look." + name), v.texts.T("look.about." + name)})
	}
	return v.show("look", v.texts.T("look"), b)
}

// showList shows a page of records, each as row says.
func (v *visit) showList(b listBody, title, path, part string, as func(client.Record) row) error {
	records, next, err := v.api.Page(v.ctx, path, part, url.Values{"limit": {lookPage}}, v.c.Query("after"))
	if err != nil {
		return err
	}
	for _, r := range records {
		b.Rows = append(b.Rows, as(r))
	}
	if next != "" {
		b.Next = b.address(url.Values{"after": {next}})
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
}

// record is a form about a record.
type record struct {
	Entries []entry
	Fault   string // what is wrong with none of the entries
}

// yes and no are the values of a box.
const yes, no = "true", "false"

// fill shows a record as it is.
func (r record) fill(found client.Record) record {
	r.Entries = slices.Clone(r.Entries)
	for i, e := range r.Entries {
		e.Value = found.Text(e.Name)
		if e.As == "box" && e.Value != yes {
			e.Value = no
		}
		e.Was = e.Value
		r.Entries[i] = e
	}
	return r
}

// read reads what was typed.
func (r record) read(v *visit) record {
	r.Entries = slices.Clone(r.Entries)
	for i, e := range r.Entries {
		e.Value, e.Was = v.typed.Get("is."+e.Name), v.typed.Get("was."+e.Name)
		if e.As == "box" && e.Value != yes {
			e.Value = no
		}
		r.Entries[i] = e
	}
	return r
}

// changed are the fields that the form changes, as the interface takes them.
func (r record) changed() map[string]any {
	fields := map[string]any{}
	for _, e := range r.Entries {
		switch {
		case e.Value == e.Was:
		case e.Value == "" && e.As == "number":
			fields[e.Name] = nil
		default:
			fields[e.Name] = e.Value
		}
	}
	return fields
}

// refused puts what the interface says of an invalid record beside its fields. False for any other error.
func (r record) refused(err error) (record, bool) {
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Code != fiber.StatusUnprocessableEntity &&
		failed.Code != fiber.StatusBadRequest && failed.Code != fiber.StatusConflict {
		return r, false
	}
	rest := *failed
	rest.Fields = map[string][]string{}
	for field, messages := range failed.Fields {
		at := slices.IndexFunc(r.Entries, func(e entry) bool { return e.Name == field })
		if at < 0 {
			rest.Fields[field] = messages
			continue
		}
		for _, message := range messages {
			if r.Entries[at].Fault != "" {
				r.Entries[at].Fault += ", "
			}
			r.Entries[at].Fault += message
		}
	}
	if len(rest.Fields) > 0 || len(failed.Fields) == 0 {
		r.Fault = problems(&rest)
	}
	return r, true
}

// recordBody is what the page of a record shows.
type recordBody struct {
	record
	At         string // its path, to which the form is sent
	Name       string
	New        bool
	Own        bool   // it is the visitor's own account
	Done       string // the text of what has just happened
	Secret     string // shown this once
	History    string // the address of what was done to it
	Actions    []action
	Element    *elementParts
	User       *userParts
	Deliveries []api.Delivery // of a webhook, newest first; nil: it is none
}

// action is a button beside a record's form.
type action struct {
	Path, Text string
	Danger     bool
}

// dones are the texts that the address of a page may name.
var dones = []string{"added", "changed", "retired", "returned", "sent", "ended"}

// showRecord shows a record after what its address says has been done.
func (v *visit) showRecord(b recordBody, code int) error {
	if done := v.c.Query("done"); slices.Contains(dones, done) && code == fiber.StatusOK && b.Done == "" {
		b.Done = "look.done." + done
	}
	return v.answer(code, "record", b.Name, b)
}
