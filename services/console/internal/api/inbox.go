package api

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

const (
	// waitingAtMost bounds each list of what waits, and what is decided at once.
	waitingAtMost = 20
	// latelyAtMost bounds what is shown of earlier decisions, and the reasons that are offered.
	latelyAtMost = 10
	// itemsAtMost bounds the things of a pool that are offered.
	itemsAtMost = 100
	// The days before and after the chosen one whose bookings are asked for: of these, clashes and decisions are known.
	daysBefore, daysAfter = 7, 14
)

// waits is something that waits for the visitor's decision: a commitment, or a request for things of a pool.
type waits struct {
	api.DecidedCommitment
	Wanted int          `json:"quantity"` // of a request; 0 for a commitment, as Given
	Given  int          `json:"num_allocated"`
	Clash  bool         `json:"-"`
	Day    wiretime.Day `json:"-"`
}

// Pool says whether things of a pool are asked for.
func (w waits) Pool() bool { return w.Wanted > 0 }

// Show is what the address says of it to show its day.
func (w waits) Show() string {
	if w.Pool() {
		return fmt.Sprintf("r%d", w.ID)
	}
	return fmt.Sprintf("c%d", w.ID)
}

// Pick is what a form says of it.
func (w waits) Pick() string { return pick{w.ID, w.Event.ID, string(w.Status)}.String() }

// pick is a commitment that a form decides on, with the status that its page showed.
type pick struct {
	id, event int64
	seen      string
}

func (p pick) String() string { return fmt.Sprintf("%d-%d-%s", p.id, p.event, p.seen) }

// readPicks reads what a form has chosen, each once.
func readPicks(texts []string) (all []pick, err error) {
	for _, text := range texts {
		parts := strings.Split(text, "-")
		if len(parts) != 3 {
			return nil, errIDs
		}
		id, errID := readID(parts[0])
		event, errEvent := readID(parts[1])
		if err := cmp.Or(errID, errEvent); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(p pick) bool { return p.id == id }) {
			all = append(all, pick{id, event, parts[2]})
		}
	}
	if len(all) > waitingAtMost {
		return nil, errIDs
	}
	return all, nil
}

// booked is an event at the same thing.
type booked struct {
	api.ListedCommitment
	Thing api.Element
	Now   bool // the one that is decided on
	Clash bool // with it
}

// Pick is what a form says of it.
func (b booked) Pick() string { return pick{b.ID, b.Event.ID, string(b.Status)}.String() }

// item is a thing of a pool, and what takes it at that time.
type item struct {
	api.Element
	Taken []booked
	Given bool // to this request already
	Offer bool // chosen unless the visitor says otherwise
}

// inboxBody is what the page shows.
type inboxBody struct {
	List     []waits
	Count    int
	More     bool   // there are more than Count
	Page     string // where this page of the list begins, "" for the first
	After    string // where the list continues, "" at its end
	Open     *waits
	Day      []booked // the day of Open, at its thing
	Items    []item   // of the pool, the free ones first
	Left     int      // items that are not shown
	Lately   []booked
	Reasons  []string
	Outcomes []outcome
	Reason   string // as it was typed
	Fault    string // a text
}

// inbox shows what waits for the visitor's decision.
func (h handlers) inbox(v *visit) error {
	return v.showInbox(inboxBody{}, v.c.Query("show"), fiber.StatusOK)
}

func (v *visit) showInbox(b inboxBody, open string, code int) error {
	if err := v.waiting(&b); err != nil {
		return err
	}
	for i := range b.List {
		if b.List[i].Show() == open {
			b.Open = &b.List[i]
		}
	}
	if b.Open == nil && len(b.List) > 0 {
		b.Open = &b.List[0]
	}
	if b.Open != nil {
		if err := v.around(&b); err != nil {
			return err
		}
	}
	v.me.Waiting, v.me.WaitingMore = b.Count, b.More
	title := v.texts.T("inbox")
	if b.Count > 0 {
		title = fmt.Sprintf("(%s) %s", v.me.WaitingText(), title)
	}
	return v.answer(code, "inbox", title, b)
}

// waiting lists what waits, oldest first: in two calls.
func (v *visit) waiting(b *inboxBody) error {
	query := url.Values{"status": {"requested,noted"}, "include": {"decisions,staff"},
		"limit": {strconv.Itoa(waitingAtMost)}}
	if b.Page = v.c.Query("after"); b.Page != "" {
		query.Set("after", b.Page)
	}
	commitments, err := v.api.Get(v.ctx, "/api/commitments?"+query.Encode(), "")
	if err != nil {
		return err
	}
	b.List, b.After = client.Each[waits](commitments.Records("commitments")), commitments.Text("next")
	b.More = b.After != "" || b.Page != ""
	if b.Page == "" { // requests are on the first page
		query.Del("status")
		requests, err := v.api.Get(v.ctx, "/api/requests?"+query.Encode(), "")
		if err != nil {
			return err
		}
		b.List = append(b.List, client.Each[waits](requests.Records("requests"))...)
		b.More = b.More || requests.Text("next") != ""
	}
	for i := range b.List {
		if b.List[i].Day, err = v.texts.DayText(b.List[i].Event.StartsAt); err != nil {
			return err
		}
	}
	slices.SortStableFunc(b.List, func(x, y waits) int {
		return instant(x.Event.StartsAt).Compare(instant(y.Event.StartsAt))
	})
	b.Count = len(b.List)
	return nil
}

// around asks for the days around the one that is shown, in one call: of the things of all commitments on the page, or
// of the things of a pool.
func (v *visit) around(b *inboxBody) error {
	query := url.Values{"include": {"decisions,staff"}}
	if b.Open.Pool() {
		query.Set("group", id(b.Open.Element.ID))
		last, err := v.texts.DayText(b.Open.Event.EndsAt)
		if err != nil {
			return err
		}
		query.Set("start_date", b.Open.Day.String())
		query.Set("end_date", min(last, b.Open.Day.AddDays(daysAfter)).String())
	} else {
		var ids []int64
		for _, w := range b.List {
			if !w.Pool() && !slices.Contains(ids, w.Element.ID) {
				ids = append(ids, w.Element.ID)
			}
		}
		query.Set("elements", joinIDs(ids))
		query.Set("start_date", max(b.Open.Day.AddDays(-daysBefore), wiretime.FirstEventDay).String())
		query.Set("end_date", min(b.Open.Day.AddDays(daysAfter), wiretime.LastEventDay).String())
	}
	found, err := v.timetables(query)
	if err != nil {
		return err
	}
	things := map[int64][]booked{}
	for _, t := range found {
		rows := []booked{}
		for _, c := range t.Commitments {
			rows = append(rows, booked{ListedCommitment: c, Thing: t.Element})
		}
		things[t.Element.ID] = rows
		if b.Open.Pool() {
			b.Items = append(b.Items, poolItem(t.Element, rows, b.Open.Event))
		}
	}
	if b.Open.Pool() {
		b.offer()
		return nil
	}
	for i := range b.List {
		w := &b.List[i]
		w.Clash = slices.ContainsFunc(things[w.Element.ID], func(o booked) bool { return clashes(o, w.Event) })
	}
	return v.day(b, things)
}

// poolItem says what takes a thing of a pool at the time of an event.
func poolItem(thing api.Element, rows []booked, e api.EventSummary) item {
	i := item{Element: thing}
	for _, row := range rows {
		i.Given = i.Given || row.Event.ID == e.ID
		if clashes(row, e) {
			i.Taken = append(i.Taken, row)
		}
	}
	return i
}

// clashes says whether a booking is another event's, is not rejected, and is at the same time.
func clashes(b booked, e api.EventSummary) bool {
	return b.Event.ID != e.ID && b.Status != "rejected" && overlap(b.Event, e)
}

// overlap says whether two events have a time in common; one of zero length has its moment.
func overlap(a, b api.EventSummary) bool {
	startsA, startsB := instant(a.StartsAt), instant(b.StartsAt)
	return startsA.Equal(startsB) ||
		startsA.Before(instant(b.EndsAt)) && startsB.Before(instant(a.EndsAt))
}

// offer puts the free things of a pool first, and chooses as many of them as the request lacks.
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

// day fills in the day of what is shown, and what was decided lately.
func (v *visit) day(b *inboxBody, things map[int64][]booked) error {
	from, to := v.zone.Midnight(b.Open.Day), v.zone.Midnight(b.Open.Day.AddDays(1))
	for _, row := range things[b.Open.Element.ID] {
		row.Now, row.Clash = row.ID == b.Open.ID, clashes(row, b.Open.Event)
		if row.Clash || instant(row.Event.StartsAt).Before(to) && !instant(row.Event.EndsAt).Before(from) {
			b.Day = append(b.Day, row)
		}
	}
	for _, rows := range things {
		for _, row := range rows {
			if row.Decision.DecidedAt != "" && (row.Status == "confirmed" || row.Status == "rejected") &&
				row.Element.ID == 0 {
				b.Lately = append(b.Lately, row)
			}
		}
	}
	slices.SortFunc(b.Lately, func(x, y booked) int {
		return cmp.Or(instant(y.Decision.DecidedAt).Compare(instant(x.Decision.DecidedAt)), cmp.Compare(y.ID, x.ID))
	})
	for _, row := range b.Lately {
		if text := row.Decision.Reason; text != "" && !slices.Contains(b.Reasons, text) {
			b.Reasons = append(b.Reasons, text)
		}
	}
	b.Lately = b.Lately[:min(len(b.Lately), latelyAtMost)]
	b.Reasons = b.Reasons[:min(len(b.Reasons), latelyAtMost)]
	return nil
}

// count says in the frame how much waits, where that is known; the page is shown without it where the call fails.
func (v *visit) count() {
	if v.me.Kind != "staff" {
		return
	}
	var b inboxBody
	if err := v.waiting(&b); err == nil {
		v.me.Waiting, v.me.WaitingMore = b.Count, b.More
	}
}
