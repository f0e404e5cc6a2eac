package api

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// kindFields are those of a kind of events that people give it.
var kindFields = func() record {
	r := must(1, texts("name"))
	r.Entries = append(r.Entries, entry{Name: "pecking_order", As: "number"})
	// The other flags mean something to other programs alone.
	for _, name := range []string{"busy", "clash_check", "schoolwide", "privileged", "confidential"} {
		r.Entries = append(r.Entries, entry{Name: name, As: "box"})
	}
	return r
}()

// kindsPath is where the interface has them.
const kindsPath = "/api/admin/eventcategories"

// lookKinds lists the kinds of events.
func (h handlers) lookKinds(v *visit) error {
	b := listBody{At: "/look-after/kinds", Add: "/look-after/kinds/new"}
	return v.showList(b, "look.kinds", kindsPath, "eventcategories", func(k client.Record) row {
		return row{Path: fmt.Sprintf("%s/%d", b.At, k.ID("id")), Name: k.Text("name")}
	})
}

// lookKindNew shows the form for a new kind of events.
func (h handlers) lookKindNew(v *visit) error {
	return v.showKindNew(kindFields.fill(client.Record{"busy": true, "clash_check": true}), fiber.StatusOK)
}

func (v *visit) showKindNew(r record, code int) error {
	return v.showRecord(recordBody{record: r, New: true, At: "/look-after/kinds/new",
		Name: v.texts.T("look.new.kind")}, code)
}

// lookKindNewSent adds a kind of events.
func (h handlers) lookKindNewSent(v *visit) error {
	r := kindFields.read(v)
	made, err := v.api.Create(v.ctx, kindsPath, "eventcategory", numbered(r.changed()))
	if refused, is := r.refused(err); is {
		return v.showKindNew(refused, fiber.StatusUnprocessableEntity)
	}
	if err != nil {
		return err
	}
	return v.leave(fmt.Sprintf("/look-after/kinds/%d?done=added", made.ID("id")))
}

// numbered makes the order a number, where it is one; the interface says what is wrong with any other text.
func numbered(fields map[string]any) map[string]any {
	if text, changed := fields["pecking_order"].(string); changed {
		if n, err := strconv.Atoi(text); err == nil {
			fields["pecking_order"] = n
		}
	}
	return fields
}

// readKind finds the kind of events of the page: the list from its id on begins with it.
func (v *visit) readKind() (client.Record, error) {
	id, err := readID(v.c.Params("id"))
	if err != nil {
		return nil, problem.New(problem.NotFound, "")
	}
	kinds, _, err := v.api.Page(v.ctx, kindsPath, "eventcategories",
		url.Values{"from_id": {v.c.Params("id")}, "limit": {"1"}}, "")
	if err != nil {
		return nil, err
	}
	if len(kinds) == 0 || kinds[0].ID("id") != id {
		return nil, problem.New(problem.NotFound, "")
	}
	return kinds[0], nil
}

// lookKind shows a kind of events.
func (h handlers) lookKind(v *visit) error {
	kind, err := v.readKind()
	if err != nil {
		return err
	}
	return v.showKind(kind, kindFields.fill(kind), fiber.StatusOK)
}

func (v *visit) showKind(kind client.Record, r record, code int) error {
	id := kind.ID("id")
	return v.showRecord(recordBody{record: r, At: fmt.Sprintf("/look-after/kinds/%d", id), Name: kind.Text("name"),
		History: fmt.Sprintf("/look-after/history?record=EventCategory:%d", id)}, code)
}

// lookKindSent changes a kind of events.
func (h handlers) lookKindSent(v *visit) error {
	kind, err := v.readKind()
	if err != nil {
		return err
	}
	r := kindFields.read(v)
	_, err = v.api.Change(v.ctx, fmt.Sprintf("%s/%d", kindsPath, kind.ID("id")), "eventcategory", numbered(r.changed()))
	if refused, is := r.refused(err); is {
		return v.showKind(kind, refused, fiber.StatusUnprocessableEntity)
	}
	return v.done(err, "changed")
}
