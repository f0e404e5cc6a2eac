package api

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// booker is an administrator's browser with a hall, a gym and an event in the hall that no other test has.
type booker struct {
	*browser
	admin     *servicetest.Client
	hall, gym int64
	kind      int64
	event     int64
	name      string // of what is made
}

func newBooker(t *testing.T) *booker {
	t.Helper()
	s := &booker{browser: signedIn(t, shared.Get(t).AdminUUID), admin: shared.Get(t).Admin(t),
		name: uuid.NewString()[:8]}
	s.kind = s.admin.Import(t, "eventcategories", map[string]any{"key": s.name, "name": s.name, "busy": true})[s.name]
	ids := s.admin.Import(t, "locations", map[string]any{"key": "h" + s.name, "name": "Hall " + s.name},
		map[string]any{"key": "g" + s.name, "name": "Gym " + s.name})
	s.hall, s.gym = ids["h"+s.name], ids["g"+s.name]
	s.event = s.book(t, "Chess", s.hall)
	return s
}

func (s *booker) book(t *testing.T, title string, rooms ...int64) int64 {
	t.Helper()
	var made servicetest.Booking
	s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": s.kind,
		"starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 10:00"}, "elements": rooms}).
		Must(t, http.StatusOK).Decode(t, &made)
	return made.Event.ID
}

// rooms are the elements of the event.
func (s *booker) rooms(t *testing.T) string {
	t.Helper()
	var shown struct {
		Event struct {
			Commitments []struct{ Element struct{ ID int64 } }
		}
	}
	s.admin.Get(t, s.at("/api", "")).Must(t, http.StatusOK).Decode(t, &shown)
	var ids []int64
	for _, c := range shown.Event.Commitments {
		ids = append(ids, c.Element.ID)
	}
	return fmt.Sprint(ids)
}

func (s *booker) at(before, after string) string {
	return fmt.Sprintf("%s/events/%d%s", before, s.event, after)
}

var (
	hidden   = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)
	undoForm = regexp.MustCompile(`(?s)<form class="done.*?action="([^"]+)".*?</form>`)
)

// undo presses the button that the page at a path has.
func (b *browser) undo(t *testing.T, path string, want int, texts ...string) {
	t.Helper()
	form := undoForm.FindStringSubmatch(b.open(path, 200))
	valuetest.MustHold(t, form != nil, "%s has nothing to undo", path)
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(form[0], -1) {
		values.Add(field[1], html.UnescapeString(field[2]))
	}
	b.send(form[1], values, want, texts...)
}

func TestPeople_AreAddedSwappedAndTakenAwayWithUndo(t *testing.T) {
	s := newBooker(t)
	hall, gym := fmt.Sprint([]int64{s.hall}), fmt.Sprint([]int64{s.gym})
	s.open(s.at("", "/people?q=gym+"+s.name), 200, "Gym "+s.name, "instead of Hall "+s.name)
	put := func(instead int64, more url.Values) url.Values {
		form := url.Values{"with": {id(s.gym)}, "instead": {id(instead)}, "q": {"gym " + s.name}}
		for name, values := range more {
			form[name] = values
		}
		return form
	}
	at := s.send(s.at("", "/people"), put(s.hall, nil), 200, "Swapped.")
	valuetest.Same(t, s.rooms(t), gym, "swapped, it is in")
	s.undo(t, at, 200)
	valuetest.Same(t, s.rooms(t), hall, "swapped back, it is in")
	at = s.send(s.at("", "/people"), put(0, nil), 200, "Added.")
	s.undo(t, at, 200)
	valuetest.Same(t, s.rooms(t), hall, "with the addition undone, it is in")
	at = s.send(s.at("", "/remove"), url.Values{"what": {"elements/" + id(s.hall)}}, 200, "Removed.")
	valuetest.Same(t, s.rooms(t), "[]", "taken away, it is in")
	s.undo(t, at, 200)
	valuetest.Same(t, s.rooms(t), hall, "with that undone, it is in")

	// Undo of a swap whose thing was taken meanwhile showed a page that said nothing.
	at = s.send(s.at("", "/people"), put(s.hall, nil), 200, "Swapped.")
	s.book(t, "Drama", s.hall)
	s.undo(t, at, 409, "is taken by Drama", `name="anyway"`, fmt.Sprintf(`name="with" value="%d"`, s.hall))
	s.send(s.at("", "/people"), url.Values{"with": {id(s.hall)}, "instead": {id(s.gym)}, "anyway": {"1"}}, 200)

	s.book(t, "Fencing", s.gym)
	for _, instead := range []int64{0, s.hall} {
		s.send(s.at("", "/people"), put(instead, nil), 409, "is taken by Fencing", "checked")
		valuetest.Same(t, s.rooms(t), hall, "after a clash it is in")
	}
	s.send(s.at("", "/people"), put(s.hall, url.Values{"anyway": {"1"}}), 200)
	s.send(s.at("", "/people"), put(s.hall, url.Values{"anyway": {"1"}}), 422, `role="alert"`)
	s.send(s.at("", "/people"), put(0, url.Values{"with": {""}}), 422, "Choose one from the list")
	s.send(s.at("", "/people"), put(0, url.Values{"instead": {"x"}}), 400)
	s.send(s.at("", "/remove"), url.Values{"what": {"rooms/1"}}, 400)
	s.open("/events/999999999/people", 404)
	if page := s.open(s.at("", "?undo=forged"), 200); undoForm.MatchString(page) {
		t.Error("an address that was not sealed here offers to undo")
	}
}

// What was on the event already was said to be added, and Undo took it away.
func TestPeople_WhatIsNotAddedIsNotSaidToBe(t *testing.T) {
	s := newBooker(t)
	s.open(s.at("", ""), 200)
	again := url.Values{"with": {id(s.hall)}, "instead": {"0"}, "q": {"hall " + s.name}}
	at := s.send(s.at("", "/people"), again, 409, "has already been taken", `role="alert"`, "Add or swap")
	valuetest.Same(t, at, s.at("", "/people"), "it shows")
	valuetest.Same(t, s.rooms(t), fmt.Sprint([]int64{s.hall}), "it is in")

	// The same of what another has taken away: its Undo added it again.
	s.admin.Delete(t, s.at("/api", "/elements/"+id(s.hall))).Must(t, http.StatusOK)
	gone := url.Values{"what": {"elements/" + id(s.hall)}}
	valuetest.Same(t, s.send(s.at("", "/remove"), gone, 200), s.at("", ""), "what is gone is taken away")
}

// Of two clicks the second was shown, which could not add what the first had just added, or while the first was still
// under way.
func TestPeople_ClicksAtOnceAddOnceAndSaySo(t *testing.T) {
	s := newBooker(t)
	for _, instead := range []int64{0, s.hall} {
		page := s.open(s.at("", "/people?q=gym+"+s.name), 200)
		form := url.Values{"with": {id(s.gym)}, "instead": {id(instead)}, "key": values(page, "key"),
			"token": {s.token}}
		var clicks sync.WaitGroup
		for range 4 {
			clicks.Go(func() {
				b := *s.browser
				code, at, _ := b.do(http.MethodPost, s.at("", "/people"), form)
				valuetest.Holds(t, code == 200 && strings.Contains(at, "?undo="), "a click is %d, shows %s", code, at)
			})
		}
		clicks.Wait()
		s.admin.Delete(t, s.at("/api", "/elements/"+id(s.gym))).Must(t, http.StatusOK)
	}
}

// A booking left out what could not be added without a word.
func TestBook_SaysThatSomeAreNotAdded(t *testing.T) {
	s := newBooker(t)
	s.open("/book", 200)
	for i, repeat := range []string{"0", "1"} {
		s.send("/book", url.Values{"title": {"Ludo"}, "kind": {id(s.kind)}, "date": {fmt.Sprintf("2031-04-0%d", i+1)},
			"from": {"09:00"}, "to": {"10:00"}, "repeat": {repeat}, "until": {"2031-04-30"}, "do": {"book"},
			"who": {id(s.hall) + ":Hall", "999999999:Ghost"}, "key": {s.name + repeat}}, 200,
			"some of what you chose could not be added", "Hall "+s.name)
	}
}

// Undo brought back a thing that was allocated as one that was not, and undid a decision.
func TestEvent_OffersNoUndoOfWhatItCannotBringBack(t *testing.T) {
	d, b := newDesk(t), signedIn(t, shared.Get(t).AdminUUID)
	one := d.deciders[0]
	event := d.ask("Outing", "2031-03-04 09:00", "2031-03-04 10:00", d.hall, d.pool)
	page := one.open("/inbox", 200)
	one.send("/inbox", url.Values{"do": {"confirmed"}, "pick": values(page, "pick")[:1]}, 200, "✓ Confirmed: Hall")
	page = one.open("/inbox", 200)
	bus := values(page, "thing")[0]
	one.send("/inbox", url.Values{"do": {"allocate"}, "request": values(page, "request"), "thing": {bus}}, 200,
		"✓ Allocated")
	at := fmt.Sprintf("/events/%d", event)
	b.open(at, 200, "1 of 1 chosen")
	for _, form := range []struct {
		to, done string
		form     url.Values
	}{
		{"/remove", "Removed.", url.Values{"what": {"elements/" + bus}}},
		{"/people", "Swapped.", url.Values{"with": {bus}, "instead": {id(d.hall)}}},
	} {
		shown := b.open(b.send(at+form.to, form.form, 200, form.done), 200)
		valuetest.Lacks(t, shown, "Undo", "%s %v can be undone", form.to, form.form)
	}
}

func TestEdit_AChangeIsUndoneAndAnothersIsShown(t *testing.T) {
	s := newBooker(t)
	version := func() string {
		return regexp.MustCompile(`name="version" value="([^"]+)"`).
			FindStringSubmatch(s.open(s.at("", "/edit"), 200))[1]
	}
	form := func(title, from, to, version string) url.Values {
		return url.Values{"title": {title}, "kind": {id(s.kind)}, "date": {"2031-03-04"}, "from": {from}, "to": {to},
			"version": {strings.ReplaceAll(version, "&#34;", `"`)}}
	}
	first := version()
	at := s.send(s.at("", "/edit"), form("Go", "11:00", "12:00", first), 200, "Saved.", "11:00–12:00")
	s.undo(t, at, 200)
	s.open(s.at("", ""), 200, "Chess", "09:00–10:00")
	s.send(s.at("", "/edit"), form("Draughts", "13:00", "14:00", first), 409, "Someone else has changed this",
		"Chess, Tue 4 Mar 2031, 09:00–10:00", `value="Draughts"`, `value="13:00"`)
	s.open(s.at("", ""), 200, "Chess")
	second := version()
	for range 2 { // clicks, the second of which said that someone else had changed it
		s.send(s.at("", "/edit"), form("Draughts", "13:00", "14:00", second), 200, "Saved.", "13:00–14:00")
	}
	s.undo(t, at, 409) // it is not as that change left it
}

// The page of a deletion was 404 for an event with a long title, which was too long to be sealed into its address.
func TestCancel_WhatWasDeletedIsBookedAgain(t *testing.T) {
	s := newBooker(t)
	one := url.Values{"which": {"one"}}
	s.open(s.at("", "/cancel"), 200)
	at := s.send(s.at("", "/cancel"), one, 200, "“Chess” was deleted", "It can be booked again")
	s.undo(t, at, 200, `value="Chess"`, `value="09:00"`, fmt.Sprintf(`value="%d:Hall %s" checked`, s.hall, s.name), "✓ free")

	long := strings.Repeat("<", 255)
	s.event = s.book(t, long, s.hall)
	at = s.send(s.at("", "/cancel"), one, 200, html.EscapeString(long))
	s.undo(t, at, 200, html.EscapeString(long))
	var crowd, few []map[string]any
	for i := range whoAtMost + 1 {
		few = append(few, map[string]any{"key": fmt.Sprint(s.name, "few", i), "name": fmt.Sprint("a", i)})
	}
	for i := range 40 {
		key := fmt.Sprint(s.name, i)
		crowd = append(crowd, map[string]any{"key": key, "name": strings.Repeat("x", 99) + key})
	}
	s.event = s.book(t, "Few", slices.Collect(maps.Values(s.admin.Import(t, "properties", few...)))...)
	if page := s.open(s.send(s.at("", "/cancel"), one, 200), 200); undoForm.MatchString(page) {
		t.Error("the page books again more than a form takes")
	}
	s.event = s.book(t, "Crowd", slices.Collect(maps.Values(s.admin.Import(t, "properties", crowd...)))...)
	at = s.send(s.at("", "/cancel"), one, 200, "“Crowd” was deleted", `href="/?date=2031-03-04"`)
	if page := s.open(at, 200); undoForm.MatchString(page) {
		t.Error("the page books again without the people and rooms that it has no room for")
	}
}

// With the screen off, no field of a form that was refused said that it is wrong, and why.
func TestForms_AFaultIsTiedToItsField(t *testing.T) {
	s := newBooker(t)
	wrong := regexp.MustCompile(`id="([a-z]+)"[^>]* aria-invalid="true" aria-describedby="fault"`)
	fields := func(path string, form url.Values) (all []string) {
		s.open(path, 200)
		form.Set("token", s.token)
		code, _, page := s.do(http.MethodPost, path, form)
		valuetest.Same(t, code, 422, path)
		for _, found := range wrong.FindAllStringSubmatch(page, -1) {
			all = append(all, found[1])
		}
		return all
	}
	form := url.Values{"title": {""}, "date": {"2031-04-01"}, "from": {"10:00"}, "to": {"09:00"}, "do": {"book"}}
	valuetest.List(t, fields("/book", form), []string{"title", "kind", "to", "last"}, "with no title and no kind")
	form = url.Values{"title": {"Ludo"}, "kind": {id(s.kind)}, "date": {"2031-04-01"}, "from": {"x"}, "to": {"11:00"},
		"repeat": {"1"}, "do": {"book"}}
	valuetest.List(t, fields("/book", form), []string{"date", "from"}, "without a start")
	form.Set("from", "10:00")
	valuetest.List(t, fields("/book", form), []string{"until"}, "without an end of the series")
	valuetest.List(t, fields(s.at("", "/edit"), url.Values{"kind": {id(s.kind)}, "date": {"2031-03-04"},
		"from": {"09:00"}, "to": {"10:00"}}), []string{"title"}, "a change without a title")
	valuetest.List(t, fields(fmt.Sprintf("/subscribe/%d", s.hall), url.Values{}), []string{"name"}, "a feed")
	b := visitor(t)
	b.open("/sign-in", 200)
	b.send("/sign-in", url.Values{"uuid": {uuid.NewString()}}, 401, `aria-describedby="uuid-hint" aria-invalid="true"`)
}

// Of two clicks on Delete, or on the Undo of a booking, the second was 404.
func TestCancel_ASecondClickLeadsWhereTheFirstDoes(t *testing.T) {
	s := newBooker(t)
	form := url.Values{"which": {"one"}, "deleted": values(s.open(s.at("", "/cancel"), 200), "deleted")}
	var pages []string
	for range 2 {
		at := s.send(s.at("", "/cancel"), form, 200, "“Chess” was deleted", `value="Chess"`)
		path, _, _ := strings.Cut(at, "?")
		pages = append(pages, path)
		s.undo(t, at, 200, fmt.Sprintf(`value="%d:Hall %s" checked`, s.hall, s.name))
	}
	valuetest.Same(t, pages[1], pages[0], "the second page")
	s.send(s.at("", "/cancel"), url.Values{"which": {"one"}, "deleted": {"undo=forged"}}, 404)

	s.open("/book", 200)
	at := s.send("/book", url.Values{"title": {"Ludo"}, "kind": {id(s.kind)}, "date": {"2031-04-01"}, "from": {"09:00"},
		"to": {"10:00"}, "do": {"book"}, "key": {s.name}}, 200, "This is booked")
	undo := undoForm.FindStringSubmatch(s.open(at, 200))
	for range 2 {
		s.send(undo[1], url.Values{"which": {"one"}, "deleted": values(undo[0], "deleted")}, 200, "“Ludo” was deleted")
	}
}

// What was booked again had the things that a request had been given, and asked for one more.
func TestCancel_WhatWasAllocatedIsNotAskedForAgain(t *testing.T) {
	s := newBooker(t)
	bus := s.admin.Import(t, "services", map[string]any{"key": s.name, "name": "Bus " + s.name})[s.name]
	pool := s.admin.Import(t, "groups", map[string]any{"key": s.name, "name": "Buses " + s.name,
		"resource": true})[s.name]
	s.admin.Import(t, "memberships", map[string]any{"key": "Group:" + s.name + "/Service:" + s.name, "group": s.name,
		"member": "Service:" + s.name, "spans": []any{map[string]any{"first_day": "2020-01-01"}}})
	key := uuid.NewString()
	decider := s.admin.Import(t, "users", map[string]any{"key": key, "name": "Decides", "can_api": true, "uuid": key,
		"email": key + "@school.example"})[key]
	s.admin.Put(t, fmt.Sprintf("/api/admin/elements/%d/administrators/%d", pool, decider), nil).Must(t, http.StatusOK)
	asked, given := fmt.Sprintf(`value="%d:Buses`, pool), fmt.Sprintf(`value="%d:Bus `, bus)
	for _, allocates := range []bool{false, true} {
		s.event = s.book(t, "Trip", s.hall, pool)
		request := s.admin.Get(t, s.at("/api", "")).Must(t, http.StatusOK).Int(t, "event.requests.0.id")
		if allocates {
			shared.Get(t).Login(t, key).Post(t, fmt.Sprintf("/api/requests/%d/allocations", request),
				map[string]any{"elements": []int64{bus}}).Must(t, http.StatusOK)
		}
		s.open(s.at("", "/cancel"), 200)
		at := s.send(s.at("", "/cancel"), url.Values{"which": {"one"}}, 200, "from a pool is booked directly")
		form := html.UnescapeString(undoForm.FindString(s.open(at, 200)))
		if strings.Contains(form, asked) == allocates || strings.Contains(form, given) != allocates {
			t.Errorf("allocated %v: %s", allocates, form)
		}
	}
}

// A form that was sent after the session had ended was asked for twice: by the page that kept what was typed, and, once
// signed in, by one that asked for a form of the new session.
func TestConsole_AFormAfterTheSessionIsSentOnceMore(t *testing.T) {
	s := newBooker(t)
	notes, note := s.at("", "/notes"), url.Values{"contents": {"precious\r\nwords"}, "pupils": {"1"}}
	s.open(s.at("", ""), 200)
	page := s.token
	at, err := url.Parse(s.base)
	errortest.None(t, err)
	ended := s.http.Jar.Cookies(at)
	s.open("/api/logout/oidc", 200)
	s.http.Jar.SetCookies(at, ended)
	s.token = page
	s.send(notes, note, 401, "no longer signed in", "precious")
	kept := s.token

	other := signedInAs(t, map[string]any{"edit_all_events": true})
	s.send("/sign-in", url.Values{"uuid": {shared.Get(t).AdminUUID}}, 200)
	for name, trial := range map[string]struct {
		by   *browser
		path string
		form url.Values
	}{
		"another user":  {other, notes, note},
		"another text":  {s.browser, notes, url.Values{"contents": {"forged"}, "pupils": {"1"}}},
		"another field": {s.browser, notes, url.Values{"contents": {"precious\r\nwords"}, "guests": {"1"}}},
		"another form":  {s.browser, s.at("", "/edit"), note},
	} {
		trial.by.token = kept
		valuetest.Same(t, trial.by.send(trial.path, trial.form, 403, "Please send it again"), trial.path, name)
	}
	s.open(s.at("", ""), 200, "There are no notes")
	s.token = kept
	s.send(notes, note, 200, "precious")
}

func TestSubscribe_AnAddressForEachDevice(t *testing.T) {
	s := newBooker(t)
	page := fmt.Sprintf("/subscribe/%d", s.hall)
	s.open(page, 200, "No device is subscribed yet")
	for i := range 10 {
		s.send(page, url.Values{"name": {fmt.Sprintf("Phone %d <b>", i)}}, 201,
			`<img class="code" src="data:image/png;base64,`, "webcal://", fmt.Sprintf("Phone %d &lt;b&gt;", i))
	}
	s.send(page, url.Values{"name": {"Eleventh"}}, 409, "ten devices", `value="Eleventh"`)
	s.send(page, url.Values{"name": {strings.Repeat("x", 101)}}, 422, `role="alert"`)
	shown := s.open(page, 200, "Phone 9")
	valuetest.Lacks(t, shown, "/ical/", "an address is shown again")
	feed := regexp.MustCompile(`name="feed" value="(\d+)"`).FindStringSubmatch(shown)[1]
	for range 2 { // a second click finds it ended
		s.send(page+"/end", url.Values{"feed": {feed}}, 200)
	}
	s.send(page, url.Values{"name": {"Eleventh"}}, 201)
	s.open("/subscribe/x", 404)
	s.open("/subscribe/999999999", 404)
}

func TestBook_OnTheDaysOfAWeekLetter(t *testing.T) {
	s := newBooker(t)
	s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Week A", "category": s.kind,
		"all_day_field": true, "starts_at_text": "2031-03-10", "ends_at_text": "2031-03-21"}}).Must(t, http.StatusOK)
	s.open("/book", 200)
	s.send("/book", url.Values{"title": {"Orchestra"}, "kind": {id(s.kind)}, "date": {"2031-03-11"}, "from": {"15:00"},
		"to": {"16:00"}, "repeat": {"1"}, "until": {"2031-03-31"}, "only": {id(s.kind)}, "letter": {"Week A"},
		"do": {"check"}, "key": {"k"}}, 200, "<s>Tue 25 Mar 2031</s>", "Tuesday 18 March 2031", "not in the calendar",
		`value="Week A"`)
	s.send("/book", url.Values{"title": {"Choir"}, "kind": {id(s.kind)}, "date": {"2031-03-11"}, "from": {"15:00"},
		"to": {"16:00"}, "repeat": {"1"}, "until": {"2031-03-31"}, "do": {"book"}, "key": {s.name}}, 200,
		"One of the 3 events of a series", "<strong>Tuesday 11 March 2031</strong>", ">Tuesday 25 March 2031</a>")
}

func TestBook_SaysWhatIsMissingOrTaken(t *testing.T) {
	s := newBooker(t)
	form := func(more url.Values) url.Values {
		all := url.Values{"title": {"Rowing"}, "kind": {id(s.kind)}, "date": {"2031-03-04"}, "from": {"09:00"},
			"to": {"10:00"}, "do": {"book"}, "key": {s.name}}
		for name, values := range more {
			all[name] = values
		}
		return all
	}
	s.open("/book", 200, `<option value="">choose one`)
	for _, trial := range []struct {
		more url.Values
		want string
	}{
		{url.Values{"from": {""}, "to": {""}}, `role="alert">Write the day and the start time`},
		{url.Values{"from": {""}, "to": {"11:00"}}, "Write the day and the start time"},
		{url.Values{"to": {""}}, "Write an end time"},
		{url.Values{"to": {"08:00"}}, "Write an end time that is after the start"},
		{url.Values{"allday": {"1"}, "last": {"2031-03-03"}}, "Write an end time that is after the start"},
		{url.Values{"repeat": {"1"}}, "Write the day until which it repeats"},
		{url.Values{"title": {" "}}, "Write a title"},
		{url.Values{"kind": {""}}, "Choose a kind of event"},
	} {
		for _, do := range []string{"book", ""} {
			trial.more.Set("do", do)
			s.send("/book", form(trial.more), 422, trial.want, `value="2031-03-04"`)
		}
	}
	// A time that the clock skips was said to be missing.
	s.send("/book", form(url.Values{"date": {"2031-03-30"}, "from": {"01:15"}, "to": {"01:45"}}), 422,
		`role="alert">The clocks go forward then, so there is no such time. Choose another.</p>`)
	s.send(s.at("", "/edit"), form(url.Values{"to": {""}}), 422, "Write an end time", "Change “Chess”")
	// What was typed, and neither searched for nor chosen, was left out without a word.
	s.send("/book", form(url.Values{"do": {"book"}, "find": {"gym " + s.name}, "anyway": {"1"}}), 422, "Gym "+s.name,
		"Choose one from the list")
	s.send("/book", form(url.Values{"do": {"book"}, "find": {s.name + "x"}, "anyway": {"1"}}), 422, "Nothing found")
	for _, do := range []string{"find", ""} { // Enter searches where a name is typed
		s.send("/book", form(url.Values{"do": {do}, "find": {s.name}}), 200, "Hall "+s.name, "⚠ taken", "✓ free")
	}
	s.open(s.at("", "/people?q="+s.name), 200, "✓ free", "✕ can&#39;t be added")
}

func TestBook_FromTheRoomsBoardHasTheBooker(t *testing.T) {
	s := newBooker(t)
	key := uuid.NewString()
	teacher := s.admin.Import(t, "staff", map[string]any{"key": key, "forename": "Booker",
		"surname": s.name, "initials": "B"})[key]
	b := signedInAs(t, map[string]any{"element": "Staff:" + key, "can_add_events": true})
	for _, who := range []int64{s.hall, teacher} {
		page := b.open("/book?who="+id(who), 200, fmt.Sprintf(`value="%d:`, who))
		valuetest.Same(t, strings.Count(page, fmt.Sprintf(`value="%d:`, teacher)), 1,
			"/book?who=%d has not the booker once: %s", who, page)
	}
}

func TestKeys_AreListed(t *testing.T) {
	s := newBooker(t)
	s.open("/keys", 200, "<kbd>?</kbd>", `aria-keyshortcuts="/"`, `aria-keyshortcuts="b"`)
}

// TestPeople_AsksForTwoMinibuses, by asking for one more of the pool.
func TestPeople_AsksForTwoMinibuses(t *testing.T) {
	d, b := newDesk(t), signedIn(t, shared.Get(t).AdminUUID)
	at := fmt.Sprintf("/events/%d", d.ask("Outing", "2031-03-04 09:00", "2031-03-04 10:00", d.pool))
	link := regexp.MustCompile(`href="(` + at + `/people\?q=[^"]+)">One more`)
	more := link.FindStringSubmatch(b.open(at, 200, "0 of 1 chosen"))
	valuetest.MustHold(t, more != nil, "the event's page does not offer one more")
	b.open(html.UnescapeString(more[1]), 200, fmt.Sprintf(`name="with" value="%d"`, d.pool))
	// Its Undo took away all that was asked for, and what was given of it.
	to := b.send(at+"/people", url.Values{"with": {fmt.Sprint(d.pool)}, "instead": {"0"}}, 200, "0 of 2 chosen")
	valuetest.Same(t, to, at, "one more can be undone")
	b.open(at+"/cancel", 200)
	b.undo(t, b.send(at+"/cancel", url.Values{"which": {"one"}}, 200), 200, fmt.Sprintf(`value="%d:Buses`, d.pool))
}

// The form lacked the kind of an event that its visitor may not choose: without another kind nothing could be saved,
// and where there is one kind, that was saved.
func TestEdit_AKindThatTheVisitorMayNotChooseStays(t *testing.T) {
	s, key := newBooker(t), uuid.NewString()
	s.kind = s.admin.Import(t, "eventcategories", map[string]any{"key": key, "name": "Exams " + s.name,
		"privileged": true})[key]
	s.event = s.book(t, "Chess", s.hall)
	b := signedInAs(t, map[string]any{"edit_all_events": true})
	b.open(s.at("", "/edit"), 200, `<option value="0" selected>unchanged</option>`)
	b.send(s.at("", "/edit"), url.Values{"title": {"Go"}, "kind": {"0"}, "date": {"2031-03-04"}, "from": {"09:00"},
		"to": {"10:00"}}, 200, "Go", "Saved.")
	s.open(s.at("", ""), 200, "Go", "Exams "+s.name)
}

// The form sent the time as it shows it whenever something was changed: an event until midnight was refused, and one of
// the hour that a clock change repeats was moved.
func TestEdit_ATitleMovesNothing(t *testing.T) {
	s := newBooker(t)
	for _, trial := range [][2]string{
		{"2031-03-04T18:00:00.000+00:00", "2031-03-05T00:00:00.000+00:00"},
		{"2026-10-25T01:30:00.000+00:00", "2026-10-25T01:50:00.000+00:00"},
		{"2031-03-04T09:00:30.000+00:00", "2031-03-04T10:00:30.000+00:00"},
	} {
		var made servicetest.Booking
		s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Chess", "category": s.kind,
			"starts_at": trial[0], "ends_at": trial[1]}}).Must(t, http.StatusOK).Decode(t, &made)
		s.event = made.Event.ID
		form := url.Values{"title": {"Go"}, "kind": {id(s.kind)}}
		page := s.open(s.at("", "/edit"), 200)
		for _, name := range []string{"date", "from", "to", "last"} {
			form.Set(name, regexp.MustCompile(` name="` + name + `"[^>]* value="([^"]*)"`).FindStringSubmatch(page)[1])
		}
		s.send(s.at("", "/edit"), form, 200, "Go")
		var shown struct {
			Event struct {
				StartsAt string `json:"starts_at"`
				EndsAt   string `json:"ends_at"`
			}
		}
		s.admin.Get(t, s.at("/api", "")).Must(t, http.StatusOK).Decode(t, &shown)
		if got := shown.Event; got.StartsAt != trial[0] || got.EndsAt != trial[1] {
			t.Errorf("%v is at %v", trial, got)
		}
	}
}

// A series left out what clashed without a word, where one event is refused.
func TestBook_ASeriesSaysWhatItLeavesOut(t *testing.T) {
	s := newBooker(t)
	s.open("/book", 200)
	form := url.Values{"title": {"Choir"}, "kind": {id(s.kind)}, "date": {"2031-02-25"}, "from": {"09:00"},
		"to": {"10:00"}, "repeat": {"1"}, "until": {"2031-03-11"}, "who": {fmt.Sprintf("%d:Hall", s.hall)},
		"do": {"book"}, "key": {s.name}}
	s.send("/book", form, 409, "<s>Tue 4 Mar 2031</s>", "Book these dates")
	_, _, page := s.do(http.MethodPost, "/book", form)
	form.Set("listed", html.UnescapeString(values(page, "listed")[0]))
	form.Set("to", "11:00") // another booking than the one that is listed
	form.Set("token", s.token)
	s.send("/book", form, 409, "<s>Tue 4 Mar 2031</s>")
	form.Set("to", "10:00")
	s.send("/book", form, 200, "This is booked", "One of the 2 events of a series")
}

func TestBook_SaysWhoWillDecide(t *testing.T) {
	d, b := newDesk(t), signedIn(t, shared.Get(t).AdminUUID)
	names := "Decider " + d.word + "u"
	b.open("/book", 200)
	b.send("/book", url.Values{"title": {"Ball"}, "kind": {id(d.kind)}, "date": {"2031-03-04"}, "from": {"19:00"},
		"to": {"20:00"}, "who": {fmt.Sprintf("%d:Hall", d.hall), fmt.Sprintf("%d:Buses", d.pool)}, "do": {"check"}},
		200, "Hall</label> <span class=\"sign\">◌ needs approval by "+names,
		"Buses</label> <span class=\"sign\">◌ needs approval by "+names)
	event := d.ask("Ball", "2031-03-04 19:00", "2031-03-04 20:00", d.hall, d.pool)
	page := b.open("/events/"+id(event), 200)
	if strings.Count(page, "will be decided by "+names) != 2 || strings.Count(page, names) != 4 {
		t.Errorf("the event's page does not say who decides: %s", page)
	}
}

// The holidays are a privileged kind: teachers make none of them, and leave them out.
func TestBook_ATeacherLeavesOutTheHolidays(t *testing.T) {
	s := newBooker(t)
	key := uuid.NewString()
	holidays := s.admin.Import(t, "eventcategories", map[string]any{"key": key, "name": "Holidays " + s.name,
		"schoolwide": true, "privileged": true})[key]
	s.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Half term", "category": holidays,
		"all_day_field": true, "starts_at_text": "2031-03-11"}}).Must(t, http.StatusOK)
	b := signedInAs(t, map[string]any{"can_add_events": true})
	option := fmt.Sprintf(`<option value="%d">Holidays %s</option>`, holidays, s.name)
	page := b.open("/book", 200, option)
	valuetest.Same(t, strings.Count(page, option), 1, "the holidays are offered as a kind too: %s", page)
	b.send("/book", url.Values{"title": {"Choir"}, "kind": {id(s.kind)}, "date": {"2031-03-04"}, "from": {"15:00"},
		"to": {"16:00"}, "repeat": {"1"}, "until": {"2031-03-31"}, "without": {id(holidays)}, "do": {"check"},
		"key": {"k"}}, 200, "<s>Tue 11 Mar 2031</s>", "Tuesday 18 March 2031")
}
