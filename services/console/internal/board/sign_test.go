package board_test

import (
	"testing"

	"github.com/belfry-schools/belfry/services/console/internal/board"
)

func TestNewSign_SaysWhatIsNowAndNext(t *testing.T) {
	hall := board.Thing{Name: "Hall"}
	for i, times := range [][2]string{{"09:00", "09:50"}, {"11:10", "12:00"}, {"13:00", "14:00"}, {"14:00", "15:00"},
		{"15:00", "16:00"}} {
		hall.Bookings = append(hall.Bookings, board.Booking{Event: int64(i + 1), Starts: at(t, "2026-11-24 "+times[0]),
			Ends: at(t, "2026-11-24 "+times[1])})
	}
	hall.Bookings = append(hall.Bookings,
		board.Booking{Event: 6, State: "rejected", Starts: at(t, "2026-11-24 09:00"), Ends: at(t, "2026-11-24 18:00")},
		board.Booking{Event: 7, Starts: at(t, "2026-11-25 09:00"), Ends: at(t, "2026-11-25 10:00")})
	for _, trial := range []struct {
		at, until string
		now, next int
	}{
		{"2026-11-24 08:59", "2026-11-24 09:00", 0, 3},
		{"2026-11-24 09:00", "2026-11-24 09:50", 1, 3},
		{"2026-11-24 09:50", "2026-11-24 11:10", 0, 3},
		{"2026-11-24 14:30", "2026-11-24 15:00", 1, 1},
		{"2026-11-24 16:00", "", 0, 0},
	} {
		s := board.NewSign(hall, london, at(t, trial.at))
		if len(s.Now) != trial.now || len(s.Next) != trial.next {
			t.Errorf("%s: now %v, next %v", trial.at, s.Now, s.Next)
		}
		if trial.until == "" != s.Until.IsZero() || trial.until != "" && !s.Until.Equal(at(t, trial.until)) {
			t.Errorf("%s: until %v, want %s", trial.at, s.Until, trial.until)
		}
	}
}

func TestNewSign_WhatGoesOnUntilTomorrowHasNoEnd(t *testing.T) {
	s := board.NewSign(board.Thing{Bookings: []board.Booking{{Starts: at(t, "2026-11-24 00:00"),
		Ends: at(t, "2026-11-25 00:00"), AllDay: true}}}, london, at(t, "2026-11-24 12:00"))
	if len(s.Now) != 1 || !s.Until.IsZero() {
		t.Errorf("%+v", s)
	}
}
