package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// everyDay is a school with two rooms, a teacher and its cover, and the ids that tests need.
func everyDay(t *testing.T) (o office, chess, drama string) {
	t.Helper()
	o = newOffice(t)
	admin := o.system.Admin(t)
	admin.Import(t, "eventcategories", object{"key": "c", "name": "Club", "busy": true},
		object{"key": "d", "name": "Duty"})
	admin.Import(t, "locations", object{"key": "1", "name": "Great Hall"}, object{"key": "2", "name": "Gym"})
	admin.Import(t, "staff", object{"key": "1", "initials": "AB", "forename": "Anna", "surname": "Bell"},
		object{"key": "2", "initials": "CD", "forename": "Cora", "surname": "Dale"})
	chess = o.club(t, "House chess", "2026-12-02 15:00", "2026-12-02 16:00", "Great Hall", "anna")
	return o, chess, o.club(t, "Drama", "2026-12-02 17:00", "2026-12-02 18:30", "Gym")
}

// club books elements for a club, and returns the event's id.
func (o office) club(t *testing.T, title, from, to string, elements ...string) string {
	t.Helper()
	args := append([]string{"book", title, "--category", "Club", "--from", from, "--to", to}, elements...)
	return o.ids(t, args...)[0]
}

// choir makes a weekly series from 12 January 2027 on, and returns the ids of its events.
func (o office) choir(t *testing.T, count int) []string {
	t.Helper()
	return o.ids(t, "series", "make", "Choir", "--category", "Club", "--from", "2027-01-12 16:00", "--to",
		"2027-01-12 17:00", "--rule", fmt.Sprint("FREQ=WEEKLY;COUNT=", count))
}

// wantEvent compares an event's time and elements.
func (o office) wantEvent(t *testing.T, id, starts, ends string, elements ...string) {
	t.Helper()
	e := o.system.Admin(t).Get(t, "/api/events/"+id).Must(t, 200)
	var names []string
	for i := range e.Len(t, "event.commitments") {
		names = append(names, e.Text(t, fmt.Sprintf("event.commitments.%d.element.name", i)))
	}
	valuetest.Same(t, fmt.Sprint(e.Text(t, "event.starts_at")[:16], e.Text(t, "event.ends_at")[:16], names),
		fmt.Sprint(starts, ends, elements), "event %s, want %s %s %q", id, starts, ends, elements)
}

// TestInterface_InOneSchool has what one after another may do in one school.
func TestInterface_InOneSchool(t *testing.T) {
	t.Parallel()
	o, chess, drama := everyDay(t)
	t.Run("a dry run of a booking writes nothing", o.triesABooking)
	t.Run("a note is added and listed", func(t *testing.T) { o.notes(t, chess) })
	t.Run("a feed is made and ended beside another", o.feeds)
	t.Run("who am I", o.whoAmI)
	t.Run("formats keep their promises", func(t *testing.T) { o.formats(t, chess, drama) })
	t.Run("events are named by title and day", func(t *testing.T) { o.namesEvents(t, chess) })
	t.Run("a cancellation lists what stays", o.listsWhatStays)
	t.Run("a cancellation says what it deletes", func(t *testing.T) { o.cancels(t, chess) })
}

func TestInterface_Move_KeepsTheLengthAndRefusesWhatIsTaken(t *testing.T) {
	t.Parallel()
	o, chess, drama := everyDay(t)
	on := []string{"--on", "2026-12-02"}
	move := func(args ...string) []string { return append(append([]string{"move"}, args...), on...) }
	out := o.does(t, move("chess", "2026-12-03 15:30", "--dry-run")...)
	valuetest.Has(t, out, "2026-12-03T15:30:00")
	valuetest.Has(t, out, "2026-12-03T16:30:00")
	valuetest.Has(t, out, "nothing was written")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall", "AB - Anna Bell")
	o.does(t, move("house", "14:30")...)
	o.wantEvent(t, chess, "2026-12-02T14:30", "2026-12-02T15:30", "Great Hall", "AB - Anna Bell")
	o.does(t, move("chess", "14:00", "--until", "16:30")...)
	o.wantEvent(t, chess, "2026-12-02T14:00", "2026-12-02T16:30", "Great Hall", "AB - Anna Bell")
	o.club(t, "Assembly", "2026-12-04 15:00", "2026-12-04 15:10", "Great Hall")
	for _, dry := range []string{"--dry-run", "--dry-run=false"} {
		o.fails(t, exitFailure, "already booked: Great Hall", move(chess, "2026-12-04", dry)...)
	}
	o.wantEvent(t, chess, "2026-12-02T14:00", "2026-12-02T16:30", "Great Hall", "AB - Anna Bell")
	o.does(t, move(chess, "2026-12-04", "--anyway")...)
	o.wantEvent(t, chess, "2026-12-04T14:00", "2026-12-04T16:30", "Great Hall", "AB - Anna Bell")
	duty := o.ids(t, "book", "Hall duty", "Great Hall", "--category", "Duty", "--from", "2026-12-05 15:00", "--to",
		"2026-12-05 16:00")
	o.does(t, move(duty[0], "2026-12-04")...) // a category that is not busy takes nothing up

	days := o.ids(t, "book", "Open days", "--category", "Club", "--from", "2026-12-07", "--to", "2026-12-08",
		"--all-day")[0]
	o.does(t, move(days, "2026-12-09")...)
	o.wantEvent(t, days, "2026-12-09T00:00", "2026-12-11T00:00")
	o.does(t, move(days, "2026-12-09", "--until", "2026-12-09")...)
	o.wantEvent(t, days, "2026-12-09T00:00", "2026-12-10T00:00")
	o.fails(t, exitUsage, `"10:00" is not a day`, move(days, "10:00")...)
	o.fails(t, exitUsage, `"soon" is neither a day`, move(drama, "soon")...)
	o.fails(t, exitUsage, "the end is before the start", move(drama, "17:00", "--until", "16:00")...)
}

func (o office) namesEvents(t *testing.T, chess string) {
	second := o.club(t, "House chess finals", "2026-12-02 19:00", "2026-12-02 20:00")
	// The whole title is meant where an event has it.
	valuetest.Has(t, o.does(t, "cancel", "HOUSE CHÈSS", "--on", "2026-12-02", "--dry-run"), chess+" ")
	o.fails(t, exitFailure, "several events on 2026-12-02 match \"house\": give one of the ids "+chess+
		" (House chess, Wed 2026-12-02 15:00), "+second+" (House chess finals, Wed 2026-12-02 19:00)",
		"cancel", "house", "--on", "2026-12-02")
	o.fails(t, exitFailure, `no event on 2026-12-03 has "house" in its title`, "cancel", "house", "--on", "2026-12-03")
	o.fails(t, exitUsage, `--on: "today" is not a day`, "cancel", "house", "--on", "today")
	o.fails(t, exitFailure, "Couldn't find Event", "cancel", "999999")
	past := o.ids(t, "book", "Harvest", "--category", "Club", "--from", "2020-09-20")
	o.fails(t, exitFailure, "no event from today on has", "cancel", "harvest")
	soon := time.Now().AddDate(0, 0, 3).Format(time.DateOnly)
	next := o.ids(t, "book", "Harvest", "--category", "Club", "--from", soon)
	valuetest.Has(t, o.does(t, "cancel", "harvest"), "event "+next[0]+" (Harvest, ")
	valuetest.Has(t, o.does(t, "cancel", past[0]), "is deleted\n")
}

func (o office) cancels(t *testing.T, chess string) {
	valuetest.Has(t, o.does(t, "cancel", chess, "--dry-run"), "House chess")
	valuetest.Same(t, o.does(t, "cancel", chess), "event "+chess+" (House chess, Wed 2026-12-02 15:00) is deleted\n")
	o.system.Admin(t).Get(t, "/api/events/"+chess).WantCode(t, 404)
	ids := o.choir(t, 5)
	o.fails(t, exitUsage, "[all following]", "cancel", ids[0], "--all", "--following")
	valuetest.List(t, o.ids(t, "cancel", ids[3], "--following", "--dry-run"), ids[3:])
	valuetest.Has(t, o.does(t, "cancel", ids[0]), "is deleted\n")
	valuetest.Has(t, o.does(t, "cancel", ids[3], "--following"), "and one other of its series are deleted\n")
	valuetest.Has(t, o.does(t, "cancel", ids[1], "--all"), "and one other of its series are deleted\n")
	single := o.ids(t, "book", "Alone", "--category", "Club", "--from", "2027-01-12")
	o.fails(t, exitFailure, "does not belong to a series", "cancel", single[0], "--all")
}

// A dry run listed events that the user may not delete among those that would go, and a deletion called them
// "event 5 (, Tue …)".
func (o office) listsWhatStays(t *testing.T) {
	o.does(t, "categories", "add", "--name", "Secret", "--confidential")
	cora := o.newUser(t, "Cora Dale", "cora@school.example", "--grant", "can_api,edit_all_events",
		"--element", "Staff:2")
	ids := o.choir(t, 3)
	o.does(t, "series", "change", ids[2], "--following", "--category", "Secret")
	stays := "event " + ids[2] + " (Busy, Tue 2027-01-26 16:00) was not deleted\n" +
		"belfryctl: you may not delete some events of the series\n"
	for _, c := range []struct {
		args []string
		out  string
	}{
		{[]string{"--dry-run", "-o", "name"}, ids[0] + "\n" + ids[1] + "\n"},
		{nil, "event " + ids[0] + " (Choir, Tue 2027-01-12 16:00) and one other of its series are deleted\n"},
	} {
		code, out, errs := belfryctl(t, cora.env, append([]string{"cancel", ids[0], "--all"}, c.args...)...)
		if code != exitRefused || out != c.out || errs != stays {
			t.Errorf("%q: %d %q %q, want %q %q", c.args, code, out, errs, c.out, stays)
		}
	}
	o.does(t, "cancel", ids[2])
}

func TestInterface_Swap_ReplacesAndExchanges(t *testing.T) {
	t.Parallel()
	o, chess, drama := everyDay(t)
	o.fails(t, exitFailure, `several elements of event `+chess, "swap", chess, "a", "cora")
	dry := o.does(t, "swap", chess, "anna", "cora", "--dry-run")
	valuetest.Has(t, dry, "Great Hall, CD - Cora Dale\n")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall", "AB - Anna Bell")
	valuetest.Has(t, o.does(t, "swap", chess, "anna", "cora"), "Great Hall, CD - Cora Dale\n")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall", "CD - Cora Dale")

	band := o.club(t, "Band", "2026-12-02 15:00", "2026-12-02 16:00", "Gym")
	o.fails(t, exitFailure, "already booked: Gym", "swap", chess, "hall", "gym")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall", "CD - Cora Dale")
	o.does(t, "swap", "house chess", "hall", "band", "gym", "--on", "2026-12-02", "--other-on", "2026-12-02")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "CD - Cora Dale", "Gym")
	o.wantEvent(t, band, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall")
	o.does(t, "swap", band, "hall", "Gym", "--anyway")
	o.wantEvent(t, band, "2026-12-02T15:00", "2026-12-02T16:00", "Gym")

	o.system.Admin(t).Import(t, "groups", object{"key": "b", "name": "Minibuses", "resource": true})
	valuetest.Has(t, o.does(t, "swap", chess, "gym", "minibuses"), "CD - Cora Dale, 1 of Minibuses\n")
	valuetest.Has(t, o.does(t, "swap", chess, "cora", "gym", "--anyway", "-o", "json"), `"name": "Gym"`)
	o.fails(t, exitFailure, `has no element "hall"; it has Gym`, "swap", drama, "hall", "Great Hall")
	o.fails(t, exitFailure, `no element has "nowhere" in its name`, "swap", drama, "gym", "nowhere")
	o.fails(t, exitUsage, "the two events are the same", "swap", chess, "gym", chess, "gym")
}

// TestInterface_Swap_ANameIsOfOneElement: a room called 3 was taken for the element with the id 3, and the first of two
// of the same name for both.
func TestInterface_Swap_ANameIsOfOneElement(t *testing.T) {
	t.Parallel()
	o, _, _ := everyDay(t)
	id := fmt.Sprint(o.element(t, "Staff:1"))
	o.system.Admin(t).Import(t, "locations", object{"key": "3", "name": id}, object{"key": "4", "name": "9999"},
		object{"key": "5", "name": "Lab"}, object{"key": "6", "name": "Lab"}, object{"key": "7", "name": "Lab 2"})
	quiz := o.ids(t, "book", "Quiz", "Location:3", "Location:4", "Location:5", "Location:6", "Location:7", "anna",
		"--category", "Club", "--from", "2026-12-09")[0]
	valuetest.Has(t, o.does(t, "swap", quiz, id, "cora", "--dry-run"), id+", 9999, Lab, Lab, Lab 2, CD - Cora Dale\n")
	valuetest.Has(t, o.does(t, "swap", quiz, "9999", "cora", "--dry-run"), id+", Lab, Lab, Lab 2, AB - Anna Bell, CD")
	o.fails(t, exitFailure, "several elements of event "+quiz, "swap", quiz, "lab", "cora")
	valuetest.Has(t, o.does(t, "swap", quiz, "lab 2", "cora", "--dry-run"), id+", 9999, Lab, Lab, AB - Anna Bell, CD")
}

// TestInterface_Swap_IsOfBothEventsOrOfNone: a user who may not change the other event changes neither.
func TestInterface_Swap_IsOfBothEventsOrOfNone(t *testing.T) {
	t.Parallel()
	o, chess, _ := everyDay(t)
	cora := o.newUser(t, "Cora Dale", "cora@school.example", "--grant", "can_api,can_add_events",
		"--element", "Staff:2")
	band := cora.club(t, "Band", "2026-12-02 15:00", "2026-12-02 16:00", "Gym")
	cora.fails(t, exitFailure, "403", "swap", band, "gym", chess, "hall")
	o.wantEvent(t, band, "2026-12-02T15:00", "2026-12-02T16:00", "Gym")
	o.wantEvent(t, chess, "2026-12-02T15:00", "2026-12-02T16:00", "Great Hall", "AB - Anna Bell")

	// The other event has what it would get.
	o.does(t, "swap", band, "gym", "cora")
	both := o.club(t, "Quiz", "2026-12-03 15:00", "2026-12-03 16:00", "Gym", "Cora Dale")
	o.fails(t, exitFailure, "has already been taken", "swap", band, "cora", both, "gym", "--anyway")
	o.wantEvent(t, band, "2026-12-02T15:00", "2026-12-02T16:00", "CD - Cora Dale")
	o.wantEvent(t, both, "2026-12-03T15:00", "2026-12-03T16:00", "Gym", "CD - Cora Dale")

	// With --anyway, an exchange that was refused was undone by a new request for the hall.
	o.does(t, "administrators", "add", "Location:1", "1")
	choir := cora.club(t, "Choir", "2026-12-04 15:00", "2026-12-04 16:00", "Great Hall")
	o.does(t, "commitments", "decide", "confirmed", "--filter", "element=Great Hall", "--really")
	cora.fails(t, exitFailure, "403", "swap", choir, "hall", chess, "anna", "--anyway")
	valuetest.Has(t, o.does(t, "day", "Great Hall", "2026-12-04"), "Choir  confirmed")
}

// TestInterface_Swap_OfNeitherEventIsLeftAlone: an exchange whose second answer was lost was undone in one event, and
// after an interrupt the first event stayed changed.
func TestInterface_Swap_OfNeitherEventIsLeftAlone(t *testing.T) {
	t.Parallel()
	o, inHall, inGym := everyDay(t)
	for name, c := range map[string]struct {
		write              int // which of the two has no answer
		stored, interrupts bool
	}{
		"the first answer is lost":       {1, true, false},
		"the first is not stored":        {1, false, false},
		"the second answer is lost":      {2, true, false},
		"the second is not stored":       {2, false, false},
		"the second, with an interrupt":  {2, true, true},
		"neither, because of interrupts": {2, false, true},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		writes := 0
		env := o.behind(t, func(w http.ResponseWriter, r *http.Request, system http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/replace") && r.URL.Query().Get("dry_run") == "" {
				if writes++; writes == c.write {
					if c.interrupts {
						interrupt()
					}
					if c.stored {
						system.ServeHTTP(httptest.NewRecorder(), r)
					}
					w.WriteHeader(http.StatusBadGateway)
					return
				}
			}
			system.ServeHTTP(w, r)
		})
		code, out, errs := belfryctlUntil(ctx, env, "swap", inHall, "hall", inGym, "gym")
		want := exitFailure
		if c.stored {
			inHall, inGym, want = inGym, inHall, exitOK
		}
		var are []string
		for _, room := range []string{"Great Hall", "Gym"} {
			are = append(are, strings.Join(o.ids(t, "find", "--element", room, "--from", "2026-12-02"), " "))
		}
		if code != want || (code != exitOK) != strings.Contains(errs, "502") ||
			!slices.Equal(are, []string{inHall, inGym}) {
			t.Errorf("%s: %d, the rooms have %q, want %q: %s%s", name, code, are, []string{inHall, inGym}, out, errs)
		}
	}
}

// behind is the environment of an office whose requests go through a proxy. It answers them itself, or has the system
// answer them.
func (o office) behind(
	t *testing.T, answers func(w http.ResponseWriter, r *http.Request, system http.Handler),
) map[string]string {
	t.Helper()
	address, err := url.Parse(o.system.URL)
	errortest.None(t, err)
	system := httputil.NewSingleHostReverseProxy(address)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers(w, r, system)
	}))
	t.Cleanup(proxy.Close)
	return o.with("BELFRY_URL", proxy.URL).env
}

func (o office) triesABooking(t *testing.T) {
	quiz := []string{"book", "Quiz", "Great Hall", "Gym", "--category", "Club", "--from", "2026-12-02 15:30",
		"--to", "2026-12-02 16:30"}
	code, out, errs := belfryctl(t, o.env, append(quiz, "--dry-run")...)
	if code != exitRefused || !strings.Contains(out, "Quiz") || !strings.Contains(out, "nothing was written") ||
		errs != "Great Hall is already booked\nbelfryctl: some elements are left out of the event\n" {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
	valuetest.Has(t, o.does(t, append(quiz, "--dry-run", "--anyway")...), "nothing was written")
	var read struct {
		DryRun bool `json:"dry_run"`
		Event  struct{ Body string }
	}
	o.reads(t, &read, append(quiz, "--dry-run", "--anyway")...)
	valuetest.Holds(t, read.DryRun && read.Event.Body == "Quiz", "%+v", read)
	o.fails(t, exitFailure, "is not a date", "book", "Quiz", "--category", "Club", "--from", "soon", "--dry-run")
	valuetest.Same(t, o.does(t, "find", "quiz", "-o", "name"), "", "written")
}

func (o office) notes(t *testing.T, chess string) {
	valuetest.Has(t, o.does(t, "note", chess, "Bring *boards*.", "--pupils", "--dry-run"), "visible_pupil  true\n")
	valuetest.Same(t, o.does(t, "note", chess, "-o", "name"), "", "written")
	o.does(t, "note", "house chess", "Bring *boards*.", "--pupils", "--on", "2026-12-02")
	if lines := cells(o.does(t, "note", chess)); len(lines) != 2 || lines[1][3] != "staff,pupils" {
		t.Errorf("%q", lines)
	}
	o.fails(t, exitFailure, "contents is too long", "note", chess, strings.Repeat("x", 70_000))
}

func (o office) feeds(t *testing.T) {
	valuetest.Has(t, o.does(t, "feed", "add", "hall", "--dry-run"), "a feed of Great Hall would be created")
	valuetest.Len(t, cells(o.does(t, "feed", "list", "hall")), 1)
	read := func(address string) int {
		path := strings.TrimPrefix(strings.TrimSpace(address), o.system.URL)
		return o.system.Admin(t).Get(t, path).Code
	}
	address := o.does(t, "feed", "add", "hall")
	valuetest.Same(t, read(address), 200, address)
	another := o.does(t, "feed", "add", "hall", "--called", "Tablet")
	feeds := cells(o.does(t, "feed", "list", "hall"))
	valuetest.MustHold(t, len(feeds) == 3 && feeds[1][1] == "Calendar" && feeds[2][1] == "Tablet", "%q", feeds)
	o.fails(t, exitFailure, "several feeds of Great Hall", "feed", "end", "hall")
	valuetest.Has(t, o.does(t, "feed", "end", "hall", feeds[2][0]), "has ended")
	if first, second := read(address), read(another); first != 200 || second != 404 {
		t.Errorf("%d, %d", first, second)
	}
	valuetest.Has(t, o.does(t, "feed", "end", "hall", "--dry-run"), "would end")
	valuetest.Has(t, o.does(t, "feed", "end", "hall"), "has ended")
	valuetest.Same(t, read(address), 404, "an ended feed")
	o.fails(t, exitFailure, "you have no feed of Great Hall", "feed", "end", "hall")
}

func (o office) whoAmI(t *testing.T) {
	anna := o.newUser(t, "Anna Bell", "anna@school.example", "--element", "Staff:1", "--grant", "can_api,can_add_notes")
	out := anna.does(t, "whoami")
	for _, want := range []string{"Anna Bell\n", "AB - Anna Bell\n", "can_api,can_add_notes\n", "staff\n"} {
		valuetest.Has(t, out, want)
	}
	valuetest.Has(t, anna.does(t, "whoami", "-o", "yaml"), "email: anna@school.example\n")
}

// TestInterface_ARefusedConnectionEndsTheCommand: it does not try for a minute.
func TestInterface_ARefusedConnectionEndsTheCommand(t *testing.T) {
	t.Parallel()
	o := office{env: map[string]string{"BELFRY_URL": "http://127.0.0.1:1", "BELFRY_UUID": uuid.NewString()}}
	began := time.Now()
	o.fails(t, exitFailure, "logging in: no server answers at http://127.0.0.1:1 (--url or BELFRY_URL): ", "whoami")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("after %v", took)
	}
}
