package api

import (
	"context"
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// peopleBody is the page for adding to an event, or swapping.
type peopleBody struct {
	Event   api.Event
	Query   string
	Found   []api.Element
	With    int64  // who or what is chosen
	Instead int64  // whom or what it takes the place of; 0: it comes in addition
	Key     string // so that the form, sent twice, adds once
	attempt
}

// people finds people and things to add to an event, or to replace another.
func (h handlers) people(v *visit) error {
	b := peopleBody{Query: strings.TrimSpace(v.c.Query("q")), Instead: number(v.c.Query("instead"))}
	return v.showPeople(b, fiber.StatusOK)
}

func (v *visit) showPeople(b peopleBody, code int) (err error) {
	if b.Event, _, err = v.readEvent(); err != nil {
		return err
	}
	if b.Found, err = v.elements(b.Query); err != nil {
		return err
	}
	if len(b.Found) > 0 {
		would, err := v.api.Add(client.DryRun(v.ctx), b.Event.ID, idsOf(b.Found), "report")
		if err != nil {
			return err
		}
		b.States = v.states(would)
	}
	b.Key = rand.Text()
	return v.answer(code, "people", v.texts.T("people.title"), b)
}

// peopleSent adds or swaps in one write. Clashes are shown instead, with the choice to do it anyway.
func (h handlers) peopleSent(v *visit) error {
	b := peopleBody{Query: strings.TrimSpace(v.typed.Get("q")), attempt: attempt{Anyway: v.typed.Get("anyway") != ""}}
	with, err := strconv.ParseInt(v.typed.Get("with"), 10, 64)
	instead, errInstead := strconv.ParseInt(v.typed.Get("instead"), 10, 64)
	if errInstead != nil {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	b.With, b.Instead = with, instead
	if err != nil {
		b.Fault = v.texts.T("people.fault")
		return v.showPeople(b, fiber.StatusUnprocessableEntity)
	}
	e, _, err := v.readEvent()
	if err != nil {
		return err
	}
	again, err := v.try(v.once(), &b.attempt, func(ctx context.Context, clashes string) (client.Booked, error) {
		if b.Instead == 0 {
			return v.api.Add(ctx, e.ID, []int64{b.With}, clashes)
		}
		return v.api.Replace(ctx, e.ID, []client.Replacement{{Element: b.Instead, With: b.With}}, clashes)
	})
	if err != nil {
		return err
	}
	if again != 0 {
		return v.showPeople(b, again)
	}
	asked := func(r api.EventRequest) bool { return r.Element.ID == b.With || r.Element.ID == b.Instead }
	if slices.ContainsFunc(e.Requests, asked) { // the way back would lose what was asked for and given before
		return v.leave(v.record("/events", ""))
	}
	if b.Instead != 0 && !comesBack(e, b.Instead) {
		return v.leave(v.record("/events", "?"+v.undoQuery("swapped", "", nil)))
	}
	if b.Instead != 0 {
		return v.leaveWithUndo("swapped", "people", url.Values{"with": {id(b.Instead)}, "instead": {id(b.With)}})
	}
	return v.leaveWithUndo("added", "remove", url.Values{"what": {"elements/" + id(b.With)}})
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
