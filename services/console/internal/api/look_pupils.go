package api

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// pupilsShown are the pupils that an account stands for, with those that may be added.
type pupilsShown struct {
	At            string // the forms are sent there
	Pupils, Found []api.Element
	Find          string
}

// pupils shows whom an account stands for, and finds who may be added. It is nil for staff, who see all pupils, and for
// visitors who may not change it.
func (v *visit) pupils(user client.Record, at string) (*pupilsShown, error) {
	ids := user.IDs("stands_for")
	if !v.me.Permissions.Admin || user.Text("kind") == "staff" && len(ids) == 0 {
		return nil, nil
	}
	p := &pupilsShown{At: at, Find: strings.TrimSpace(v.c.Query("find"))}
	if len(ids) > 0 {
		named, err := v.timetables(url.Values{
			"elements": {joinIDs(ids)}, "start_date": {v.zone.DayOf(v.now).String()},
		})
		if err != nil {
			return nil, err
		}
		for _, t := range named {
			p.Pupils = append(p.Pupils, t.Element)
		}
	}
	if p.Find == "" {
		return p, nil
	}
	var err error
	p.Found, err = v.elements(p.Find, "Pupil")
	return p, err
}

// pupilsSent adds pupils to those that an account stands for, or takes one from them. What another has changed
// meanwhile is a conflict.
func (h handlers) pupilsSent(v *visit) error {
	chosen, err := readIDs(strings.Join(v.typed["who"], ",") + "," + v.typed.Get("end"))
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "invalid")
	}
	var version string
	user, err := v.api.Get(context.WithValue(v.ctx, seenKey{}, &version), v.record(users.path, ""), "user")
	if err != nil {
		return err
	}
	ids := user.IDs("stands_for")
	if v.typed.Has("end") {
		ids = slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(chosen, id) })
	} else {
		ids = append(ids, chosen...)
	}
	_, err = v.api.Change(context.WithValue(v.ctx, atKey{}, version), v.record(users.path, ""), "user",
		map[string]any{"stands_for": ids})
	return v.done(err, "changed")
}
