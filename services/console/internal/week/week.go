// Package week lays events out on a grid of days or of people and things: where each one stands, and how many share the
// width. It knows neither HTML nor HTTP.
package week

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Step is the height of a row of the grid.
const Step = 5 * time.Minute

const (
	// rowsOfHour is how many rows an hour has, and rowsOfDay a day by the clock.
	rowsOfHour = int(time.Hour / Step)
	rowsOfDay  = 24 * rowsOfHour
	// leastRows is the height of a short event, so that its title can be read.
	leastRows = 4
	// The hours that are shown where there is no event.
	usualFirst, usualLast = 8, 16
)

// Item is something on the grid.
type Item struct {
	Event        int64
	Title        string
	Starts, Ends time.Time
	AllDay       bool
	Status       string // of the commitment
	Through      string // name of the group by which it concerns the column's person; "" for none
	Place        string // where and with whom, for people
	Notes        bool   // it has notes that the visitor sees
	Category     int64
}

// hues are those that categories are told apart by.
const hues = 12

// Hue is the colour of the item's category, the same everywhere; a sign beside others, never the only one.
func (i Item) Hue() int64 { return i.Category % hues }

// Column is one of the grid: a person or thing on a day.
type Column struct {
	Want
	AllDay []Item
	Blocks []Block // of timed items, from morning to evening
	Now    int     // row of the present time; 0 where it is not shown
}

// Empty says whether nothing is in the column.
func (c Column) Empty() bool { return len(c.AllDay)+len(c.Blocks) == 0 }

// Block is a run of items that overlap, each with the next.
type Block struct {
	First, Last int // rows of the column, from 1; Last is exclusive
	Lanes       int // how many stand side by side
	Items       []Placed
}

// Placed is a timed item with its place in a block.
type Placed struct {
	Item
	First, Last int // rows of the block, from 1; Last is exclusive
	Lane        int // from 1
}

// Grid is the whole.
type Grid struct {
	Columns   []Column
	FirstHour int // the first that is shown
	LastHour  int // exclusive, 24 at most
	Rows      int // of every column
	Hours     []int
}

// Want is a column that is to be made, with what touches it.
type Want struct {
	Day     wiretime.Day
	Element int64
	Name    string // of the element
	Items   []Item
}

// Lay makes the grid. An item is in each column whose day it touches; its rows are those of the zone's clock, so on the
// day when the clock is set back, what happens in the hour that comes twice stands at one place. What ends before it
// begins by the clock, or at once, has the least height.
func Lay(zone wiretime.Zone, wanted []Want, now time.Time) Grid {
	g := Grid{FirstHour: usualFirst, LastHour: usualLast, Columns: make([]Column, len(wanted))}
	spans := make([][]Placed, len(wanted)) // of each column
	first, last := rowsOfDay, 0
	for i, w := range wanted {
		c := &g.Columns[i]
		c.Want = w
		for _, item := range w.Items {
			if !zone.Days(item.Starts, item.Ends).Has(w.Day) {
				continue
			}
			if item.AllDay {
				c.AllDay = append(c.AllDay, item)
				continue
			}
			from, to := rows(zone, w.Day, item)
			first, last = min(first, from), max(last, to)
			spans[i] = append(spans[i], Placed{Item: item, First: from, Last: to})
		}
	}
	if last > 0 {
		g.FirstHour, g.LastHour = first/rowsOfHour, (last+rowsOfHour-1)/rowsOfHour
	}
	g.Rows = (g.LastHour - g.FirstHour) * rowsOfHour
	for hour := g.FirstHour; hour < g.LastHour; hour++ {
		g.Hours = append(g.Hours, hour)
	}
	at := row(zone, zone.DayOf(now), now)
	for i := range g.Columns {
		c := &g.Columns[i]
		c.Blocks = blocks(spans[i], g.FirstHour*rowsOfHour)
		if c.Day == zone.DayOf(now) && at >= g.FirstHour*rowsOfHour && at < g.LastHour*rowsOfHour {
			c.Now = at - g.FirstHour*rowsOfHour + 1
		}
	}
	return g
}

// rows are those of an item on a day, from 0; the second is exclusive.
func rows(zone wiretime.Zone, day wiretime.Day, item Item) (from, to int) {
	from, to = row(zone, day, item.Starts), row(zone, day, item.Ends)
	if rest := zone.Wall(item.Ends).Sub(day.Date()) % Step; to < rowsOfDay && rest > 0 {
		to++
	}
	from = min(from, rowsOfDay-leastRows)
	return from, min(max(to, from+leastRows), rowsOfDay)
}

// row is that of an instant on a day: 0 for what is before the day, rowsOfDay for what is after it.
func row(zone wiretime.Zone, day wiretime.Day, at time.Time) int {
	since := zone.Wall(at).Sub(day.Date())
	return min(max(int(since/Step), 0), rowsOfDay)
}

// blocks finds the runs of items that overlap, and gives each item the first lane that is free.
func blocks(spans []Placed, above int) []Block {
	slices.SortStableFunc(spans, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Event, b.Event))
	})
	var all []Block
	var free []int // the row from which each lane of the last block is free
	for _, s := range spans {
		if len(all) == 0 || s.First-above+1 >= all[len(all)-1].Last {
			all = append(all, Block{First: s.First - above + 1})
			free = nil
		}
		b := &all[len(all)-1]
		lane := slices.IndexFunc(free, func(row int) bool { return row <= s.First })
		if lane < 0 {
			lane = len(free)
			free = append(free, 0)
		}
		free[lane] = s.Last
		b.Last = max(b.Last, s.Last-above+1)
		b.Lanes = len(free)
		s.Lane, s.First, s.Last = lane+1, s.First-above+1-b.First+1, s.Last-above+1-b.First+1
		b.Items = append(b.Items, s)
	}
	return all
}

// Days are the days of the week that a day is in, from Monday on.
func Days(d wiretime.Day) []wiretime.Day {
	monday := d.AddDays(-(int(d.Date().Weekday()) + 6) % 7)
	days := make([]wiretime.Day, 7)
	for i := range days {
		days[i] = monday.AddDays(i)
	}
	return days
}

// WithoutEmptyWeekend leaves out Saturday and Sunday where nothing is on both.
func WithoutEmptyWeekend(zone wiretime.Zone, wanted []Want) []Want {
	for _, w := range wanted[min(5, len(wanted)):] {
		for _, item := range w.Items {
			if zone.Days(item.Starts, item.Ends).Has(w.Day) {
				return wanted
			}
		}
	}
	return wanted[:min(5, len(wanted))]
}
