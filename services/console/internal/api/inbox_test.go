package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// desk is a hall and a pool of two minibuses, which two people decide on.
type desk struct {
	t          *testing.T
	admin      *servicetest.Client
	kind, hall int64
	pool       int64
	word       string
	deciders   [2]*browser
}

func newDesk(t *testing.T) desk {
	s := shared.Get(t)
	d := desk{t: t, admin: s.Admin(t), word: uuid.NewString()[:8]}
	key := func(name string) string { return d.word + name }
	d.kind = d.admin.Import(t, "eventcategories", map[string]any{"key": d.word, "name": d.word, "busy": true})[d.word]
	d.hall = d.admin.Import(t, "locations", map[string]any{"key": key("h"), "name": "Hall " + d.word})[key("h")]
	d.admin.Import(t, "services", map[string]any{"key": key("1"), "name": "Bus 1 " + d.word},
		map[string]any{"key": key("2"), "name": "Bus 2 " + d.word})
	d.pool = d.admin.Import(t, "groups", map[string]any{"key": key("p"), "name": "Buses " + d.word,
		"resource": true})[key("p")]
	var rows []map[string]any
	for _, bus := range []string{key("1"), key("2")} {
		rows = append(rows, map[string]any{"key": "Group:" + key("p") + "/Service:" + bus, "group": key("p"),
			"member": "Service:" + bus, "spans": []any{map[string]any{"first_day": "2020-01-01"}}})
	}
	d.admin.Import(t, "memberships", rows...)
	rows = nil
	for i := range d.deciders {
		user := key(fmt.Sprint("u", i))
		for _, element := range []string{"Location:" + key("h"), "Group:" + key("p")} {
			rows = append(rows, map[string]any{"key": element + "/" + user, "element": element, "user": user})
		}
		d.deciders[i] = signedInAs(t,
			map[string]any{"key": user, "name": "Decider " + user, "can_add_events": true})
	}
	d.admin.Import(t, "administrators", rows...)
	return d
}

// ask books, and returns the event.
func (d desk) ask(title, starts, ends string, elements ...int64) int64 {
	d.t.Helper()
	var made servicetest.Booking
	d.admin.Post(d.t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": d.kind,
		"starts_at_text": starts, "ends_at_text": ends}, "elements": elements, "clashes": "allow"}).
		Must(d.t, http.StatusOK).Decode(d.t, &made)
	return made.Event.ID
}

// idle is the desk with events that keep nothing busy.
func (d desk) idle() desk {
	key := "idle" + d.word
	d.kind = d.admin.Import(d.t, "eventcategories", map[string]any{"key": key, "name": key})[key]
	return d
}

// values are those of the hidden fields and boxes of a name in a page.
func values(page, name string) (all []string) {
	for _, found := range regexp.MustCompile(`name="`+name+`" value="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		all = append(all, found[1])
	}
	return all
}

func TestInbox_ConfirmsRejectsAndUndoes(t *testing.T) {
	d := newDesk(t)
	one, other := d.deciders[0], d.deciders[1]
	one.open("/inbox", 200, "Nothing waits for your decision")
	d.ask("Choir", "2031-03-04 09:00", "2031-03-04 10:00", d.hall)
	d.ask("Drama <b>", "2031-03-04 09:30", "2031-03-04 10:30", d.hall)
	page := one.open("/inbox", 200, "(2) Inbox", "⚠ taken then", "Drama &lt;b&gt;", "09:30–10:30", "Hall "+d.word)
	picks := values(page, "pick")
	if len(picks) != 3 || picks[0] != picks[2] || strings.Index(page, "Choir") > strings.Index(page, "Drama") {
		t.Fatalf("the page has %q", picks)
	}
	other.open("/inbox", 200)
	one.send("/inbox", url.Values{"do": {"rejected"}, "pick": {picks[1]}}, 422, "Write a reason",
		`hint" aria-invalid="true"`, fmt.Sprintf(`value="%s" checked`, picks[1]))
	one.send("/inbox", url.Values{"do": {"confirmed"}}, 422, "Choose something first")
	one.send("/inbox", url.Values{"do": {"rejected"}, "pick": {picks[1]}, "reason": {"The hall is painted."}}, 200,
		"✕ Rejected", "Undo", "(1) Inbox", `<option value="The hall is painted.">`, "Decided lately")
	// The second is told what the first did, and nothing is changed.
	other.send("/inbox", url.Values{"do": {"confirmed"}, "pick": picks[:2], "reason": {""}}, 200,
		"✓ Confirmed: Hall", "has been decided meanwhile", "✕ rejected",
		"by Decider "+d.word+"u0", "The hall is painted.",
		"Nothing waits", "Decided lately", "Decide again")
	undo := strings.Replace(picks[1], "requested", "rejected", 1)
	one.send("/inbox", url.Values{"do": {"requested"}, "pick": {undo}, "was": {"noted"}}, 200,
		"Waiting again", "◐ seen")
	one.send("/inbox", url.Values{"do": {"requested"}, "pick": {undo}}, 200, "has been decided meanwhile", "◐ seen")
	for _, bad := range []url.Values{
		{"do": {"explode"}}, {"do": {"confirmed"}, "pick": {"1"}}, {"do": {"confirmed"}, "pick": {"1-x-requested"}},
		{"do": {"allocate"}, "request": {"x"}}, {"do": {"take-back"}, "thing": {"-1"}},
	} {
		one.send("/inbox", bad, 400)
	}
	one.send("/inbox", url.Values{"do": {"confirmed"}, "pick": {"999999999-999999999-requested"}}, 200,
		"no longer requested")
	stranger := signedIn(t, shared.Get(t).AdminUUID)
	stranger.open("/inbox", 200, "Nothing waits")
	stranger.send("/inbox", url.Values{"do": {"confirmed"},
		"pick": {strings.Replace(picks[1], "requested", "noted", 1)}}, 403)
}

// Decisions made before an error were not reported.
func TestInbox_SaysWhatWasDecidedBeforeAnError(t *testing.T) {
	d, another := newDesk(t), newDesk(t)
	d.ask("Choir", "2031-03-04 09:00", "2031-03-04 10:00", d.hall)
	another.ask("Drama", "2031-03-04 09:00", "2031-03-04 10:00", another.hall)
	picks := []string{values(d.deciders[0].open("/inbox", 200), "pick")[0],
		values(another.deciders[0].open("/inbox", 200), "pick")[0]}
	d.deciders[0].send("/inbox", url.Values{"do": {"confirmed"}, "pick": picks}, 200, "✓ Confirmed: Hall",
		"before the rest was decided")
}

func TestInbox_GoesOnAfterTwentyAndLeavesOutWhatIsOver(t *testing.T) {
	d := newDesk(t)
	for name, thing := range map[string]int64{"Hall ": d.hall, "Buses ": d.pool} {
		d.ask("Over", "2020-03-04 09:00", "2020-03-04 10:00", thing)
		for i := range waitingAtMost + 1 {
			day := fmt.Sprintf("2031-03-%02d", i+1)
			d.ask(fmt.Sprintf("Day %d of %s", i+1, name), day+" 09:00", day+" 10:00", thing)
		}
	}
	find := func(page, link string) string {
		found := regexp.MustCompile(`href="(/inbox\?[^"]*)">` + link).FindStringSubmatch(page)
		valuetest.MustHold(t, found != nil, "no link to %s in %s", link, page)
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	first := d.deciders[0].open("/inbox", 200, "(40&#43;) Inbox", "Day 1 of Hall", "Day 20 of Buses")
	if strings.Contains(first, "Day 21") || strings.Contains(first, "Over") {
		t.Error("the first page shows more than is near")
	}
	page := d.deciders[0].open(find(first, "Show later ones"), 200, "Day 21 of Hall", "Day 21 of Buses",
		"Show the first")
	if strings.Contains(page, "Day 20") || strings.Contains(page, "Show later") {
		t.Error("the last page is not what is left")
	}
	of := "<strong>Buses " + d.word
	if shown := find(page, of); !strings.HasSuffix(shown, "#open") {
		t.Errorf("%s does not lead to what is open", shown)
	} else {
		d.deciders[0].open(shown, 200, "Buses "+d.word+": Day 21")
	}
	over := d.word + "</strong> Over"
	d.deciders[0].open(find(first, "Show past ones"), 200, "Buses "+over, "Hall "+over)
}

func TestInbox_ShowsWhatGoesOn(t *testing.T) {
	d := newDesk(t)
	day := func(n int) string { return time.Now().AddDate(0, 0, n).Format(time.DateOnly) }
	d.ask("Over", day(-5), day(-3), d.hall)
	d.ask("Exhibition", day(-3), day(3), d.hall)
	valuetest.Lacks(t, d.deciders[0].open("/inbox", 200, "(1) Inbox", "Exhibition"), "Over", "what is over is shown")
}

func TestInbox_MarksClashesOfTheWholePage(t *testing.T) {
	d := newDesk(t)
	for _, day := range []string{"2031-03-04", "2031-11-04"} {
		d.ask("Choir", day+" 09:00", day+" 10:00", d.hall)
		d.ask("Drama", day+" 09:30", day+" 10:30", d.hall)
	}
	d.idle().ask("Exhibition", "2031-03-01 00:00", "2031-12-01 00:00", d.hall)
	page := d.deciders[0].open("/inbox", 200)
	valuetest.Same(t, strings.Count(page, `<span class="sign">⚠ taken then</span>`), 4,
		"marked of 5, want the four that keep the hall busy")
}

func TestInbox_GivesFreeThingsOfAPool(t *testing.T) {
	d := newDesk(t)
	one := d.deciders[0]
	give := func(page string) url.Values {
		return url.Values{"do": {"allocate"}, "request": values(page, "request"), "thing": values(page, "thing")[:1]}
	}
	d.ask("Cricket", "2031-03-04 14:00", "2031-03-04 16:00", d.pool)
	page := one.open("/inbox", 200, "0 of 1 allocated", "✓ free", "Bus 1", "Bus 2")
	valuetest.Same(t, strings.Count(page, " checked>"), 1, "as many free ones as are asked for are not chosen")
	valuetest.Lacks(t, page, "For all that are chosen", "a form offers to decide on what can't be chosen")
	one.send("/inbox", give(page), 200, "✓ Allocated: Bus 1", "Undo", "Nothing waits")
	d.ask("Rowing", "2031-03-04 15:00", "2031-03-04 17:00", d.pool)
	later := one.open("/inbox", 200, "⚠ Cricket (Tue 4 Mar 2031, 14:00–16:00)")
	valuetest.Holds(t, values(page, "thing")[0] != values(later, "thing")[0], "what is taken comes before what is free")
	taken := give(later)
	taken["thing"] = values(page, "thing")[:1]
	answer := one.send("/inbox", taken, 200, "⚠ Not allocated: Bus 1")
	valuetest.Same(t, answer, "/inbox", "it shows")
	code, _, said := one.do(http.MethodPost, "/inbox", with(give(later), "token", one.token))
	valuetest.MustHold(t, code == 200 && strings.Contains(said, "✓ Allocated: Bus 2"), "%d %s", code, said)
	for range 2 { // of two clicks
		one.send("/inbox", url.Values{"do": {"take-back"}, "thing": values(said, "thing")}, 200, "was undone",
			"0 of 1 allocated")
	}
}

// Pages failed for those who decide on what they do not see otherwise.
func TestInbox_IsForDecidersWhoSeeNothingElse(t *testing.T) {
	d := newDesk(t)
	key := d.word + "pupil"
	calendar := d.admin.Import(t, "properties", map[string]any{"key": key, "name": "Debates " + d.word})[key]
	pupil := signedInAs(t, map[string]any{"key": key, "kind": "pupil", "can_add_events": true})
	var rows []map[string]any
	for _, element := range []string{"Property:" + key, "Group:" + d.word + "p", "Location:" + d.word + "h"} {
		rows = append(rows, map[string]any{"key": element + "/" + key, "element": element, "user": key})
	}
	d.admin.Import(t, "administrators", rows...)
	var made struct {
		Series struct{ Events []struct{ ID int64 } }
	}
	d.admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": "Debate", "category": d.kind,
		"starts_at_text": "2031-03-04 09:00", "ends_at_text": "2031-03-04 10:00"}, "elements": []int64{calendar},
		"repeat": map[string]any{"rule": "FREQ=WEEKLY;UNTIL=20310311"}}).Must(t, http.StatusOK).Decode(t, &made)
	pupil.open("/inbox", 200, "Debates "+d.word+": Debate")
	pupil.open(fmt.Sprintf("/events/%d", made.Series.Events[0].ID), 200, "Debates "+d.word)
	d.ask("Choir", "2031-03-04 09:00", "2031-03-04 10:00", d.hall) // which the visitor decides on and sees
	pupil.open("/book", 200)
	pupil.send("/book", url.Values{"title": {"Drama"}, "kind": {id(d.kind)}, "date": {"2031-03-04"}, "from": {"09:30"},
		"to": {"10:30"}, "do": {"book"}, "who": {id(d.hall) + ":Hall"}, "anyway": {"1"}, "key": {key}}, 200)
	pupil.open("/inbox", 200, "Debates "+d.word, "⚠ taken then")
	d.ask("Outing", "2031-03-03 09:00", "2031-03-03 10:00", d.pool)
	page := pupil.open("/inbox", 200, "Buses "+d.word+": Outing", "can&#39;t be shown here")
	valuetest.Lacks(t, page, "There is nothing in this pool", "an unseen pool is said to be empty")
}

// The day of a thing had the all-day booking of the day before, once an earlier row of the list made the range wider.
func TestInbox_ADayEndsAtMidnight(t *testing.T) {
	v := &visit{handlers: handlers{zone: timetest.Zone(t, "Europe/London")}}
	on := func(starts, ends string) api.ListedCommitment {
		return api.ListedCommitment{Event: api.EventSummary{StartsAt: starts, EndsAt: ends}}
	}
	day := v.beside(&waits{Day: timetest.Day(t, "2031-07-04")}, []api.ListedCommitment{
		on("2031-07-03T00:00:00.000+01:00", "2031-07-04T00:00:00.000+01:00"),
		on("2031-07-04T00:00:00.000+01:00", "2031-07-04T00:00:00.000+01:00"), // of zero length
		on("2031-07-04T23:00:00.000+01:00", "2031-07-05T01:00:00.000+01:00"),
		on("2031-07-05T00:00:00.000+01:00", "2031-07-06T00:00:00.000+01:00"),
	})
	valuetest.Same(t, len(day), 2, "bookings of the day")
}

// An item that joins or leaves the pool during the event was offered as free, and one at an event that keeps nothing
// busy as taken.
func TestInbox_OffersWhatCanBeAllocatedForAllOfTheEvent(t *testing.T) {
	d := newDesk(t)
	key := d.word + "leaves"
	d.admin.Import(t, "services", map[string]any{"key": key, "name": "Bus that leaves " + d.word})
	d.admin.Import(t, "memberships", map[string]any{"key": "Group:" + d.word + "p/Service:" + key,
		"group": d.word + "p", "member": "Service:" + key, "spans": []any{map[string]any{"last_day": "2031-03-04"}}})
	d.ask("Outing", "2031-03-04 18:00", "2031-03-05 16:00", d.pool)
	things := values(d.deciders[0].open("/inbox", 200, "Outing"), "thing")
	valuetest.MustSame(t, len(things), 2, "things offered for both days")
	one, err := strconv.ParseInt(things[0], 10, 64)
	errortest.None(t, err)
	d.idle().ask("Stocktaking", "2031-03-05 00:00", "2031-03-06 00:00", one)
	page := d.deciders[0].open("/inbox", 200)
	valuetest.Lacks(t, page, "Stocktaking", "what can be allocated is taken")
	valuetest.Same(t, strings.Count(page, "✓ free"), 2, "free things")
	d.ask("Match", "2031-03-04 14:00", "2031-03-04 16:00", d.pool)
	d.deciders[0].open("/inbox", 200, "Match", "Bus that leaves")
}

func with(form url.Values, name, value string) url.Values {
	form.Set(name, value)
	return form
}

func TestPicks_EachOnceAndABound(t *testing.T) {
	if all, err := readPicks([]string{"5-7-requested", "5-7-requested", "6-7-noted"}); err != nil || len(all) != 2 ||
		all[0].String() != "5-7-requested" {
		t.Errorf("%v, %v", all, err)
	}
	var many []string
	for i := range waitingAtMost + 1 {
		many = append(many, fmt.Sprintf("%d-1-noted", i+1))
	}
	if _, err := readPicks(many[1:]); err != nil {
		t.Errorf("%d are refused", waitingAtMost)
	}
	errortest.Some(t, errortest.Of(readPicks(many)), "%d pass", waitingAtMost+1)
}

func TestInbox_FreeThingsComeFirstAndAsManyAreChosenAsAreLacking(t *testing.T) {
	b := inboxBody{Open: &waits{Wanted: 3, Given: 1}}
	for i := range itemsAtMost + 2 {
		it := item{Element: api.Element{ID: int64(i)}, Given: i == 1}
		if i < 2 {
			it.Taken = make([]api.ListedCommitment, 1)
		}
		b.Items = append(b.Items, it)
	}
	b.offer()
	chosen := 0
	for i, it := range b.Items {
		if it.Offer {
			chosen++
		}
		if it.Offer && i > 1 {
			t.Errorf("the one at %d is chosen", i)
		}
	}
	if chosen != 2 || len(b.Items) != itemsAtMost || b.Left != 2 || b.Items[0].ID != 2 {
		t.Errorf("%d chosen of %d, %d left, first %d", chosen, len(b.Items), b.Left, b.Items[0].ID)
	}
}
