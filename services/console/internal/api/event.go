package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// eventBody is what the page of an event shows.
type eventBody struct {
	api.Event
	Notes            []shownNote
	Draft            *shownNote // a note that is not added yet; nil: none
	Key              string     // so that the form for it, sent twice, adds one
	Series           api.Series // that it is one of; empty where the visitor does not see it
	Undo             *undo      // of what has just been done to it; nil: nothing, or nothing that can be taken back
	MayEdit, MayNote bool
}

// shownNote is a note, with the safe HTML of the notes service.
type shownNote struct {
	api.Note
	HTML template.HTML
}

// eventPath is that of the interface for the event in the page's address.
func (v *visit) eventPath() string { return v.record("/api/events", "") }

// readEvent returns the event with its version.
func (v *visit) readEvent() (e api.Event, version string, err error) {
	ctx := context.WithValue(v.ctx, seenKey{}, &version)
	record, err := v.api.Get(ctx, v.eventPath()+"?include=category,decisions", "event")
	return client.As[api.Event](record), version, err
}

// event shows an event with its decisions and notes.
func (h handlers) event(v *visit) error { return v.showEvent(nil) }

func (v *visit) showEvent(draft *shownNote) error {
	e, _, err := v.readEvent()
	if err != nil {
		return err
	}
	b := eventBody{Event: e, Draft: draft, Key: rand.Text(), MayNote: v.me.Permissions.CanAddNotes, Undo: v.readUndo()}
	b.MayEdit = e.Owner.ID == v.me.User.ID || v.me.Permissions.EditAllEvents || v.me.Permissions.Admin
	if b.Undo != nil && !b.MayEdit {
		b.Undo.Form = ""
	}
	b.Series, err = v.series(e)
	if err != nil && refused(err, fiber.StatusForbidden, fiber.StatusNotFound) == nil { // it may be in the making
		return err
	}
	if b.Notes, err = v.notes(v.eventPath()); err != nil {
		return err
	}
	return v.show("event", e.Body, b)
}

// series is that of an event, empty where it has none.
func (v *visit) series(e api.Event) (api.Series, error) {
	if e.SeriesID == 0 {
		return api.Series{}, nil
	}
	record, err := v.api.Get(v.ctx, fmt.Sprintf("/api/series/%d", e.SeriesID), "series")
	return client.As[api.Series](record), err
}

// noteSent adds a note, or shows what it would look like.
func (h handlers) noteSent(v *visit) error {
	ctx, trial := v.once(), v.typed.Has("preview")
	if trial {
		ctx = client.DryRun(ctx)
	}
	note, err := v.api.Create(ctx, v.eventPath()+"/notes", "note", map[string]any{
		"contents":      v.typed.Get("contents"),
		"visible_staff": true,
		"visible_pupil": v.typed.Get("pupils") != "", "visible_guest": v.typed.Get("guests") != "",
	})
	if err == nil && trial {
		draft := client.As[api.Note](note)
		return v.showEvent(&shownNote{draft, template.HTML(draft.FormattedContents)}) //nolint:gosec // made safe
	}
	return v.after(err, v.record("/events", "#notes"))
}

// removeSent removes a person or thing from an event. What another has removed is not said to be removed now.
func (h handlers) removeSent(v *visit) error {
	kind, id, _ := strings.Cut(v.typed.Get("what"), "/")
	path, known := map[string]string{"elements": v.eventPath() + "/elements/", "requests": "/api/requests/"}[kind]
	if !known {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	e, _, err := v.readEvent()
	if err != nil {
		return err
	}
	err = v.api.Delete(v.ctx, path+url.PathEscape(id), nil)
	switch {
	case client.Missing(err), err == nil && kind != "elements":
		return v.leave(v.record("/events", ""))
	case err != nil:
		return err
	case !comesBack(e, number(id)):
		return v.leave(v.record("/events", "?"+v.undoQuery("removed", "", nil)))
	}
	return v.leaveWithUndo("removed", "people", url.Values{"with": {id}, "instead": {"0"}})
}

// comesBack says whether an element of an event that is taken off it, and added again, is there as it was. A decision
// is lost; so is an allocation, and the interface does not say which entries are allocated. Of a pool one is asked for.
func comesBack(e api.Event, element int64) bool {
	allocated := slices.ContainsFunc(e.Requests, func(r api.EventRequest) bool { return r.NumAllocated > 0 })
	return slices.ContainsFunc(e.Commitments, func(c api.EventCommitment) bool {
		return c.Element.ID == element && (c.Status == "requested" || c.Status == "uncontrolled" && !allocated)
	}) || slices.ContainsFunc(e.Requests, func(r api.EventRequest) bool {
		return r.Element.ID == element && r.Quantity == 1 && r.NumAllocated == 0
	})
}

// cancelBody is what the page before a deletion shows.
type cancelBody struct {
	api.Event
	Scope   string
	Notes   int
	Others  int    // events of the series that go as well
	Stay    int    // that stay, because the visitor may not delete them
	Deleted string // the query of the page that will report it
	Undo    *undo  // the form that books again what was deleted; nil before
	Day     wiretime.Day
}

// scope says which events of a series are meant; any unknown text means one.
func scope(text string) string {
	if text != "following" && text != "all" {
		return "one"
	}
	return text
}

// cancel shows what a deletion deletes.
func (h handlers) cancel(v *visit) error {
	b := cancelBody{Scope: scope(v.c.Query("which")), Undo: v.readUndo()}
	if b.Undo != nil {
		b.Day, _ = wiretime.ParseDay(b.Undo.Fields.Get("date")) // as cancelSent has sealed it
		return v.show("cancel", v.texts.T("done.deleted", b.Undo.Fields.Get("title")), b)
	}
	var err error
	if b.Event, _, err = v.readEvent(); err != nil {
		return err
	}
	if b.Deleted, err = v.deleted(b.Event, b.Scope); err != nil {
		return err
	}
	notes, err := v.api.Get(v.ctx, v.eventPath()+"/notes", "")
	if err != nil {
		return err
	}
	b.Notes = len(notes.Records("notes"))
	if b.SeriesID != 0 && b.Scope != "one" {
		series, err := v.series(b.Event)
		if err != nil {
			return err
		}
		left, err := v.api.DeleteEvent(client.DryRun(v.ctx), b.ID, b.Scope)
		if err != nil {
			return err
		}
		for _, e := range series.Events {
			if e.Event.ID != b.ID && (b.Scope == "all" || e.Place > b.SeriesPlace) {
				b.Others++
			}
		}
		b.Stay, b.Others = len(left), max(b.Others-len(left), 0)
	}
	return v.show("cancel", v.texts.T("cancel.title"), b)
}

// cancelSent deletes an event, and others of its series. Of two clicks, the second leads where the first does.
func (h handlers) cancelSent(v *visit) error {
	which, done := scope(v.typed.Get("which")), v.typed.Get("deleted")
	e, _, err := v.readEvent()
	if err == nil {
		done, err = v.deleted(e, which)
	}
	if err == nil {
		_, err = v.api.DeleteEvent(v.ctx, e.ID, which)
	}
	if client.Missing(err) && done != "" {
		err = nil
	}
	return v.after(err, v.record("/events", "/cancel?"+done))
}

// deleted is the query of the page that reports a deletion. The interface can't restore events, so Undo is the booking
// form, filled in with the data of one event.
func (v *visit) deleted(e api.Event, which string) (string, error) {
	was, err := v.timesOf(e)
	if err != nil {
		return "", err
	}
	fields, form := was.typed(), ""
	for _, c := range e.Commitments {
		fields.Add("who", fmt.Sprintf("%d:%s", c.Element.ID, c.Element.Name))
	}
	for _, r := range e.Requests {
		if r.NumAllocated < r.Quantity { // what is allocated is among the commitments
			fields.Add("who", fmt.Sprintf("%d:%s", r.Element.ID, r.Element.Name))
		}
	}
	if which == "one" && len(fields["who"]) <= whoAtMost && v.me.Permissions.CanAddEvents {
		form = "/book"
	}
	return v.undoQuery("again", form, fields), nil
}

// undoAtMost bounds the bytes sealed into an address: more than an event has apart from people and things.
const undoAtMost = 2500

// undo is the form that undoes the last step of an event. It is sealed for the visitor into the address of the page
// that reports the step, which shows it as a button.
type undo struct {
	Done   string // the text done.DONE says what was done
	Form   string // where it is sent to; "": there is no button
	Fields url.Values
}

// leaveWithUndo leads to the event's page, with a form below it.
func (v *visit) leaveWithUndo(done, form string, fields url.Values) error {
	return v.leave(v.record("/events", "?"+v.undoQuery(done, v.record("/events", "/"+form), fields)))
}

// undoQuery is the end of the address of a page that shows the button; nothing if there is too much to seal.
func (v *visit) undoQuery(done, form string, fields url.Values) string {
	text, _ := json.Marshal(undo{done, form, fields}) // texts always encode
	if len(text) > undoAtMost {
		fields.Del("who")
		text, _ = json.Marshal(undo{done, "", fields})
	}
	return url.Values{"undo": {v.forms.Seal(text, v.cookie())}}.Encode()
}

// readUndo returns the undo in the address of an event's page; nil unless it is of this session.
func (v *visit) readUndo() *undo {
	text, ok := v.forms.Open(v.c.Query("undo"), v.cookie())
	var u undo
	if !ok || json.Unmarshal(text, &u) != nil {
		return nil
	}
	return &u
}
