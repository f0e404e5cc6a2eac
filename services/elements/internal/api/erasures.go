package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// erasureForm is an erasure as administrators see it. It has the person's names only in a dry run.
type erasureForm struct {
	ElementID     int64    `json:"element_id"`
	EntityType    string   `json:"entity_type"`
	Name          string   `json:"name"` // since
	State         string   `json:"state"`
	AskedBy       *int64   `json:"asked_by"`
	AskedAt       string   `json:"asked_at"`
	DoneAt        *string  `json:"done_at"`
	UserIDs       []int64  `json:"user_ids"`
	Namesakes     []int64  `json:"namesakes"`
	WithNamesakes bool     `json:"with_namesakes"`
	Records       int      `json:"records"`
	Fingerprint   string   `json:"fingerprint"`
	Names         []string `json:"names,omitempty"`
}

func (h handlers) erasureOf(e element.Erasure) erasureForm {
	f := erasureForm{
		ElementID: e.ID, EntityType: e.EntityType, Name: e.Person.Instead, State: "running",
		AskedAt: h.zone.Format(e.AskedAt), Records: e.Records, Fingerprint: e.Fingerprint,
		UserIDs: append([]int64{}, e.Person.UserIDs...), Namesakes: append([]int64{}, e.Namesakes...),
		WithNamesakes: e.WithNamesakes, AskedBy: form.OrNull(e.Actor.User),
	}
	if e.Done() {
		f.State, f.DoneAt = "done", new(h.zone.Format(e.DoneAt))
	}
	if e.Incomplete {
		f.State = "incomplete"
	}
	return f
}

func (h handlers) erase(c *fiber.Ctx) error {
	fields, err := web.Wrapped(c, "erasure")
	if err != nil {
		return err
	}
	faults := problem.Fields{}
	r := element.ErasureRequest{
		ElementID:   form.OrZero(fields.ID("element_id", faults)),
		Namesakes:   form.OrZero(fields.Bool("namesakes", faults)),
		Fingerprint: form.OrZero(fields.Text("fingerprint", faults)),
	}
	if r.ElementID == 0 && len(faults["element_id"]) == 0 {
		faults.Add("element_id", problem.Blank)
	}
	if len(faults) > 0 {
		return problem.InvalidFields(faults)
	}
	e, begun, err := h.elements.Erase(c.UserContext(), r)
	if err != nil {
		return err
	}
	f := h.erasureOf(e)
	if web.DryRun(c) && !e.Done() {
		f.Names = e.Person.Names
	}
	if begun {
		return web.Created(c, fmt.Sprintf("/api/admin/erasures/%d", e.ID), web.Field{Name: "erasure", Value: f})
	}
	return web.OK(c, web.Field{Name: "erasure", Value: f})
}

func (h handlers) getErasure(c *fiber.Ctx, id int64) error {
	e, err := h.elements.GetErasure(c.UserContext(), id)
	return web.OKUnless(c, err, web.Field{Name: "erasure", Value: h.erasureOf(e)})
}

func (h handlers) listErasures(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	found, next, err := h.elements.ListErasures(c.UserContext(), after, limit)
	return web.OKList(c, "erasures", found, next, err, h.erasureOf, func(e element.Erasure) int64 { return e.ID })
}
