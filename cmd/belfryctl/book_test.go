package main

import (
	"fmt"
	"strings"
	"testing"
)

// A booking of named elements, with what is taken left out, with the real services.
func TestBook_MakesAnEventOfWhatIsNamed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	fixture := admin.Import(t, "eventcategories", object{"key": "f", "name": "Fixture", "busy": true})["f"]
	hall := admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"})["1"]
	admin.Import(t, "staff", object{"key": "1", "initials": "AB", "forename": "Anna", "surname": "Bell"})
	var made struct {
		Event struct {
			ID          int64
			Body        string
			StartsAt    string `json:"starts_at"`
			Commitments []struct{ Element struct{ ID int64 } }
		}
	}
	o.reads(t, &made, "book", "Cricket away", "great hall", "anna", "--category", "fixture",
		"--from", "28/11/2026 14:00", "--to", "28/11/2026 18:00")
	if e := made.Event; e.Body != "Cricket away" || !strings.HasPrefix(e.StartsAt, "2026-11-28T14:00") ||
		len(e.Commitments) != 2 || e.Commitments[0].Element.ID != hall {
		t.Errorf("made %+v", e)
	}

	taken := []string{"book", "Chess", "Great Hall", "--category", fmt.Sprint(fixture), "--from", "2026-11-28 15:00",
		"--to", "2026-11-28 16:00"}
	code, out, errs := belfryctl(t, o.env, taken...)
	if code != exitRefused || !strings.Contains(out, "Chess") ||
		!strings.Contains(errs, "Great Hall is already booked") {
		t.Errorf("a hall that is taken: %d\n%s\n%s", code, out, errs)
	}
	o.does(t, append(taken, "--anyway")...)
	if out := o.does(t, "book", "Open day", "--category", "Fixture", "--from", "2026-11-30", "--all-day"); !strings.
		Contains(out, "2026-12-01T00:00") {
		t.Errorf("a whole day:\n%s", out)
	}

	o.fails(t, exitFailure, `no element has "nowhere" in its name`, "book", "X", "nowhere", "--category", "Fixture",
		"--from", "2026-11-30")
	o.fails(t, exitFailure, `no category is called "Party"`, "book", "X", "--category", "Party", "--from", "2026-11-30")
	o.fails(t, exitFailure, "is not a date", "book", "X", "--category", "Fixture", "--from", "soon")
	o.fails(t, exitUsage, "required flag", "book", "X")
	o.fails(t, exitUsage, "requires at least 1 arg", "book")
	if _, out, _ := belfryctl(t, o.env, "__complete", "book", "Chess", "great"); !strings.Contains(out, "Great Hall") {
		t.Errorf("completion:\n%s", out)
	}
}
