package board_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/board"
)

var london = func() wiretime.Zone {
	zone, err := wiretime.LoadZone("Europe/London")
	if err != nil {
		panic(err)
	}
	return zone
}()

func day(t *testing.T, text string) wiretime.Day {
	t.Helper()
	d, err := wiretime.ParseDay(text)
	errortest.None(t, err)
	return d
}

// at is an instant by London's clock; of an hour that comes twice, the first.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	clock, err := time.Parse("2006-01-02 15:04", text)
	errortest.None(t, err)
	return london.FromWall(clock)
}

// on is a board of one thing with bookings such as "09:00-09:50" on a day, as it is at midnight.
func on(t *testing.T, date string, times ...string) board.Board {
	t.Helper()
	d := day(t, date)
	thing := board.Thing{ID: 7, Name: "M4"}
	for i, text := range times {
		from, to, _ := strings.Cut(text, "-")
		thing.Bookings = append(thing.Bookings, board.Booking{
			Event: int64(i + 1), Starts: at(t, date+" "+from), Ends: at(t, date+" "+to)})
	}
	return board.New([]board.Thing{thing}, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d},
		Now: london.Midnight(d)})
}

func cell(b board.Board) board.Cell { return b.Groups[0].Rows[0].Cells[0] }

func TestNew_WhatIsBetweenBookingsIsFree(t *testing.T) {
	b := on(t, "2026-11-24", "11:00-12:00", "09:00-09:50", "09:50-10:30", "12:10-17:00")
	c := cell(b)
	valuetest.List(t, c.Free, []board.Time{{480, 540}, {630, 660}},
		"free: ten minutes between two bookings are too short")
	valuetest.List(t, c.Taken, []board.Time{{540, 630}, {660, 720}, {730, 1020}}, "taken")
	if full := cell(on(t, "2026-11-24", "08:00-12:00", "12:00-17:00")).Full; c.Full || !full {
		t.Errorf("taken all day: %v, and with gaps %v", full, c.Full)
	}
	if b.Opens != 480 || b.Closes != 1020 || c.Lanes != 1 {
		t.Errorf("%d to %d, %d lanes", b.Opens, b.Closes, c.Lanes)
	}
}

func TestNew_AnIdleBookingTakesNothing(t *testing.T) {
	d := day(t, "2026-11-24")
	from, to := london.Bounds(wiretime.Days{First: d - 1, Last: d + 1})
	thing := board.Thing{Name: "Hall", Bookings: []board.Booking{{Event: 1, Starts: from, Ends: to, Idle: true}}}
	c := cell(board.New([]board.Thing{thing}, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d}}))
	free := []board.Time{{480, 1020}}
	if len(c.Bars) != 1 || len(c.Taken) > 0 || !slices.Equal(c.Free, free) || !thing.Free(from, to) {
		t.Errorf("%+v", c)
	}
	thing.Bookings[0].Idle = false
	if thing.Free(from, to) {
		t.Error("a booking takes nothing")
	}
}

func TestNew_HoursReachAsFarAsTheBookings(t *testing.T) {
	b := on(t, "2026-11-24", "06:40-07:10", "19:00-20:05")
	if b.Opens != 360 || b.Closes != 21*60 {
		t.Errorf("%d to %d", b.Opens, b.Closes)
	}
}

func TestNew_BookingsAtOnceAreInLanes(t *testing.T) {
	c := cell(on(t, "2026-11-24", "09:00-11:00", "09:30-10:00", "10:00-12:00", "11:00-12:00"))
	var lanes []int
	for _, bar := range c.Bars {
		lanes = append(lanes, bar.Lane)
	}
	if want := []int{1, 2, 2, 1}; !slices.Equal(lanes, want) || c.Lanes != 2 {
		t.Errorf("lanes %v of %d, want %v", lanes, c.Lanes, want)
	}
}

func TestNew_NothingIsFreeInThePast(t *testing.T) {
	d := day(t, "2026-11-24")
	b := board.New([]board.Thing{{Name: "Hall"}}, board.Options{Zone: london,
		Days: wiretime.Days{First: d - 1, Last: d + 1}, Now: at(t, "2026-11-24 10:03")})
	for i, want := range [][]board.Time{nil, {{605, 1020}}, {{480, 1020}}} {
		valuetest.List(t, b.Groups[0].Rows[0].Cells[i].Free, want, "day %d: free", i)
		if b.Groups[0].Rows[0].Cells[i].Full {
			t.Errorf("day %d: a day without a booking is taken all day", i) // as it was where it is over
		}
	}
}

func TestNew_ABookingOverNightIsInBothDays(t *testing.T) {
	d := day(t, "2026-11-24")
	b := board.New([]board.Thing{{Name: "Hall", Bookings: []board.Booking{
		{Event: 1, Starts: at(t, "2026-11-24 22:00"), Ends: at(t, "2026-11-25 07:00")},
		{Event: 2, Starts: at(t, "2026-11-26 00:00"), Ends: at(t, "2026-11-27 00:00"), AllDay: true},
		{Event: 3, Starts: at(t, "2026-11-24 09:00"), Ends: at(t, "2026-11-24 10:00"), State: "rejected"},
	}}}, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d + 2}, Now: at(t, "2026-01-01 00:00")})
	var got []board.Time
	for _, c := range b.Groups[0].Rows[0].Cells {
		for _, bar := range c.Bars {
			got = append(got, bar.Time)
		}
	}
	valuetest.List(t, got, []board.Time{{22 * 60, 1440}, {0, 420}, {0, 1440}}, "bars")
	if last := b.Groups[0].Rows[0].Cells[2]; len(last.Free) > 0 {
		t.Errorf("beside a booking of the whole day, %v is free", last.Free)
	}
}

func TestNew_OnTheDayTheClockIsSetBackABarHasALength(t *testing.T) {
	d := day(t, "2026-10-25")
	first := at(t, "2026-10-25 01:50")
	b := board.New([]board.Thing{{Name: "Hall", Bookings: []board.Booking{
		{Event: 1, Starts: first, Ends: first.Add(20 * time.Minute)}, // 01:50 to 01:10 by the clock
		{Event: 2, Starts: at(t, "2026-10-25 23:58"), Ends: at(t, "2026-10-25 23:58")},
	}}}, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d}, Now: london.Midnight(d)})
	for _, bar := range cell(b).Bars {
		if bar.From < 0 || bar.To > 1440 || bar.To-bar.From < 5 {
			t.Errorf("a bar from %d to %d", bar.From, bar.To)
		}
	}
}

func TestNew_RowsAreGroupedByTheFirstWordThatTheyShare(t *testing.T) {
	d := day(t, "2026-11-24")
	var things []board.Thing
	for _, name := range []string{"Art 1", "Great Hall", "Art 2", "Science 1", "Library", "Science 2"} {
		things = append(things, board.Thing{Name: name})
	}
	b := board.New(things, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d}})
	var got []string
	for _, g := range b.Groups {
		for _, r := range g.Rows {
			got = append(got, g.Name+": "+r.Name)
		}
	}
	want := []string{
		"Art: Art 1", "Art: Art 2", "Science: Science 1", "Science: Science 2", ": Great Hall", ": Library",
	}
	valuetest.List(t, got, want)
	empty := board.New(nil, board.Options{Zone: london, Days: wiretime.Days{First: d, Last: d}})
	if len(empty.Groups) > 0 {
		t.Errorf("a board of nothing has %v", empty.Groups)
	}
}
