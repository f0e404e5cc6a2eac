package api

import (
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// listedCategory is the list form (contract 2.7).
type listedCategory struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Valid bool   `json:"valid"`
}

// detailedCategory is the detail form; valid and errors are there only when it is not valid.
type detailedCategory struct {
	ID           *int64 `json:"id"` // nil (null): never stored
	Name         string `json:"name"`
	PeckingOrder int    `json:"pecking_order"`
	categoryFlags
	Valid  *bool          `json:"valid,omitempty"`
	Errors problem.Fields `json:"errors,omitempty"`
}

type categoryFlags struct {
	Schoolwide  bool `json:"schoolwide"`
	Publish     bool `json:"publish"`
	Visible     bool `json:"visible"`
	Unimportant bool `json:"unimportant"`
	CanMerge    bool `json:"can_merge"`
	CanBorrow   bool `json:"can_borrow"`
	Compactable bool `json:"compactable"`
	Privileged  bool `json:"privileged"`
	ClashCheck  bool `json:"clash_check"`
	Busy        bool `json:"busy"`
	Timetable   bool `json:"timetable"`
}

func detail(c category.Category) detailedCategory {
	shown := detailedCategory{Name: c.Name, PeckingOrder: c.PeckingOrder, categoryFlags: categoryFlags(c.Flags)}
	if c.ID != 0 {
		shown.ID = &c.ID
	}
	return shown
}

// listCategories is GET /api/eventcategories. The session and one read of all categories.
func (h handlers) listCategories(c *fiber.Ctx) error {
	categories, err := h.categories.List(c.UserContext(), web.Principal(c))
	if err != nil {
		return err
	}
	shown := make([]listedCategory, len(categories))
	for i, category := range categories {
		shown[i] = listedCategory{category.ID, category.Name, true}
	}
	return web.OK(c, web.Field{Name: "eventcategories", Value: shown})
}

// readCategory is GET /api/eventcategories/<id>. The session and one document.
func (h handlers) readCategory(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	category, err := h.categories.Get(c.UserContext(), web.Principal(c), id)
	if err != nil {
		return err
	}
	return web.OK(c, web.Field{Name: "eventcategory", Value: detail(category)})
}

// pageOfCategories is GET /api/admin/eventcategories. The session and one read of as many documents as it returns, and one.
func (h handlers) pageOfCategories(c *fiber.Ctx) error {
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	categories, more, err := h.categories.Page(c.UserContext(), after, limit)
	if err != nil {
		return err
	}
	shown := make([]detailedCategory, len(categories))
	var next int64
	for i, category := range categories {
		shown[i] = detail(category)
		if more {
			next = category.ID
		}
	}
	return web.OK(c, web.Field{Name: "eventcategories", Value: shown}, web.Next(next))
}

// createCategory is POST /api/admin/eventcategories. The session and one write.
func (h handlers) createCategory(c *fiber.Ctx) error {
	o, err := web.Wrapped(c, "eventcategory")
	if err != nil {
		return err
	}
	category, err := h.categories.Create(c.UserContext(), readCategoryFields(o))
	if err != nil {
		return refuseCategory(c, err)
	}
	return web.Answer(c, fiber.StatusCreated, "Created", web.Field{Name: "eventcategory", Value: detail(category)})
}

// changeCategory is PATCH /api/admin/eventcategories/<id>. The session and one versioned change: three round trips.
func (h handlers) changeCategory(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	o, err := web.Wrapped(c, "eventcategory")
	if err != nil {
		return err
	}
	category, err := h.categories.Change(c.UserContext(), id, readCategoryFields(o))
	if err != nil {
		return refuseCategory(c, err)
	}
	return web.OK(c, web.Field{Name: "eventcategory", Value: detail(category)})
}

func readCategoryFields(o web.Object) category.Fields {
	faults := problem.Fields{}
	f := category.Fields{Name: o.Text("name", faults), PeckingOrder: o.Int("pecking_order", faults), Flags: map[string]bool{}, Faults: faults}
	for _, flag := range category.FlagNames() {
		if value := o.Bool(flag, faults); value != nil {
			f.Flags[flag] = *value
		}
	}
	return f
}

// refuseCategory answers an invalid category with the category; other errors go on.
func refuseCategory(c *fiber.Ctx, err error) error {
	var invalid *record.InvalidError[category.Category]
	if !errors.As(err, &invalid) {
		return err
	}
	shown, valid := detail(invalid.Record), false
	shown.Valid, shown.Errors = &valid, invalid.Faults
	return web.InvalidRecord(c, "eventcategory", shown)
}
