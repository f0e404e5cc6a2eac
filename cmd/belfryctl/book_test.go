package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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

// A series is tried, made, shown, and deleted in two steps, with the real services.
func TestSeries_MakesShowsAndDeletes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	admin := o.system.Admin(t)
	admin.Import(t, "eventcategories", object{"key": "c", "name": "Club", "busy": true},
		object{"key": "h", "name": "Holiday"}, object{"key": "e", "name": "Exam"})
	admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"})
	o.does(t, "book", "Half term", "--category", "Holiday", "--from", "2027-01-26", "--all-day")
	o.does(t, "book", "Inset", "--category", "Holiday", "--from", "2027-02-02", "--all-day")
	o.does(t, "book", "Mock", "--category", "Exam", "--from", "2027-02-16", "--all-day")
	choir := []string{"series", "make", "Choir", "great hall", "--category", "Club", "--from", "2027-01-12 16:00",
		"--to", "2027-01-12 17:00", "--rule", "FREQ=WEEKLY;COUNT=6", "--except", "2027-01-19",
		"--not-during", "holiday=Half term", "--not-during", "Exam"}
	out := o.does(t, append(choir, "--dry-run")...)
	for _, line := range []string{
		"-   Tue 2027-01-12 16:00  17:00\n", "-   Tue 2027-02-02 16:00  17:00\n", "-   Tue 2027-02-09 16:00  17:00\n",
		"Left out:\n", "2027-01-19  except      -\n", "2027-01-26  not_during  ", "2027-02-16  not_during  ",
	} {
		valuetest.Has(t, out, line, "a trial")
	}
	var made struct {
		Series struct {
			ID     int64
			Events []struct{ ID int64 }
		}
	}
	o.reads(t, &made, choir...)
	valuetest.MustHold(t, made.Series.ID != 0 && len(made.Series.Events) == 3, "made %+v", made)
	series, second := fmt.Sprint(made.Series.ID), fmt.Sprint(made.Series.Events[1].ID)
	o.fails(t, exitFailure, "Great Hall", choir...) // it is taken by now
	shows := func(events int) {
		t.Helper()
		out := o.does(t, "series", "show", series)
		head := "Series " + series + ": FREQ=WEEKLY;COUNT=6\n"
		if !strings.HasPrefix(out, head) || strings.Count(out, "Choir")+strings.Count(out, "Band") != events {
			t.Errorf("want %d events:\n%s", events, out)
		}
	}
	shows(3)
	o.does(t, "series", "change", fmt.Sprint(made.Series.Events[2].ID), "--following",
		"--from", "2027-02-09 17:00", "--to", "2027-02-09 18:00")
	move := []string{"series", "change", second, "--title", "Band",
		"--from", "2027-02-02 16:30", "--to", "2027-02-02 17:30"}
	if out := o.does(t, append(move, "--dry-run")...); strings.Count(out, "16:30  17:30\n") != 2 ||
		!strings.Contains(out, "2027-02-09 17:30  18:30\n") {
		t.Errorf("a trial of a change:\n%s", out)
	}
	o.does(t, move...)
	o.reads(t, &struct{}{}, append(move, "--overwrite")...)
	if out := o.does(t, "series", "show", series); strings.Count(out, "Band") != 3 ||
		!strings.Contains(out, "17:30  18:30") {
		t.Errorf("changed:\n%s", out)
	}
	o.fails(t, exitFailure, "can't be blank", "series", "change", second, "--title", " ")
	o.does(t, "cancel", second, "--following")
	shows(1)
	o.does(t, "cancel", fmt.Sprint(made.Series.Events[0].ID), "--all")
	shows(0)
	o.fails(t, exitFailure, "repeat.rule", append(choir, "--rule", "FREQ=SECONDLY;COUNT=5")...)
	o.fails(t, exitFailure, `no category is called "Feast"`, append(choir, "--during", "Feast")...)
	o.fails(t, exitUsage, `"choir" is not an id of a series`, "series", "show", "choir")
	o.fails(t, exitFailure, "404", "series", "show", "999999999")
}
