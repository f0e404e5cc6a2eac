package export

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
)

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
