// Package export writes the data of a Belfry into a folder, as a bundle that can be imported again. It reads page by
// page, keeps only keys in memory, and continues where it was interrupted. docs/bundle.md describes the folder.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

// Options of an export, which its manifest keeps.
type Options struct {
	Dir string `json:"-"`
	// Origin begins the keys of records that were made by hand and so have no import key.
	Origin string `json:"origin"`
	// Since is a token of the list of changes: only events, with their notes, that have changed since. Empty: all.
	Since string `json:"since,omitempty"`
	// Element is the id of the only element whose events are exported, with what they refer to. 0: all.
	Element int64 `json:"element,omitempty"`
	// Calendars exports the calendar of each person and place, or of the element, too.
	Calendars bool `json:"calendars,omitempty"`
	// Progress is called after each page with the rows that the file has by then. It may be nil.
	Progress func(file string, rows int) `json:"-"`
}

// Report describes what an export wrote.
type Report struct {
	Rows map[string]int `json:"rows"` // by file
	// Next is the token of the list of changes from which the next export continues.
	Next string `json:"next"`
	// LeftOut lists what a bundle can't hold, from all runs of an export that was interrupted.
	LeftOut []string `json:"left_out,omitempty"`
}

// export is one in progress.
type export struct {
	Options
	ctx    context.Context
	c      *client.Client
	state  *state
	origin string                         // of the keys of what was made by hand
	names  map[string]map[int64]load.Name // of what rows refer to, by list and id
	only   map[string]map[int64]bool      // what is exported of the lists; nil: all

	changed map[int64]bool   // the events that changed since; nil: all
	gone    []client.Record  // what was deleted since
	events  map[int64]string // the keys of those that are exported
	resumed bool             // an earlier run exported some of them, which are not among events
}

// Run exports what the client's user sees, which must be an administrator. An export with the same options that was
// interrupted goes on; a complete one starts over.
func Run(ctx context.Context, c *client.Client, o Options) (Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int) {}
	}
	x := &export{Options: o, ctx: ctx, c: c, origin: o.Origin}
	var err error
	if x.state, err = openState(o); err != nil {
		return Report{}, err
	}
	if err = x.run(); err != nil && x.state.begun {
		err = fmt.Errorf("the export in %s is incomplete; the same command continues it: %w", o.Dir, err)
	}
	if err != nil {
		return Report{}, err
	}
	report := Report{Rows: map[string]int{}, Next: x.state.Next, LeftOut: x.state.leftOut()}
	for name, f := range x.state.Files {
		report.Rows[name] = f.Rows
	}
	return report, nil
}

// run writes the files, those that refer to others first: by then it is known which of the others are exported.
func (x *export) run() error {
	if err := x.begin(); err != nil {
		return err
	}
	stages := []func() error{
		x.exportEvents, x.exportNotes, x.exportMemberships, x.exportAdministrators, x.exportUsers,
		func() error { return x.exportList(load.Categories, bundle.EventCategories, nil) },
	}
	for _, kind := range bundle.Kinds() {
		if entity := kind.EntityType(); entity != "" {
			query := map[string][]string{"entity_type": {entity}}
			stages = append(stages, func() error { return x.exportList(load.Elements, kind, query) })
		}
	}
	for _, stage := range append(stages, x.exportCalendars, x.writeGone) {
		if err := stage(); err != nil {
			return err
		}
	}
	x.state.Whole = true
	return x.state.save()
}

// begin reads what all stages need. If that is refused, an earlier export in the folder stays.
func (x *export) begin() error {
	if x.state.Next == "" {
		_, next, err := x.c.Changes(x.ctx, "")
		if err != nil {
			return err
		}
		x.state.Next = next
	}
	if err := x.readChanges(); err != nil {
		return err
	}
	if x.Element != 0 {
		x.only = map[string]map[int64]bool{load.Elements: {x.Element: true}, load.Users: {}, load.Categories: {}}
	}
	if err := x.readNames(); err != nil || x.state.begun {
		return err
	}
	// An administrator of a school reads names, but no events.
	if _, _, err := x.c.Page(x.ctx, "/api/admin/export/events", "events", url.Values{"limit": {"1"}}, ""); err != nil {
		return err
	}
	return x.state.clear()
}

// readChanges reads which events have changed since the token.
func (x *export) readChanges() error {
	if x.Since == "" {
		return nil
	}
	x.changed = map[int64]bool{}
	for token := x.Since; ; {
		changes, next, err := x.c.Changes(x.ctx, token)
		if err != nil {
			return err
		}
		for _, c := range changes {
			event := c.ID("event_id")
			if c.Text("kind") == "Event" {
				event = c.ID("id")
			}
			if event != 0 {
				x.changed[event] = true
			}
			if c.Text("change") == "deleted" {
				x.gone = append(x.gone, client.Record{"kind": c["kind"], "id": c["id"], "changed_at": c["changed_at"]})
			}
		}
		if next == token {
			return nil
		}
		token = next
	}
}

// writeGone writes what was deleted since the token, which a bundle can't hold.
func (x *export) writeGone() error {
	if x.Since == "" {
		return nil
	}
	return wholefile.WriteJSON(x.state.path("deleted.json"),
		map[string]any{"deleted": append([]client.Record{}, x.gone...)})
}

// walk writes the rows of a list from where the kinds' files end, and saves its place after each page. Complete files
// stay as they are.
func (x *export) walk(list string, query map[string][]string, rows func(client.Record, []*file) error,
	kinds ...bundle.Kind) error {
	open, err := x.state.open(kinds...)
	if err != nil || open == nil {
		return err
	}
	defer func() {
		for _, f := range open {
			_ = f.file.Close() // a failed write was already returned
		}
	}()
	return x.pages(list, query, open[0].After, func(r client.Record) error { return rows(r, open) },
		func(next string) error {
			if next == "" {
				return x.state.finish(open)
			}
			x.Progress(open[0].name, open[0].Rows)
			return x.state.keep(open, next)
		})
}

// pages reads a list below /api/admin/. After each page it calls read with where the next one begins, "" after the
// last one.
func (x *export) pages(list string, query map[string][]string, after string, each func(client.Record) error,
	read func(next string) error) error {
	for {
		records, next, err := x.c.Page(x.ctx, "/api/admin/"+list, path.Base(list), query, after)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := each(r); err != nil {
				return err
			}
		}
		if err := read(next); err != nil || next == "" {
			return err
		}
		after = next
	}
}

// makeDir makes a folder that only its owner can read: it holds personal data.
func makeDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// calendarsDir is the folder of the calendars, each a file named by its element's type and key.
const calendarsDir = "calendars"

// exportCalendars writes the calendars of current people and places, or of the one element.
func (x *export) exportCalendars() error {
	if !x.Calendars {
		return nil
	}
	if err := makeDir(x.state.path(calendarsDir)); err != nil {
		return err
	}
	at := cmp.Or(x.state.Files[calendarsDir], &progress{})
	x.state.Files[calendarsDir] = at
	if at.Whole {
		return nil
	}
	return x.pages(load.Elements, nil, at.After, func(r client.Record) error { return x.exportCalendar(r, at) },
		func(next string) error {
			if at.After, at.Whole = next, next == ""; !at.Whole {
				x.Progress(calendarsDir, at.Rows)
			}
			return x.state.save()
		})
}

func (x *export) exportCalendar(r client.Record, at *progress) error {
	entity, id := r.Text("entity_type"), r.ID("id")
	wanted := r.Text("current") == "true" && (entity == "Staff" || entity == "Pupil" || entity == "Location")
	if x.Element != 0 {
		wanted = id == x.Element
	}
	if !wanted {
		return nil
	}
	text, err := x.c.Calendar(x.ctx, id)
	if failed, ok := errors.AsType[*client.Error](err); ok && failed.Code == http.StatusBadRequest {
		at.leaveOut("the calendar of %s:%s: %s", entity, x.keyOf(r), failed.Message)
		return nil
	}
	if err != nil {
		return err
	}
	at.Rows++
	name := entity + "-" + url.PathEscape(x.keyOf(r)) + ".ics"
	return wholefile.Write(x.state.path(filepath.Join(calendarsDir, name)), text)
}
