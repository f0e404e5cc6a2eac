package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/web"
)

// commitments answers neighbour.Events.Commitments: one read of about as many documents as it returns.
func (h handlers) commitments(c *fiber.Ctx) error {
	var q fact.CommitmentsQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	found, err := h.events.CommitmentsIn(c.UserContext(), q.Reaches)
	if err != nil {
		return err
	}
	facts := make([]fact.Commitment, len(found))
	for i, f := range found {
		facts[i] = fact.Commitment{ID: f.Item.ID, Status: string(f.Item.Status), ElementID: f.Item.ElementID, Event: h.shape.summary(f.Event)}
		if q.Involved {
			facts[i].Involved = f.Event.Involved()
		}
	}
	return web.OK(c, web.Part{Name: "commitments", Value: facts})
}

// requests answers neighbour.Events.Requests: one read of about as many documents as it returns.
func (h handlers) requests(c *fiber.Ctx) error {
	var q fact.RequestsQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	found, err := h.events.RequestsIn(c.UserContext(), q.ElementID, q.Days)
	if err != nil {
		return err
	}
	shown := make([]form.Request, len(found))
	for i, f := range found {
		summary := h.shape.summary(f.Event)
		shown[i] = form.Request{ID: &f.Item.ID, Quantity: f.Item.Quantity, NumAllocated: f.Event.Allocated(f.Item.ID), Event: &summary, Valid: true}
	}
	return web.OK(c, web.Part{Name: "requests", Value: shown})
}

// summaries answers neighbour.Events.Summaries: up to two reads of as many documents as it returns.
func (h handlers) summaries(c *fiber.Ctx) error {
	var q fact.SummariesQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	events, err := h.events.Find(c.UserContext(), q.IDs, q.Keys)
	if err != nil {
		return err
	}
	facts := make([]fact.Event, len(events))
	for i, e := range events {
		facts[i] = fact.Event{Event: h.shape.summary(e), Key: e.Key}
	}
	return web.OK(c, web.Part{Name: "events", Value: facts})
}

// busy answers neighbour.Events.Busy: one read of about as many events as it returns spans, and one of their categories.
func (h handlers) busy(c *fiber.Ctx) error {
	var q fact.BusyQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	found, err := h.events.Busy(c.UserContext(), q.Reaches)
	if err != nil {
		return err
	}
	facts := make([]fact.Busy, len(found))
	for i, f := range found {
		facts[i] = fact.Busy{ElementID: f.Item.ElementID, Starts: f.Event.Span.Starts, Ends: f.Event.Span.Ends}
	}
	return web.OK(c, web.Part{Name: "busy", Value: facts})
}

// calendar answers neighbour.Events.Calendar: one read of about as many events as it returns, and one of their categories.
func (h handlers) calendar(c *fiber.Ctx) error {
	var q fact.CalendarQuestion
	if err := web.Decode(c, &q); err != nil {
		return err
	}
	found, err := h.events.Calendar(c.UserContext(), q.Reaches)
	if err != nil {
		return err
	}
	facts := make([]fact.CalendarEvent, len(found))
	for i, e := range found {
		facts[i] = fact.CalendarEvent{
			ID: e.ID, Version: e.Version, Modified: e.Modified, Body: e.Body, Starts: e.Span.Starts, Ends: e.Span.Ends, AllDay: e.Span.AllDay, Busy: e.Busy, Firm: e.Firm,
		}
	}
	return web.OK(c, web.Part{Name: "events", Value: facts})
}
