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
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// maxClashes bounds how many double bookings are counted.
const maxClashes = 100_000

// Clashing is the double bookings that a source would make.
type Clashing struct {
	Count int
	First []Warning    // of the first ones
	rows  map[int]bool // the rows of events to leave out so that none is left, by their place among them
}

// Clashes finds the double bookings that a source would make: two events of busy categories at the same time that take
// up one element, directly, or one of them through groups that the element belongs to on a common day. One of the two
// is a row; the other may be an event that Belfry has, that is no row and that elsewhere accepts by its id. Unless
// elsewhere is nil, Clashes requires the admin permission. Members that were put into groups by hand don't count. An
// import does not refuse such rows.
func Clashes(
	ctx context.Context, c *client.Client, source Source, stored Stored, zone wiretime.Zone,
	elsewhere func(event int64) bool,
) (all Clashing, err error) {
	if !source.Has(bundle.Events) {
		return all, nil
	}
	b := &bookings{zone: zone, of: map[string][]booking{}, groups: map[string][]membership{},
		events: make([]event, 0, source.Count(bundle.Events)), rejected: map[rejection]bool{}}
	if err := b.readRows(source, len(stored) > 0); err != nil {
		return all, err
	}
	if elsewhere != nil && len(stored) > 0 {
		if err := b.readStored(ctx, c, stored, elsewhere); err != nil {
			return all, err
		}
	}
	found := b.clashes()
	all.Count, all.rows = len(found), leftOut(found)
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

// leftOut are the rows without which none of the clashes, in the order of their lines, is left: of two rows the later
// one, unless the earlier one is left out itself.
func leftOut(found []clash) map[int]bool {
	rows := map[int]bool{}
	for _, c := range found {
		if !rows[int(c.other)] {
			rows[int(c.row)] = true
		}
	}
	return rows
}

// Without is a source without the events that clash, and without their notes. False when the clashes are too many for
// all to be known.
func (c Clashing) Without(source Source) (Source, bool, error) {
	events, n := map[string]bool{}, 0
	for row, err := range source.Rows(bundle.Events) {
		if err != nil {
			return nil, false, err
		}
		if c.rows[n] {
			events[strings.Clone(row.Key)] = true // the key is a part of the text of its row
		}
		n++
	}
	return without{source, events}, c.Count < maxClashes, nil
}

// LeftOut is how many events Without leaves out.
func (c Clashing) LeftOut() int { return len(c.rows) }

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

// bookings are the times at which elements are taken up, by Type:key. What is allocated from a resource group is
// exclusive, whatever its type; calendars and subjects that mark an event otherwise are not, and have other keys.
type bookings struct {
	zone     wiretime.Zone
	of       map[string][]booking
	groups   map[string][]membership // by member
	events   []event                 // the rows, and then those of Belfry that are no rows
	rows     csvfile.Lines           // the places of rows among events, by key
	rejected map[rejection]bool
}

// event is a row of the source, or else an event of Belfry: it has no file, and its line is its id.
type event struct {
	starts, ends int64 // in seconds
	file         string
	line         int64
}

// booking is the place of an event among all that are known; its complement, where it is a row's that says no decision
// on the element. A school of five years has a million.
type booking int32

func (b booking) undecided() bool { return b < 0 }

func (b booking) event() int32 {
	if b.undecided() {
		return int32(^b)
	}
	return int32(b)
}

// membership is when an element belongs to a group.
type membership struct {
	group string
	days  []wiretime.Days
}

// rejection is an element of a row that was rejected in Belfry.
type rejection struct {
	row     int
	element string
}

// clash is a row and another event that take up an element at the same time.
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

// readRows reads the bookings of the source, and who belongs to which groups. It keeps the keys of events if asked.
func (b *bookings) readRows(source Source, keys bool) error {
	busy, resources := map[string]bool{}, map[string]bool{}
	is := func(flag *bool) bool { return flag != nil && *flag }
	for _, kind := range []bundle.Kind{bundle.EventCategories, bundle.Groups, bundle.Memberships, bundle.Events} {
		if !source.Has(kind) {
			continue
		}
		for row, err := range source.Rows(kind) {
			if err != nil {
				return err
			}
			switch r := row.Record.(type) {
			case bundle.EventCategoryRecord:
				busy[r.Key] = is(r.Busy)
			case bundle.GroupRecord:
				resources[bundle.Groups.EntityType()+":"+r.Key] = is(r.Resource)
			case bundle.MembershipRecord:
				b.join(r, resources)
			case bundle.EventRecord:
				if keys {
					b.rows.Add(r.Key, len(b.events))
				}
				b.events = append(b.events, event{file: row.File, line: int64(row.Line)})
				if busy[r.Category] {
					b.book(r, resources)
				}
			}
		}
	}
	return nil
}

// join notes a membership. The items of a resource group are not taken up with it.
func (b *bookings) join(r bundle.MembershipRecord, resources map[string]bool) {
	m := membership{group: bundle.Groups.EntityType() + ":" + r.Group}
	if resources[m.group] {
		return
	}
	text := func(day *string) string {
		if day == nil {
			return ""
		}
		return *day
	}
	for _, span := range r.Spans {
		m.days = append(m.days, wiretime.Days{First: dayOr(text(span.FirstDay), wiretime.FirstDay),
			Last: dayOr(text(span.LastDay), wiretime.LastDay)})
	}
	m.days = wiretime.MergeDays(m.days)
	b.groups[r.Member] = append(b.groups[r.Member], m)
}

// book notes what the event of a row takes up.
func (b *bookings) book(r bundle.EventRecord, resources map[string]bool) {
	span, wrong := b.zone.NewSpan(wiretime.SpanFields{AllDay: r.AllDay, StartsAt: &r.StartsAt, EndsAt: &r.EndsAt})
	if wrong != nil {
		return
	}
	last := len(b.events) - 1
	b.events[last].starts, b.events[last].ends = span.Starts.Unix(), span.Ends.Unix()
	decided := map[string]string{}
	for _, d := range r.Decisions {
		switch {
		case d.Request != "":
			b.add(d.Element, true, booking(last))
		default:
			decided[d.Element] = d.Status
		}
	}
	for _, element := range r.Elements {
		status, known := decided[element]
		at := booking(last)
		if !known {
			at = ^at
		}
		if status != "rejected" && !resources[element] {
			b.add(element, false, at)
		}
	}
}

func (b *bookings) add(element string, allocated bool, at booking) {
	if allocated && marks(element) {
		element = "allocated " + element
	}
	b.of[element] = append(b.of[element], at)
}

// readStored reads the bookings of the events in Belfry that are no rows, and which elements of rows were rejected.
func (b *bookings) readStored(
	ctx context.Context, c *client.Client, stored Stored, elsewhere func(event int64) bool,
) error {
	references, busy := map[int64]string{}, map[int64]bool{}
	for reference, r := range stored {
		if id := r.ID("id"); id != 0 {
			references[id] = reference
		}
	}
	for r, err := range c.List(ctx, "/api/admin/eventcategories", "eventcategories", nil) {
		if err != nil {
			return err
		}
		busy[r.ID("id")] = r["busy"] == true
	}
	from := listOf(bundle.Events)
	for r, err := range c.List(ctx, from.path, from.part, nil) {
		if err != nil {
			return err
		}
		row, known := b.rows.Of(r.Text("key"))
		if !known && (!busy[r.ID("category_id")] || !elsewhere(r.ID("id"))) {
			continue
		}
		starts, err := wiretime.Parse(r.Text("starts_at"))
		ends, failed := wiretime.Parse(r.Text("ends_at"))
		if err = cmp.Or(err, failed); err != nil {
			return err
		}
		at := booking(len(b.events))
		if !known {
			b.events = append(b.events, event{starts: starts.Unix(), ends: ends.Unix(), line: r.ID("id")})
		}
		for _, commitment := range r.Records("commitments") {
			element, has := references[commitment.ID("element_id")]
			rejected := commitment.Text("status") == "rejected"
			switch {
			case !has:
			case known && rejected:
				b.rejected[rejection{row, element}] = true
			case !known && !rejected:
				b.add(element, commitment.ID("request_id") != 0, at)
			}
		}
	}
	return nil
}

// clashes are those of rows, in the order of their lines.
func (b *bookings) clashes() (found []clash) {
	for element, all := range b.of {
		all = slices.DeleteFunc(all, func(at booking) bool {
			return at.undecided() && b.rejected[rejection{int(at.event()), element}]
		})
		slices.SortFunc(all, func(x, y booking) int {
			one, other := b.events[x.event()], b.events[y.event()]
			return cmp.Or(cmp.Compare(one.starts, other.starts), cmp.Compare(other.ends, one.ends),
				cmp.Compare(x.event(), y.event()))
		})
		b.of[element] = all
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
			if len(found) >= maxClashes {
				break
			}
			found = append(found, b.among(name, at.event(), all[i+1:])...)
			for group, days := range through {
				found = append(found, b.within(name, at.event(), group, days, latest[group])...)
			}
		}
	}
	slices.SortFunc(found, func(x, y clash) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.element, y.element),
			cmp.Compare(b.from(x), b.from(y)), cmp.Compare(x.other, y.other))
	})
	return found
}

// latest is the latest end of an element's bookings up to each.
func (b *bookings) latest(element string) []int64 {
	ends, end := make([]int64, len(b.of[element])), int64(0)
	for i, at := range b.of[element] {
		end = max(end, b.events[at.event()].ends)
		ends[i] = end
	}
	return ends
}

// among are the clashes of a booking with later ones of the same element.
func (b *bookings) among(element string, at int32, later []booking) (found []clash) {
	for _, other := range later {
		if b.events[other.event()].starts >= b.events[at].ends {
			break
		}
		if meet(b.events[at], b.events[other.event()]) {
			found = append(found, b.clash(element, at, other.event())...)
		}
	}
	return found
}

// within are the clashes of an element's booking with those of a group that it belongs to on these days.
func (b *bookings) within(
	element string, at int32, group string, days []wiretime.Days, latest []int64,
) (found []clash) {
	all, of := b.of[group], b.events[at]
	for i := sort.Search(len(all), func(i int) bool { return latest[i] >= of.starts }); i < len(all); i++ {
		other := b.events[all[i].event()]
		if other.starts >= of.ends && other.starts > of.starts {
			break
		}
		if !meet(of, other) {
			continue
		}
		common := b.zone.Days(time.Unix(max(of.starts, other.starts), 0), time.Unix(min(of.ends, other.ends), 0))
		if slices.ContainsFunc(days, common.Overlaps) {
			found = append(found, b.clash(element, at, all[i].event())...)
		}
	}
	return found
}

// clash is the one of two bookings, where they are of two events and one of them is a row. Of two rows it is the later
// one's.
func (b *bookings) clash(element string, x, y int32) []clash {
	row, other := max(x, y), min(x, y)
	if b.events[row].file == "" {
		row, other = other, row
	}
	if row == other || b.events[row].file == "" {
		return nil
	}
	return []clash{{element, row, other}}
}

// meet says whether two events go on at the same time. An event without a duration meets what goes on at its time.
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
	always := []wiretime.Days{{First: wiretime.FirstDay, Last: wiretime.LastDay}}
	found := map[string][]wiretime.Days{}
	var climb func(member string, days []wiretime.Days, above []string)
	climb = func(member string, days []wiretime.Days, above []string) {
		for _, m := range b.groups[member] {
			on := wiretime.IntersectDays(m.days, days)
			if len(on) == 0 || slices.Contains(above, m.group) || m.group == element {
				continue
			}
			found[m.group] = wiretime.MergeDays(slices.Concat(found[m.group], on))
			climb(m.group, on, append(slices.Clip(above), m.group))
		}
	}
	climb(element, always, nil)
	return found
}
