package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// editBody is what the page for changing an event shows.
type editBody struct {
	times
	Event     api.Event // as it is
	Version   string    // at which it is changed
	Meanwhile bool      // another has changed it
	Kinds     []api.ListedCategory
	Which     string
	attempt
}

// edit shows the form with the event as it is.
func (h handlers) edit(v *visit) error {
	e, version, err := v.readEvent()
	if err != nil {
		return err
	}
	b := editBody{Event: e, Version: version, Which: "one"}
	if b.times, err = v.timesOf(e); err != nil {
		return err
	}
	return v.showEdit(b, fiber.StatusOK)
}

// timesOf fills in the form's times by the zone's clock; the last day of what is all day is inclusive.
func (v *visit) timesOf(e api.Event) (times, error) {
	starts, err := wiretime.Parse(e.StartsAt)
	ends, errEnds := wiretime.Parse(e.EndsAt)
	if err := errors.Join(err, errEnds); err != nil {
		return times{}, err
	}
	days := v.zone.Days(starts, ends)
	t := times{Title: e.Body, Kind: e.Category.ID, Date: days.First.String(), AllDay: e.AllDay}
	if e.AllDay {
		t.Last = days.Last.String()
		return t, nil
	}
	t.From, t.To = v.texts.Clock(starts), v.texts.Clock(ends)
	if last := v.zone.DayOf(ends); last > days.First {
		t.Last = last.String()
	}
	return t, nil
}

func (v *visit) showEdit(b editBody, code int) (err error) {
	if b.Kinds, err = list[api.ListedCategory](v, "/api/eventcategories", "eventcategories", nil); err != nil {
		return err
	}
	kept := b.Event.Category // which the visitor may not see, or not choose for other events
	if !slices.ContainsFunc(b.Kinds, func(c api.ListedCategory) bool { return c.ID == kept.ID }) {
		name := cmp.Or(kept.Name, v.texts.T("edit.kind.kept"))
		b.Kinds = slices.Insert(b.Kinds, 0, api.ListedCategory{ID: kept.ID, Name: name})
	}
	return v.answer(code, "edit", v.texts.T("edit.title", b.Event.Body), b)
}

// editSent changes the event, and others of its series if the form says so.
func (h handlers) editSent(v *visit) error {
	e, _, err := v.readEvent()
	if err != nil {
		return err
	}
	b := editBody{
		times: v.readTimes(), Event: e, Version: v.typed.Get("version"), Which: scope(v.typed.Get("which")),
		attempt: attempt{Anyway: v.typed.Get("anyway") != ""},
	}
	was, err := v.timesOf(e)
	if err != nil {
		return err
	}
	change := b.fields()
	if b.Kind == 0 || b.Kind == e.Category.ID {
		delete(change, "event_category_id") // which needs a right of its own where it is privileged
	}
	if b.at() == was.at() { // the form has neither seconds, nor which of two hours of a clock change it is
		maps.DeleteFunc(change, func(name string, _ any) bool { return name != "body" && name != "event_category_id" })
	}
	var after string
	ctx := context.WithValue(context.WithValue(v.ctx, atKey, b.Version), seenKey{}, &after)
	again, err := v.try(ctx, &b.attempt, func(ctx context.Context, clashes string) (client.Booked, error) {
		changed, err := v.api.ChangeSeries(ctx, e.ID, b.Which, map[string]any{"event": change, "clashes": clashes})
		return client.Booked{Clashes: changed.Clashes}, err
	})
	if refused(err, fiber.StatusPreconditionFailed) != nil {
		return v.overtaken(b)
	}
	if err != nil {
		return err
	}
	if again != 0 {
		return v.showEdit(b, again)
	}
	if b.Which != "one" || was.Kind == 0 && b.Kind != 0 {
		return v.leave(v.record("/events", ""))
	}
	fields := was.typed()
	fields.Set("version", after) // what another changes from now on is not undone
	return v.leaveWithUndo("changed", "edit", fields)
}

// overtaken shows the form again with the event as it is now, unless that is what was typed: of two clicks, the first
// has changed it.
func (v *visit) overtaken(b editBody) error {
	var err error
	if b.Event, b.Version, err = v.readEvent(); err != nil {
		return err
	}
	now, err := v.timesOf(b.Event)
	if err != nil {
		return err
	}
	if b.times == now {
		return v.leave(v.record("/events", "?"+v.undoQuery("changed", "", nil)))
	}
	b.Meanwhile = true
	return v.showEdit(b, fiber.StatusConflict)
}

// at is when it is alone.
func (t times) at() times {
	t.Title, t.Kind = "", 0
	return t
}

// typed are the form's fields that give these times.
func (t times) typed() url.Values {
	fields := url.Values{
		"title": {t.Title}, "kind": {id(t.Kind)}, "date": {t.Date}, "from": {t.From}, "to": {t.To}, "last": {t.Last},
	}
	if t.AllDay {
		fields.Set("allday", "1")
	}
	return fields
}
