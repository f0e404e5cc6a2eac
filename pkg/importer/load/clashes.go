package load

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// maxClashes bounds how many double bookings are counted.
const maxClashes = 100_000

// Clashing has the double bookings that a source would make.
type Clashing struct {
	Count int
	First []Warning    // of the first ones
	rows  map[int]bool // the rows of events to leave out so that none is left, by their place among them
}

// Clashes finds the double bookings that a source would make: two events of busy categories at the same time that book
// one element, directly, or one of them through groups that the element belongs to on a common day. One of the two is a
// row; the other may be an event in Belfry that is not a row and whose id elsewhere accepts. Unless elsewhere is nil,
// Clashes requires the admin permission. Members that were added to groups by hand are ignored. An import does not
// refuse such rows.
func Clashes(
	ctx context.Context, c *client.Client, source Source, stored Stored, zone wiretime.Zone,
	elsewhere func(event int64) bool,
) (all Clashing, err error) {
	if !source.Has(bundle.Events) {
		return all, nil
	}
	b := &bookings{zone: zone, of: map[string][]int32{}, groups: map[string][]membership{},
		rejected: map[rejection]bool{}}
	if elsewhere != nil && len(stored) > 0 {
		if err := b.readStored(ctx, c, source, stored, elsewhere); err != nil {
			return all, err
		}
	}
	first := len(b.events)
	b.events = slices.Grow(b.events, source.Count(bundle.Events))
	if err := b.readRows(source); err != nil {
		return all, err
	}
	found := b.clashes()
	all.Count, all.rows = len(found), leftOut(found, first)
	for i, clash := range found[:min(len(found), maxWarnings)] {
		row := b.events[clash.row]
		text := fmt.Sprintf("%s:%d: %s is booked twice at %s: %s has it too", row.file, row.line, clash.element,
			withoutZeros(zone.Format(time.Unix(b.from(clash), 0))), b.nameOf(clash))
		if i == maxWarnings-1 && len(found) > maxWarnings {
			text += fmt.Sprintf(" (and %d more like it)", len(found)-maxWarnings)
		}
		all.First = append(all.First, Warning{Text: text})
	}
	return all, nil
}

// leftOut are the rows whose removal resolves all clashes, given in the order of their lines: of two rows the later
// one, unless the earlier one is left out itself. First is the place of the first row among the events.
func leftOut(found []clash, first int) map[int]bool {
	rows := map[int]bool{}
	for _, c := range found {
		if !rows[int(c.other)-first] {
			rows[int(c.row)-first] = true
		}
	}
	return rows
}

// without is a source without some events, by their keys, and without their notes.
type without struct {
	Source
	events map[string]bool
}

// Count implements Source.
func (w without) Count(kind bundle.Kind) int {
	n := w.Source.Count(kind)
	if kind != bundle.Events && kind != bundle.Notes || !w.Has(kind) {
		return n
	}
	for row, err := range w.Source.Rows(kind) {
		if err == nil && w.leaves(row) {
			n--
		}
	}
	return n
}

// Rows implements Source.
func (w without) Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for row, err := range w.Source.Rows(kind) {
			if (err != nil || !w.leaves(row)) && !yield(row, err) {
				return
			}
		}
	}
}

func (w without) leaves(row bundle.Row) bool {
	switch r := row.Record.(type) {
	case bundle.EventRecord:
		return w.events[r.Key]
	case bundle.NoteRecord:
		return w.events[r.Event]
	}
	return false
}

// bookings are the times at which elements are booked, by Type:key. Items allocated from a resource group are
// exclusive, whatever their type; calendars and subjects that mark an event otherwise are not, and have other keys.
type bookings struct {
	zone     wiretime.Zone
	of       map[string][]int32      // places of events; a school of five years has a million of them
	groups   map[string][]membership // by member
	events   []event                 // those of Belfry that are no rows, and then the rows
	rejected map[rejection]bool
	found    []clash
}

// event is a row of the source, or else an event of Belfry: it has no file, and its line is its id.
type event struct {
	starts, ends int64 // in seconds
	file         string
	line         int64
}

// membership is when an element belongs to a group.
type membership struct {
	group string
	days  []wiretime.Days
}

// rejection is an element of a row that was rejected in Belfry.
type rejection struct{ key, element string }

// clash is a row and another event that book an element at the same time.
type clash struct {
	element    string
	row, other int32
}

func (b *bookings) from(c clash) int64 { return max(b.events[c.row].starts, b.events[c.other].starts) }

// nameOf names the other event of a clash.
func (b *bookings) nameOf(c clash) string {
	switch other := b.events[c.other]; other.file {
	case "":
		return fmt.Sprintf("event %d in Belfry", other.line)
	case b.events[c.row].file:
		return fmt.Sprintf("line %d", other.line)
	default:
		return fmt.Sprintf("%s:%d", other.file, other.line)
	}
}

// marks says whether an element only marks the events that it is on.
func marks(element string) bool {
	return strings.HasPrefix(element, bundle.Properties.EntityType()+":") ||
		strings.HasPrefix(element, bundle.Subjects.EntityType()+":")
}

// readRows reads the bookings of the source, and who belongs to which groups.
func (b *bookings) readRows(source Source) error {
	busy, resources := map[string]bool{}, map[string]bool{}
	for _, kind := range []bundle.Kind{bundle.EventCategories, bundle.Groups, bundle.Memberships, bundle.Events} {
		for row, err := range source.Rows(kind) {
			if err != nil {
				return err
			}
			switch r := row.Record.(type) {
			case bundle.EventCategoryRecord:
				busy[r.Key] = form.OrZero(r.Busy)
			case bundle.GroupRecord:
				resources[bundle.Groups.EntityType()+":"+r.Key] = form.OrZero(r.Resource)
			case bundle.MembershipRecord:
				b.join(r, resources)
			case bundle.EventRecord:
				b.events = append(b.events, event{file: row.File, line: int64(row.Line)})
				if busy[r.Category] {
					b.book(r, resources)
				}
			}
		}
	}
	return nil
}

// join notes a membership. Booking a resource group does not book its items.
func (b *bookings) join(r bundle.MembershipRecord, resources map[string]bool) {
	m := membership{group: bundle.Groups.EntityType() + ":" + r.Group}
	if resources[m.group] {
		return
	}
	m.days = wiretime.MergeDays(sequence.Map(r.Spans, bundle.Span.Days))
	b.groups[r.Member] = append(b.groups[r.Member], m)
}

// book notes the elements that the event of a row books.
func (b *bookings) book(r bundle.EventRecord, resources map[string]bool) {
	span, wrong := b.zone.NewSpan(wiretime.SpanFields{AllDay: r.AllDay, StartsAt: &r.StartsAt, EndsAt: &r.EndsAt})
	if wrong != nil {
		return
	}
	at := &b.events[len(b.events)-1]
	at.starts, at.ends = span.Starts.Unix(), span.Ends.Unix()
	decided := map[string]string{}
	for _, d := range r.Decisions {
		switch {
		case d.Request != "":
			b.add(d.Element, true)
		default:
			decided[d.Element] = d.Status
		}
	}
	for _, element := range r.Elements {
		status, known := decided[element]
		if !known && b.rejected[rejection{r.Key, element}] {
			status = "rejected"
		}
		if status != "rejected" && !resources[element] {
			b.add(element, false)
		}
	}
}

// add notes that the last of the events books an element.
func (b *bookings) add(element string, allocated bool) {
	if allocated && marks(element) {
		element = "allocated " + element
	}
	b.of[element] = append(b.of[element], int32(len(b.events)-1))
}

// readStored reads the bookings of the events in Belfry that are not rows, and which elements of rows were rejected.
func (b *bookings) readStored(
	ctx context.Context, c *client.Client, source Source, stored Stored, elsewhere func(event int64) bool,
) error {
	var keys csvfile.Lines
	for row, err := range source.Rows(bundle.Events) {
		if err != nil {
			return err
		}
		keys.Add(row.Key, row.Line)
	}
	references, busy := map[int64]string{}, map[int64]bool{}
	for reference, r := range stored {
		if id := r.ID("id"); id != 0 {
			references[id] = reference
		}
	}
	for r, err := range records(ctx, c, Categories, nil) {
		if err != nil {
			return err
		}
		busy[r.ID("id")] = r["busy"] == true
	}
	for r, err := range records(ctx, c, listOf(bundle.Events), nil) {
		if err != nil {
			return err
		}
		_, known := keys.Of(r.Text("key"))
		if !known && (!busy[r.ID("category_id")] || !elsewhere(r.ID("id"))) {
			continue
		}
		starts, err := wiretime.Parse(r.Text("starts_at"))
		ends, failed := wiretime.Parse(r.Text("ends_at"))
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
		if !known {
			b.events = append(b.events, event{starts: starts.Unix(), ends: ends.Unix(), line: r.ID("id")})
		}
		for _, commitment := range r.Records("commitments") {
			element, has := references[commitment.ID("element_id")]
			rejected := commitment.Text("status") == "rejected"
			switch {
			case !has:
			case known && rejected:
				b.rejected[rejection{r.Text("key"), element}] = true
			case !known && !rejected:
				b.add(element, commitment.ID("request_id") != 0)
			}
		}
	}
	return nil
}

// clashes are those of rows, in the order of their lines.
func (b *bookings) clashes() []clash {
	for _, all := range b.of {
		slices.SortFunc(all, func(x, y int32) int {
			one, other := b.events[x], b.events[y]
			return cmp.Or(cmp.Compare(one.starts, other.starts), cmp.Compare(other.ends, one.ends), cmp.Compare(x, y))
		})
	}
	latest := map[string][]int64{}
	for element, all := range b.of {
		if marks(element) {
			continue
		}
		name := strings.TrimPrefix(element, "allocated ")
		through := b.through(name)
		for group := range through {
			if latest[group] == nil {
				latest[group] = b.latest(group)
			}
		}
		for i, at := range all {
			if len(b.found) >= maxClashes {
				break
			}
			b.findAmong(name, at, all[i+1:])
			for group, days := range through {
				b.findWithin(name, at, group, days, latest[group])
			}
		}
	}
	slices.SortFunc(b.found, func(x, y clash) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.element, y.element),
			cmp.Compare(b.from(x), b.from(y)), cmp.Compare(x.other, y.other))
	})
	return b.found
}

// latest is the latest end of an element's bookings up to each.
func (b *bookings) latest(element string) []int64 {
	ends, end := make([]int64, len(b.of[element])), int64(0)
	for i, at := range b.of[element] {
		end = max(end, b.events[at].ends)
		ends[i] = end
	}
	return ends
}

// findAmong finds the clashes of a booking with later ones of the same element.
func (b *bookings) findAmong(element string, at int32, later []int32) {
	for _, other := range later {
		if b.events[other].starts >= b.events[at].ends {
			break
		}
		if meet(b.events[at], b.events[other]) {
			b.keep(element, at, other)
		}
	}
}

// findWithin finds the clashes of an element's booking with those of a group that it belongs to on these days.
func (b *bookings) findWithin(element string, at int32, group string, days []wiretime.Days, latest []int64) {
	all, of := b.of[group], b.events[at]
	for i := sort.Search(len(all), func(i int) bool { return latest[i] >= of.starts }); i < len(all); i++ {
		other := b.events[all[i]]
		if other.starts >= of.ends && other.starts > of.starts {
			break
		}
		if !meet(of, other) {
			continue
		}
		common := b.zone.Days(time.Unix(max(of.starts, other.starts), 0), time.Unix(min(of.ends, other.ends), 0))
		if slices.ContainsFunc(days, common.Overlaps) {
			b.keep(element, at, all[i])
		}
	}
}

// keep keeps the clash of two bookings, where they are of two events and one of them is a row. Of two rows it is the
// later one's.
func (b *bookings) keep(element string, x, y int32) {
	if last := max(x, y); x != y && b.events[last].file != "" {
		b.found = append(b.found, clash{element, last, min(x, y)})
	}
}

// meet says whether two events go on at the same time. An event without a duration meets those that contain its time.
func meet(x, y event) bool {
	if x.starts == x.ends || y.starts == y.ends {
		instant, other := x, y
		if x.starts != x.ends {
			instant, other = y, x
		}
		return other.starts <= instant.starts && instant.starts < other.ends
	}
	return x.starts < y.ends && y.starts < x.ends
}

// through are the groups that an element belongs to, at whatever depth, with the days on which it does.
func (b *bookings) through(element string) map[string][]wiretime.Days {
	found := map[string][]wiretime.Days{}
	climb := []membership{{element, []wiretime.Days{{First: wiretime.FirstDay, Last: wiretime.LastDay}}}}
	for len(climb) > 0 {
		from := climb[0]
		climb = climb[1:]
		for _, m := range b.groups[from.group] {
			on := wiretime.IntersectDays(m.days, from.days)
			all := wiretime.MergeDays(slices.Concat(found[m.group], on))
			if m.group == element || slices.Equal(all, found[m.group]) { // by another way, or round a circle
				continue
			}
			found[m.group] = all
			climb = append(climb, membership{m.group, on})
		}
	}
	return found
}
