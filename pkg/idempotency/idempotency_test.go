package idempotency_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func TestDecisionsPart1_AKeyIsOfOneUserAndOnePath(t *testing.T) {
	first := idempotency.New(1, "POST /api/events", "k", []byte("{}"))
	for name, other := range map[string]idempotency.Key{
		"user": idempotency.New(2, "POST /api/events", "k", []byte("{}")),
		"path": idempotency.New(1, "POST /api/events/1/add", "k", []byte("{}")),
		"key":  idempotency.New(1, "POST /api/events", "l", []byte("{}")),
	} {
		if other.ID == first.ID {
			t.Errorf("another %s is the same key", name)
		}
	}
	errortest.Report(t, first.Repeats(idempotency.New(1, "POST /api/events", "k", []byte("{}"))), "the same request")
	other := idempotency.New(1, "POST /api/events", "k", []byte("{ }"))
	if err := first.Repeats(other); !problem.Is(err, problem.Conflict) {
		t.Errorf("another body: %v", err)
	}
}

func TestDecisionsPart1_WhatAKeyMayBe(t *testing.T) {
	for key, valid := range map[string]bool{
		"a": true, "!~": true, strings.Repeat("k", 255): true,
		"": false, strings.Repeat("k", 256): false, "a b": false, "é": false, "a\x7f": false, "\t": false,
	} {
		err := idempotency.CheckKey(key)
		if (err == nil) != valid || (err != nil && !problem.Is(err, problem.Malformed)) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestSweep_GoesOnAfterAFailureAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var ages []time.Duration
		forget := func(_ context.Context, before time.Time) error {
			ages = append(ages, time.Since(before))
			return errors.New("away")
		}
		done := make(chan error)
		go func() { done <- idempotency.Sweep(slog.New(slog.DiscardHandler), forget)(ctx) }()
		time.Sleep(11 * time.Minute)
		cancel()
		if err := <-done; err != nil || len(ages) != 2 || ages[0] != 24*time.Hour || ages[1] != 24*time.Hour {
			t.Errorf("%v, %v", ages, err)
		}
	})
}
