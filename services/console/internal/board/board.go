// Package board lays out what is booked of rooms, or of other things, against the hours of days: what is taken, and
// what is free.
package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Booking is an event at a thing, which it takes unless it is idle.
type Booking struct {
	Event        int64
	Title, Who   string // Who are the staff, "" for none
	State        string // of the commitment, such as requested
	AllDay, Idle bool
	Starts, Ends time.Time // Ends is exclusive
}

// Thing is a room, or whatever is booked, with its bookings in any order.
type Thing struct {
	ID       int64
	Name     string
	Bookings []Booking
}

// Free says whether nothing takes the thing in a time.
func (t Thing) Free(from, to time.Time) bool {
	return !slices.ContainsFunc(t.Bookings, func(b Booking) bool {
		return !b.Idle && b.State != "rejected" && b.Starts.Before(to) && b.Ends.After(from)
	})
}

// Options of a board. Of a day that has passed, and of the hours before Now, nothing is offered as free.
type Options struct {
	Zone wiretime.Zone
	Days wiretime.Days
	Now  time.Time
}

// Board is the whole layout. All its times are minutes since midnight by the zone's clock.
type Board struct {
	Opens, Closes int // full hours, the same for all rows and days
	Days          []wiretime.Day
	Groups        []Group
}

// Group are things whose names begin with the same word. That of the things which share none has no name, and is last.
type Group struct {
	Name string
	Rows []Row
}

// Row is a thing with a cell for each day of the board.
type Row struct {
	ID    int64
	Name  string
	Cells []Cell
}

// Cell is a day of a thing.
type Cell struct {
	Day   wiretime.Day
	Bars  []Bar  // in order of their start
	Full  bool   // taken through all of the board's hours
	Taken []Time // the bars that are not idle, joined where they touch
	Free  []Time // what is left between the board's hours, and at least shortest long
	Lanes int    // how many bars are beside each other, at least 1
}

// Piece is a booking, or a free time.
type Piece struct {
	Time
	Bar *Bar // nil: free
}

// Pieces are the bookings and the free times of the day, in order.
func (c Cell) Pieces() []Piece {
	var all []Piece
	for i, bar := range c.Bars {
		all = append(all, Piece{bar.Time, &c.Bars[i]})
	}
	for _, free := range c.Free {
		all = append(all, Piece{Time: free})
	}
	slices.SortStableFunc(all, func(a, b Piece) int { return cmp.Compare(a.From, b.From) })
	return all
}

// Bar is a booking on a day.
type Bar struct {
	Booking
	Time
	Lane int // from 1
}

// Time is a time of a day.
type Time struct{ From, To int }

// Clock writes a minute of the day, such as 09:50; the end of the day is 24:00.
func Clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// Starts is when the time begins, as Clock writes it.
func (t Time) Starts() string { return Clock(t.From) }

// Ends is when the time ends.
func (t Time) Ends() string { return Clock(t.To) }

// step is a column of the board, in minutes.
const step = 5

// Hours are those of the board, each an hour long.
func (b Board) Hours() []Time {
	var all []Time
	for from := b.Opens; from < b.Closes; from += 60 {
		all = append(all, Time{from, from + 60})
	}
	return all
}

// Place is the class of what has a time of the board. Style places it.
func (b Board) Place(t Time) string { return fmt.Sprintf("p%d-%d", t.From, t.To) }

func (b Board) rule(t Time) string {
	from, to := max(t.From, b.Opens)-b.Opens, min(t.To, b.Closes)-b.Opens
	return fmt.Sprintf(".%s{grid-column:%d/%d}", b.Place(t), from/step+1, max((to+step-1)/step, from/step+1)+1)
}

// Style is the style of all places of the board, in an order of their own.
func (b Board) Style() string {
	rules := map[string]bool{}
	for _, hour := range b.Hours() {
		rules[b.rule(hour)] = true
	}
	lanes := 1
	for _, g := range b.Groups {
		for _, r := range g.Rows {
			for _, c := range r.Cells {
				lanes = max(lanes, c.Lanes)
				for _, piece := range c.Pieces() {
					rules[b.rule(piece.Time)] = true
				}
				for _, taken := range c.Taken {
					rules[b.rule(taken)] = true
				}
			}
		}
	}
	style := fmt.Sprintf(".line{--columns:%d}", (b.Closes-b.Opens)/step)
	for lane := 2; lane <= lanes; lane++ {
		style += fmt.Sprintf(".lane%[1]d{grid-row:%[1]d}", lane)
	}
	return style + strings.Join(slices.Sorted(maps.Keys(rules)), "")
}

// The hours of a board with no bookings outside of them, and the shortest time that is offered as free, in minutes.
const (
	opens    = 8 * 60
	closes   = 17 * 60
	shortest = 15
	midnight = 24 * 60
)

// New lays out things in their order.
func New(things []Thing, o Options) Board {
	b := Board{Opens: opens, Closes: closes}
	for d := o.Days.First; d <= o.Days.Last; d++ {
		b.Days = append(b.Days, d)
	}
	rows := make([]Row, len(things))
	for i, thing := range things {
		rows[i] = Row{ID: thing.ID, Name: thing.Name, Cells: make([]Cell, len(b.Days))}
		for j, d := range b.Days {
			cell := &rows[i].Cells[j]
			cell.Day = d
			cell.Bars = bars(thing.Bookings, o.Zone, d)
			for _, bar := range cell.Bars {
				if !bar.Whole() {
					b.Opens, b.Closes = min(b.Opens, bar.From/60*60), max(b.Closes, (bar.To+59)/60*60)
				}
			}
		}
	}
	for _, row := range rows {
		for j := range row.Cells {
			row.Cells[j].fill(b.Opens, b.Closes, minute(o.Zone, o.Now, row.Cells[j].Day))
		}
	}
	b.Groups = group(rows)
	return b
}

// Whole says whether a bar is of the whole day, and so says nothing about a school's hours.
func (t Time) Whole() bool { return t.From == 0 && t.To == midnight }

// minute is the place of an instant in a day, from 0 to midnight.
func minute(zone wiretime.Zone, at time.Time, d wiretime.Day) int {
	return min(max(int(zone.Wall(at).Sub(d.Date())/time.Minute), 0), midnight)
}

// bars are those of a day, in lanes. Rejected commitments have none.
func bars(bookings []Booking, zone wiretime.Zone, d wiretime.Day) []Bar {
	var all []Bar
	for _, booking := range bookings {
		if booking.State == "rejected" || !zone.Days(booking.Starts, booking.Ends).Has(d) {
			continue
		}
		t := Time{minute(zone, booking.Starts, d), minute(zone, booking.Ends, d)}
		if booking.AllDay {
			t = Time{0, midnight}
		}
		// An hour that the clock shows twice may end before it begins, and a moment has no length.
		t.To = min(max(t.To, t.From+5), midnight)
		t.From = min(t.From, t.To-5)
		all = append(all, Bar{Booking: booking, Time: t})
	}
	slices.SortFunc(all, func(a, b Bar) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Event, b.Event))
	})
	var ends []int // of the last bar in each lane
	for i := range all {
		lane := slices.IndexFunc(ends, func(end int) bool { return end <= all[i].From })
		if lane < 0 {
			lane = len(ends)
			ends = append(ends, 0)
		}
		ends[lane], all[i].Lane = all[i].To, lane+1
	}
	return all
}

// fill adds what is taken and what is free between two hours. Nothing is free before a minute.
func (c *Cell) fill(opens, closes, before int) {
	c.Lanes = 1
	free := max(opens, (before+4)/5*5)
	for _, bar := range c.Bars {
		if c.Lanes = max(c.Lanes, bar.Lane); bar.Idle {
			continue
		}
		t := Time{max(bar.From, opens), min(bar.To, closes)}
		if last := len(c.Taken) - 1; last >= 0 && t.From <= c.Taken[last].To {
			c.Taken[last].To = max(c.Taken[last].To, t.To)
		} else {
			c.Taken = append(c.Taken, t)
		}
	}
	c.Full = slices.Contains(c.Taken, Time{opens, closes})
	for _, t := range append(slices.Clone(c.Taken), Time{closes, closes}) {
		if t.From-free >= shortest {
			c.Free = append(c.Free, Time{free, t.From})
		}
		free = max(free, t.To)
	}
}

// group puts rows whose names begin with the same word together, in the order of their first.
func group(rows []Row) (groups []Group) {
	of, words, others := map[string][]Row{}, []string(nil), Group{}
	for _, r := range rows {
		word, _, _ := strings.Cut(r.Name, " ")
		if of[word] == nil {
			words = append(words, word)
		}
		of[word] = append(of[word], r)
	}
	for _, word := range words {
		if len(of[word]) > 1 {
			groups = append(groups, Group{word, of[word]})
		} else {
			others.Rows = append(others.Rows, of[word]...)
		}
	}
	if len(others.Rows) > 0 {
		groups = append(groups, others)
	}
	return groups
}
