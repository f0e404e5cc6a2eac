package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/week"
)

// besideAtMost bounds how many people and things a page shows side by side.
const besideAtMost = 8

// weekBody is what the page of a week, or of a day side by side, shows.
type weekBody struct {
	Grid                  week.Grid
	Names                 []api.Element // whose it is
	Day, Last             wiretime.Day  // of those shown
	At                    string        // the page's path
	With                  string        // what its address names beside the path, separated by commas
	One                   bool          // one day of the week alone
	Past                  bool          // no day was asked for, so that a phone leaves out the days that are over
	IDs                   string        // of those shown, separated by commas
	Next                  []next        // the next event, where these days have none; once for each whose it is
	Instead               string        // the text that stands there instead of a week; "" for none
	Own, Empty            bool
	Today, Earlier, Later wiretime.Day
}

// On is the address of the same on another day.
func (b weekBody) On(day wiretime.Day) string {
	query := url.Values{"date": {day.String()}}
	if b.With != "" {
		query.Set("with", b.With)
	}
	if b.One {
		query.Set("days", "1")
	}
	return b.At + "?" + query.Encode()
}

// home shows the visitor's own week or, for a visitor without an element, the week of the pupil, or the day of the
// pupils, that the visitor stands for.
func (h handlers) home(v *visit) error {
	shown := v.me.Pupils[:min(len(v.me.Pupils), besideAtMost)]
	if v.me.Element.ID != 0 {
		shown = []api.Element{v.me.Element}
	}
	if len(shown) == 0 {
		instead := "week.no-person"
		if v.sees() == principal.SeesPublic {
			instead = "week.guest"
		}
		return v.show("week", v.texts.T("today"), weekBody{Instead: instead})
	}
	if v.me.Kind == "staff" {
		_ = v.waiting(&inboxBody{}) // else the frame does not say how much waits
	}
	err := v.week(idsOf(shown), true)
	if refused(err, fiber.StatusForbidden) != nil { // a page that links here must not be refused too
		return v.show("week", v.texts.T("today"), weekBody{Instead: "week.unseen"})
	}
	return err
}

// weekOf shows a week of anything, or a day of several.
func (h handlers) weekOf(v *visit) error {
	ids, err := readIDs(v.c.Params("element") + "," + v.c.Query("with"))
	if err != nil {
		return v.refuse(fiber.StatusNotFound, "missing")
	}
	return v.week(ids, false)
}

// errIDs is the error of what no page sends, such as text where ids belong.
var errIDs = errors.New("not a list of ids")

// readIDs reads ids that commas separate, each once and besideAtMost at most. Empty parts count as none.
func readIDs(text string) (ids []int64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		id, err := readID(part)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || len(ids) > besideAtMost {
		return nil, errIDs
	}
	return ids, nil
}

// readID reads one id.
func readID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, errIDs
	}
	return id, nil
}

// number reads a number; 0 for anything else.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func joinIDs(ids []int64) string { return strings.Join(sequence.Map(ids, id), ",") }

// readDay reads a day of an event, today for an empty text.
func (v *visit) readDay(text string) (wiretime.Day, error) {
	if text == "" {
		return v.zone.DayOf(v.now), nil
	}
	day, err := wiretime.ParseDay(text)
	if err == nil && (day < wiretime.FirstEventDay || day > wiretime.LastEventDay) {
		err = errors.New("no event is on this day")
	}
	return day, err
}

func (v *visit) week(ids []int64, own bool) error {
	day, err := v.readDay(v.c.Query("date"))
	if err != nil {
		return v.refuse(fiber.StatusBadRequest, "date")
	}
	days, step := week.Days(day), 7
	one := len(ids) == 1 && v.c.Query("days") == "1"
	if one || len(ids) > 1 {
		days, step = []wiretime.Day{day}, 1
	}
	b := weekBody{
		Own: own, Day: day, Today: v.zone.DayOf(v.now), IDs: joinIDs(ids), At: "/", One: one,
		Past: v.c.Query("date") == "", Earlier: day.AddDays(-step), Later: day.AddDays(step),
	}
	if !own {
		b.At = fmt.Sprintf("/week/%d", ids[0])
		if len(ids) > 1 {
			b.With = b.IDs
		}
	}
	found, err := v.timetables(url.Values{
		"elements": {b.IDs}, "start_date": {days[0].String()}, "end_date": {days[len(days)-1].String()},
		"include": {"staff,locations,category"},
	})
	if err == nil && len(found) == 0 {
		err = errors.New("the interface gave no timetable")
	}
	if err != nil {
		return err
	}
	noted := v.noted(found)
	var wanted []week.Want
	for _, t := range found {
		b.Names = append(b.Names, t.Element)
		items, err := itemsOf(t.Commitments)
		if err != nil {
			return err
		}
		for i := range items {
			items[i].Notes = noted[items[i].Event]
		}
		for _, d := range days {
			wanted = append(wanted, week.Want{Day: d, Element: t.Element.ID, Name: t.Element.Name, Items: items})
		}
	}
	if len(found) == 1 {
		wanted = week.WithoutEmptyWeekend(v.zone, wanted)
	}
	b.Grid = week.Lay(v.zone, wanted, v.now)
	b.Day, b.Last = wanted[0].Day, wanted[len(wanted)-1].Day
	b.Past = b.Past && b.Last >= b.Today
	b.Empty = !slices.ContainsFunc(b.Grid.Columns, func(c week.Column) bool { return !c.Empty() })
	if b.Empty {
		if b.Next, err = v.next(b.Names, days[len(days)-1].AddDays(1)); err != nil {
			return err
		}
	}
	title := v.texts.T("today")
	if !own {
		title = b.Names[0].Name
	}
	return v.show("week", title, b)
}

// next is the next event of a person or thing.
type next struct {
	api.EventSummary
	Of api.Element
}

// next finds the earliest events from a day on, at most one of each person or thing.
func (v *visit) next(of []api.Element, from wiretime.Day) (all []next, err error) {
	for _, e := range of {
		found, err := find[api.EventSummary](v, "/api/events", "events", url.Values{
			"element": {id(e.ID)}, "start_date": {from.String()}, "limit": {"1"},
		})
		if err != nil {
			return nil, err
		}
		for _, event := range found {
			all = append(all, next{event, e})
		}
	}
	starts := func(n next) int64 { return instant(n.StartsAt).Unix() }
	slices.SortStableFunc(all, func(a, b next) int { return cmp.Compare(starts(a), starts(b)) })
	return slices.DeleteFunc(all, func(n next) bool { return starts(n) > starts(all[0]) }), nil
}

// timetable is a person or thing, and its commitments.
type timetable struct {
	Element     api.Element
	Commitments []api.ListedCommitment
}

// timetables asks for timetables, in one call.
func (v *visit) timetables(query url.Values) ([]timetable, error) {
	return list[timetable](v, "/api/timetables", "timetables", query)
}

// timetablesAtOnce bounds the ids in one call.
const timetablesAtOnce = 200

// timetablesOf asks for those of all people or things of a type, in one call. Where there are more than an answer may
// have, as in a district, they are those of the visitor's school, at most 1,000. A chosen school is the only one.
func (v *visit) timetablesOf(kind, school string, query url.Values) (all []timetable, tooMany error) {
	query.Set("type", kind)
	if school == "" {
		if all, tooMany = v.timetables(query); refused(tooMany, fiber.StatusBadRequest) == nil {
			return all, tooMany
		}
		if school = "own"; len(v.me.AdminOf) == 1 {
			school = id(v.me.AdminOf[0])
		}
	}
	own, err := list[api.Element](v, "/api/elements", "elements",
		url.Values{"type": {kind}, "school": {school}, "limit": {"1000"}})
	if err != nil || len(own) == 0 {
		return nil, cmp.Or(err, tooMany)
	}
	return v.timetablesBy(sequence.Map(own, func(e api.Element) int64 { return e.ID }), query)
}

// schoolBody is the page that asks which school a page shows, in a district that is too large to show as a whole.
type schoolBody struct {
	At      string
	Query   map[string]string
	Schools []api.Element
}

// askSchool asks which school a page shows, where the interface refuses to list all.
func (v *visit) askSchool(err error) error {
	if refused(err, fiber.StatusBadRequest) == nil {
		return err
	}
	b := schoolBody{At: v.c.Path(), Query: v.c.Queries()}
	delete(b.Query, "school")
	if b.Schools, err = v.schools(); err != nil {
		return err
	}
	if len(b.Schools) == 0 {
		return v.refuse(fiber.StatusBadRequest, "school")
	}
	return v.show("school", v.texts.T("look.field.school_id"), b)
}

// timetablesBy asks for those of people or things by their ids, a few in one call.
func (v *visit) timetablesBy(ids []int64, query url.Values) (all []timetable, err error) {
	query.Del("type")
	for part := range slices.Chunk(ids, timetablesAtOnce) {
		query.Set("elements", joinIDs(part))
		some, err := v.timetables(query)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// notedAtMost bounds the events of which one call asks whether they have notes.
const notedAtMost = 200

// noted are the events of timetables that have notes which the visitor sees; none while notes is away.
func (v *visit) noted(all []timetable) map[int64]bool {
	var ids []int64
	for _, t := range all {
		for _, c := range t.Commitments {
			ids = append(ids, c.Event.ID)
		}
	}
	slices.Sort(ids)
	noted := map[int64]bool{}
	for some := range slices.Chunk(slices.Compact(ids), notedAtMost) {
		answer, _ := v.api.Get(v.ctx, "/api/notes?events="+joinIDs(some), "")
		for _, id := range answer.IDs("events") {
			noted[id] = true
		}
	}
	return noted
}

// itemsOf are commitments for the grid.
func itemsOf(commitments []api.ListedCommitment) (items []week.Item, err error) {
	for _, c := range commitments {
		starts, err := wiretime.Parse(c.Event.StartsAt)
		ends, errEnds := wiretime.Parse(c.Event.EndsAt)
		if err := errors.Join(err, errEnds); err != nil {
			return nil, fmt.Errorf("the times of an event: %w", err)
		}
		place := []string{c.Event.Locations, c.Event.Staff}
		items = append(items, week.Item{
			Event: c.Event.ID, Title: c.Event.Body, Starts: starts, Ends: ends, AllDay: c.Event.AllDay,
			Status: string(c.Status), Through: c.Element.Name, Category: c.Event.Category.ID,
			Place: strings.Join(slices.DeleteFunc(place, func(text string) bool { return text == "" }), " · "),
		})
	}
	return items, nil
}
