package api

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/service/names"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestEveryPublicPathLiesInTheServicesRows(t *testing.T) {
	servicetest.RoutedTo(t, names.Console, (handlers{}).public(), nil)
}

func TestLocal_OnlyPathsOfThisAddress(t *testing.T) {
	for to, want := range map[string]string{
		"/week/5?date=2026-11-24": "/week/5?date=2026-11-24", "": "/", "https://elsewhere.example/": "/",
		"//elsewhere.example": "/", `/\elsewhere.example`: "/", "/\n": "/", "week": "/",
		"/api/login?uuid=x": "/", "/%61pi/logout": "/", "/x/..//api/logout": "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q: %q", to, got)
		}
	}
}

func TestReadIDs_EachOnceAndABound(t *testing.T) {
	if ids, err := readIDs("5, 7,,5"); err != nil || joinIDs(ids) != "5,7" {
		t.Errorf("%v, %v", ids, err)
	}
	for _, text := range []string{"", "0", "-1", "x", "1,x", "1,2,3,4,5,6,7,8,9"} {
		if ids, err := readIDs(text); err == nil {
			t.Errorf("%q passes as %v", text, ids)
		}
	}
}

func TestTimes_WhatTheInterfaceIsGiven(t *testing.T) {
	timed := times{Title: "Maths", Kind: 2, Date: "2026-11-24", From: "09:00", To: "09:50"}.fields()
	if timed["starts_at_text"] != "2026-11-24 09:00" || timed["ends_at_text"] != "2026-11-24 09:50" {
		t.Errorf("%v", timed)
	}
	if open := (times{Date: "2026-11-24"}).fields(); open["starts_at_text"] == "2026-11-24 " ||
		open["ends_at_text"] == "2026-11-24 " {
		t.Errorf("an event without times is at midnight: %v", open)
	}
	night := times{Date: "2026-11-24", From: "22:00", To: "02:00", Last: "2026-11-25"}.fields()
	if night["ends_at_text"] != "2026-11-25 02:00" {
		t.Errorf("%v", night)
	}
	days := times{Date: "2026-11-24", Last: "2026-11-25", AllDay: true}.fields()
	if days["starts_at_text"] != "2026-11-24" || days["ends_at_text"] != "2026-11-25" {
		t.Errorf("%v", days)
	}
}
