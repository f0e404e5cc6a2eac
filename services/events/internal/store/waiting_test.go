package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

func TestDecisionsPart5_WhatWaitsIsFoundWithoutReadingTheHistory(t *testing.T) {
	db, s := open(t)
	events := make([]event.Event, 3000)
	for i := range events {
		events[i] = lesson(int64(i + 1))
		if i%100 == 0 {
			events[i].Commitments[0].Status = event.Requested
		}
	}
	insert(t, s, events...)
	place := event.Place{Starts: events[500].Span.Starts, EventID: 501}
	since := place
	since.Since = place.Starts
	for name, filter := range map[string]bson.D{
		"states":              waitingFilter("commitment_states", []int64{11, 12, 21, 22}, event.Place{}),
		"states from a place": waitingFilter("commitment_states", []int64{11, 12, 21, 22}, place),
		"groups":              waitingFilter("outstanding_groups", []int64{501, 502}, event.Place{}),
		"states since":        waitingFilter("commitment_states", []int64{11, 12, 21, 22}, since),
		"groups from a place": waitingFilter("outstanding_groups", []int64{501, 502}, place),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "events"}, {Key: "filter", Value: filter},
				{Key: "sort", Value: oldestFirst}, {Key: "limit", Value: 102}})
		})
	}
	if n, err := db.Collection("events").CountDocuments(t.Context(),
		mongostore.Exists("commitment_states")); err != nil || n != 30 {
		t.Errorf("%d events have states, %v; want those that wait", n, err)
	}
}

// administrators answers what is administered, to every user.
type administrators []int64

func (administrators) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return fact.Surroundings{}, nil
}

func (administrators) Control(context.Context, fact.ControlQuestion) ([]fact.Control, error) {
	return nil, nil
}

func (administrators) Belonging(context.Context, fact.BelongingQuestion) ([]int64, error) {
	return nil, nil
}

func (a administrators) Administered(context.Context, fact.AdministeredQuestion) ([]fact.Element, error) {
	return sequence.Map(a, func(id int64) fact.Element {
		return fact.Element{Element: form.Element{ID: id}, Current: true}
	}), nil
}

func (a administrators) Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error) {
	return nil, nil
}

func (a administrators) Reaches(context.Context, fact.ReachesQuestion) ([]fact.ElementReaches, error) {
	return nil, nil
}

// waiter is an entry of the slow model of both listings.
type waiter struct {
	starts    time.Time
	event, id int64
}

func (w waiter) compare(v waiter) int {
	return slices.Compare([]int64{w.starts.Unix(), w.event, w.id}, []int64{v.starts.Unix(), v.event, v.id})
}

func TestDecisionsPart5_ListingsOfWhatWaitsAgreeWithASlowModel(t *testing.T) {
	_, s := open(t)
	var id int64
	rapid.Check(t, func(rt *rapid.T) {
		base := id * 10 // elements of this round alone
		mine := administrators{base + 1, base + 2}
		statuses := rapid.SliceOfNDistinct(rapid.SampledFrom(event.Statuses()), 1, 5, rapid.ID).Draw(rt, "statuses")
		var deciding, outstanding []waiter
		for range rapid.IntRange(0, 12).Draw(rt, "events") {
			id++
			e := event.Event{ID: id}
			e.Span.Starts = time.Date(2026, 9, 1+rapid.IntRange(0, 3).Draw(rt, "day"), 0, 0, 0, 0, time.UTC)
			e.Span.Ends = e.Span.Starts
			for n := range rapid.Int64Range(0, 4).Draw(rt, "commitments") {
				c := event.Commitment{ID: id*10 + 9 - n, ElementID: base + rapid.Int64Range(1, 3).Draw(rt, "element"),
					Status: rapid.SampledFrom(event.Statuses()).Draw(rt, "status")}
				e.Commitments = append(e.Commitments, c)
				if c.ElementID < base+3 && c.Status != event.Uncontrolled && slices.Contains(statuses, c.Status) {
					deciding = append(deciding, waiter{e.Span.Starts, id, c.ID})
				}
			}
			for n := range rapid.Int64Range(0, 3).Draw(rt, "requests") {
				r := event.Request{ID: id*10 + n, ElementID: base + 1 + n,
					Quantity: rapid.IntRange(1, 2).Draw(rt, "quantity")}
				e.Requests = append(e.Requests, r)
				allocated := rapid.IntRange(0, r.Quantity).Draw(rt, "allocated")
				for range allocated {
					e.Commitments = append(e.Commitments, event.Commitment{
						ID: -(id*100 + int64(len(e.Commitments))), ElementID: base + 3, Status: event.Uncontrolled,
						RequestID: r.ID,
					})
				}
				if r.ElementID < base+3 && allocated < r.Quantity {
					outstanding = append(outstanding, waiter{e.Span.Starts, id, r.ID})
				}
			}
			insert(t, s, e)
		}
		id++
		service := event.New(event.Options{
			Store: s, Elements: mine, Categories: schoolwide{}, Zone: timetest.London(t),
		})
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		check := func(name string, want []waiter, list func(event.Place) ([]waiter, event.Place, error)) {
			slices.SortFunc(want, waiter.compare)
			var got []waiter
			after := event.Place{}
			for {
				page, next, err := list(after)
				errortest.None(rt, err)
				got = append(got, page...)
				if next == (event.Place{}) {
					break
				}
				valuetest.MustSame(rt, len(page), limit,
					"%s: a page of %d, limit %d, and more to come", name, len(page), limit)
				after = next
			}
			valuetest.MustSame(rt, fmt.Sprint(got), fmt.Sprint(want), name)
		}
		check("commitments", deciding, func(after event.Place) (page []waiter, next event.Place, err error) {
			found, next, err := service.ListDecidable(t.Context(), principal.Principal{}, statuses, after, limit)
			for _, f := range found {
				page = append(page, waiter{f.Event.Span.Starts, f.Event.ID, f.Item.ID})
			}
			return page, next, err
		})
		check("requests", outstanding, func(after event.Place) (page []waiter, next event.Place, err error) {
			found, next, err := service.ListOutstanding(t.Context(), principal.Principal{}, after, limit)
			for _, f := range found {
				page = append(page, waiter{f.Event.Span.Starts, f.Event.ID, f.Item.ID})
			}
			return page, next, err
		})
	})
}
