package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// waitingAtMost bounds each list of pending entries, and the decisions made at once.
	waitingAtMost = 20
	// latelyAtMost bounds the earlier decisions shown, and the reasons offered.
	latelyAtMost = 10
	// itemsAtMost bounds the items of a resource group that are offered.
	itemsAtMost = 100
	// daysAtOnce bounds the days whose bookings one call asks for.
	daysAtOnce = 28
	// decidedAtMost bounds the decisions that are read. The latest are searched for from decidedBefore days before
	// today on.
	decidedAtMost, decidedBefore = 500, 7
	// ended stands for where a list continues, at its end.
	ended = "end"
)

// waits is an entry that awaits the visitor's decision: a commitment, or a request for items of a resource group.
type waits struct {
	api.DecidedCommitment
	Wanted int          `json:"quantity"` // of a request; 0 for a commitment, as Given
	Given  int          `json:"num_allocated"`
	Clash  bool         `json:"-"`
	Day    wiretime.Day `json:"-"`
}

// Pool says whether it is a request for items of a resource group.
func (w waits) Pool() bool { return w.Wanted > 0 }

// Show identifies it in the address that shows its day. Requests have ids of their own.
func (w waits) Show() string { return fmt.Sprintf("%d-%d", w.ID, w.Wanted) }

// Pick identifies it in a form.
func (w waits) Pick() string { return pick{w.ID, w.Event.ID, string(w.Status)}.String() }

// pick is a commitment that a form decides on, with the status that its page showed.
type pick struct {
	id, event int64
	seen      string
}

func (p pick) String() string { return fmt.Sprintf("%d-%d-%s", p.id, p.event, p.seen) }

// readPicks reads the choices of a form, each once.
func readPicks(texts []string) (all []pick, err error) {
	for _, text := range texts {
		var p pick
		if _, err := fmt.Sscanf(text, "%d-%d-%s", &p.id, &p.event, &p.seen); err != nil || min(p.id, p.event) < 1 {
			return nil, errIDs
		}
		if !slices.ContainsFunc(all, func(other pick) bool { return other.id == p.id }) {
			all = append(all, p)
		}
	}
	if len(all) > waitingAtMost {
		return nil, errIDs
	}
	return all, nil
}

// takes says whether another booking of the same thing clashes: both events make it busy. A calendar never clashes.
func (w waits) takes(c api.ListedCommitment) bool {
	return w.Event.Busy && c.Event.Busy && w.Element.EntityType != "Property" && clashes(c, w.Event)
}

// booked is an event at the same thing.
type booked struct {
	api.ListedCommitment
	Now   bool // the one that is decided on
	Clash bool // with it
}

// item is an item of a resource group, and its booking at that time.
type item struct {
	api.Element
	Taken []api.ListedCommitment
	Given bool // to this request already
	Offer bool // chosen unless the visitor says otherwise
}

// inboxBody is what the page shows.
type inboxBody struct {
	List     []waits
	More     bool       // there are more than in List
	Here     url.Values // of this page of the list; empty for the first
	After    string     // where the list continues, "" at its end
	Open     *waits
	Day      []booked // the day of Open, at its thing
	Items    []item   // of the pool, the free ones first
	Unseen   bool     // the items can't be shown
	Left     int      // items that are not shown
	Lately   []waits
	Reasons  []string
	Outcomes []outcome
	Reason   string   // as it was typed
	Picks    []string // that were chosen for it from the list
	Fault    string   // a text
}

// Picked says whether one of the list was chosen.
func (b inboxBody) Picked(w waits) bool { return slices.Contains(b.Picks, w.Pick()) }

// Show is the address that shows one of the list.
func (b inboxBody) Show(w waits) string {
	query := maps.Clone(b.Here)
	query.Set("show", w.Show())
	return "/inbox?" + query.Encode() + "#open"
}

// inbox shows the requests that await the visitor's decision.
func (h handlers) inbox(v *visit) error {
	return v.showInbox(inboxBody{}, v.c.Query("show"), fiber.StatusOK)
}

func (v *visit) showInbox(b inboxBody, open string, code int) error {
	if err := v.waiting(&b); err != nil {
		return err
	}
	i := slices.IndexFunc(b.List, func(w waits) bool { return w.Show() == open })
	if len(b.List) > 0 {
		b.Open = &b.List[max(i, 0)]
	}
	err := cmp.Or(v.around(&b), v.pool(&b), v.lately(&b))
	if err != nil {
		return err
	}
	title := v.texts.T("inbox")
	if len(b.List) > 0 {
		title = fmt.Sprintf("(%s) %s", v.me.Waiting, title)
	}
	return v.answer(code, "inbox", title, b)
}

// waiting lists pending entries in order of date, each list from the place in the page's address, by two calls. Past
// events are left out, unless the address asks for them. The frame says how much it is.
func (v *visit) waiting(b *inboxBody) error {
	b.Here = url.Values{}
	query := url.Values{"include": {"decisions,busy"}, "limit": {strconv.Itoa(waitingAtMost)}}
	if v.c.Query("past") == "" {
		query.Set("start_date", v.zone.DayOf(v.now).String())
	} else {
		b.Here.Set("past", "1")
	}
	next := maps.Clone(b.Here)
	for _, of := range [][2]string{{"commitments", "requested,noted"}, {"requests", "outstanding"}} {
		part, after := of[0], v.c.Query(of[0])
		if after != "" {
			b.Here.Set(part, after)
		}
		if next.Set(part, ended); after == ended {
			continue
		}
		query.Set("status", of[1])
		found, more, err := v.api.Page(v.ctx, "/api/"+part, part, query, after)
		if err != nil {
			return err
		}
		b.List = append(b.List, client.Each[waits](found)...)
		if more != "" {
			next.Set(part, more)
			b.More = true
		}
	}
	if b.More {
		b.After = "/inbox?" + next.Encode()
	}
	for i, w := range b.List {
		b.List[i].Day = v.zone.DayOf(instant(w.Event.StartsAt))
	}
	slices.SortStableFunc(b.List, func(x, y waits) int {
		return instant(x.Event.StartsAt).Compare(instant(y.Event.StartsAt))
	})
	b.More = b.More || len(b.Here) > 0
	switch n := len(b.List); {
	case n > 0 && b.More:
		v.me.Waiting = fmt.Sprintf("%d+", n)
	case n > 0:
		v.me.Waiting = fmt.Sprint(n)
	}
	return nil
}

// around says for each commitment of the page whether another booking clashes, and fills in the day of the open one: in
// one call for each daysAtOnce with commitments. Of those that the visitor decides on and does not see it says nothing.
func (v *visit) around(b *inboxBody) error {
	var rows []*waits
	for i := range b.List {
		if w := &b.List[i]; !w.Pool() {
			rows = append(rows, w)
		}
	}
	for len(rows) > 0 {
		n := 0
		for ; n < len(rows) && rows[n].Day < rows[0].Day.AddDays(daysAtOnce); n++ {
		}
		if err := v.aroundSome(b, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// aroundSome is around for rows of daysAtOnce. Where the interface refuses some of them, each half is asked for alone.
func (v *visit) aroundSome(b *inboxBody, rows []*waits) error {
	first, last := rows[0].Day, rows[0].Day
	var ids []int64
	for _, w := range rows {
		ids = append(ids, w.Element.ID)
		last = max(last, v.zone.DayOf(instant(w.Event.EndsAt)))
	}
	found, err := v.timetables(url.Values{"elements": {joinIDs(ids)}, "include": {"staff,busy"},
		"start_date": {first.String()}, "end_date": {min(last, first.AddDays(2*daysAtOnce)).String()}})
	if half := len(rows) / 2; withheld(err) && half > 0 {
		return cmp.Or(v.aroundSome(b, rows[:half]), v.aroundSome(b, rows[half:]))
	}
	if err != nil && !withheld(err) {
		return err
	}
	things := map[int64][]api.ListedCommitment{}
	for _, t := range found {
		things[t.Element.ID] = t.Commitments
	}
	for _, w := range rows {
		if day := v.beside(w, things[w.Element.ID]); w == b.Open {
			b.Day = day
		}
	}
	return nil
}

// withheld says whether an error is the interface's refusal to show what the visitor does not see, or what is too much
// for one answer.
func withheld(err error) bool {
	return refused(err, fiber.StatusForbidden, fiber.StatusBadRequest) != nil
}

// beside returns the bookings of a commitment's thing on its day or that clash with it, and says whether one clashes.
func (v *visit) beside(w *waits, commitments []api.ListedCommitment) (day []booked) {
	for _, c := range commitments {
		row := booked{c, c.ID == w.ID, w.takes(c)}
		w.Clash = w.Clash || row.Clash
		if row.Clash || v.zone.Days(instant(c.Event.StartsAt), instant(c.Event.EndsAt)).Has(w.Day) {
			day = append(day, row)
		}
	}
	return day
}

// pool reads the bookings of a resource group's items, if a request for some is open, and which of them can be
// allocated: in two calls.
func (v *visit) pool(b *inboxBody) error {
	if b.Open == nil || !b.Open.Pool() {
		return nil
	}
	e := b.Open.Event
	last := v.zone.DayOf(instant(e.EndsAt))
	found, err := v.timetables(url.Values{"group": {id(b.Open.Element.ID)}, "start_date": {b.Open.Day.String()},
		"end_date": {min(last, b.Open.Day.AddDays(daysAtOnce)).String()}})
	if b.Unseen = withheld(err); b.Unseen {
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range found {
		i := item{Element: t.Element}
		for _, c := range t.Commitments {
			i.Given = i.Given || c.Event.ID == e.ID
			if clashes(c, e) {
				i.Taken = append(i.Taken, c)
			}
		}
		b.Items = append(b.Items, i)
	}
	if err := v.tryItems(b); err != nil {
		return err
	}
	b.offer()
	return nil
}

// tryItems leaves out the items that can't be allocated though no booking says why, such as those that are in the group
// on some of the event's days alone. Those that can be allocated beside a booking are free.
func (v *visit) tryItems(b *inboxBody) error {
	ids := sequence.Map(b.Items, func(i item) int64 { return i.ID })
	would, err := v.api.Allocate(client.DryRun(v.ctx), b.Open.ID, ids)
	refused := map[string]bool{}
	for _, f := range would.Failures {
		_, itself := f.Inner("item").Inner("errors")["element_id"] // another fails because there are enough
		refused[f.Text("element_id")] = itself
	}
	b.Items = slices.DeleteFunc(b.Items, func(i item) bool {
		return refused[id(i.ID)] && !i.Given && len(i.Taken) == 0
	})
	for n, i := range b.Items {
		if !refused[id(i.ID)] {
			b.Items[n].Taken = nil
		}
	}
	return err
}

// clashes says whether a booking is of another event, is not rejected, and is at the same time.
func clashes(c api.ListedCommitment, e api.EventSummary) bool {
	return c.Event.ID != e.ID && c.Status != "rejected" && overlap(c.Event, e)
}

// overlap says whether two events overlap, as wiretime.Overlaps.
func overlap(a, b api.EventSummary) bool {
	return wiretime.Overlaps(instant(a.StartsAt), instant(a.EndsAt), instant(b.StartsAt), instant(b.EndsAt))
}

// offer puts a resource group's free items first, and chooses as many of them as the request lacks.
func (b *inboxBody) offer() {
	slices.SortStableFunc(b.Items, func(x, y item) int { return cmp.Compare(len(x.Taken), len(y.Taken)) })
	lacks := b.Open.Wanted - b.Open.Given
	for i := range b.Items {
		it := &b.Items[i]
		if it.Offer = lacks > 0 && !it.Given && len(it.Taken) == 0; it.Offer {
			lacks--
		}
	}
	if b.Left = len(b.Items) - itemsAtMost; b.Left > 0 {
		b.Items = b.Items[:itemsAtMost]
	}
}

// lately lists the latest decisions by anyone: in one call.
func (v *visit) lately(b *inboxBody) error {
	decided, err := list[waits](v, "/api/commitments", "commitments", url.Values{
		"status": {"confirmed,rejected"}, "include": {"decisions"}, "limit": {strconv.Itoa(decidedAtMost)},
		"start_date": {v.zone.DayOf(v.now).AddDays(-decidedBefore).String()},
	})
	b.Lately = slices.DeleteFunc(decided, func(w waits) bool { return w.Decision.DecidedAt == "" })
	slices.SortStableFunc(b.Lately, func(x, y waits) int {
		return instant(y.Decision.DecidedAt).Compare(instant(x.Decision.DecidedAt))
	})
	for _, w := range b.Lately {
		if text := w.Decision.Reason; text != "" && !slices.Contains(b.Reasons, text) {
			b.Reasons = append(b.Reasons, text)
		}
	}
	b.Lately = b.Lately[:min(len(b.Lately), latelyAtMost)]
	b.Reasons = b.Reasons[:min(len(b.Reasons), latelyAtMost)]
	return err
}
