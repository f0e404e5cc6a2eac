package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// outcomes are the ways in which a request can be answered.
var outcomes = []string{"acknowledged", "503", "under way", "none", "other"}

// allKinds are the writes of all kinds together.
const allKinds = "all"

// answered is a kind of write and how its requests were answered.
type answered struct{ kind, outcome string }

// counts are the answers by kind of write. A write that is repeated counts each time. They are safe for concurrent use.
type counts struct {
	mu      sync.Mutex
	times   map[answered]int
	longest map[string]time.Duration // until any answer or the end of the connection, by kind
}

func newCounts() *counts {
	return &counts{times: map[answered]int{}, longest: map[string]time.Duration{}}
}

func (c *counts) answer(kind string, a servicetest.Answer, err error, took time.Duration) {
	outcome := "other"
	switch {
	case err != nil:
		outcome = "none"
	case a.Code == http.StatusOK || a.Code == http.StatusCreated:
		outcome = "acknowledged"
	case isUnavailable(a):
		outcome = "503"
	case isUnderWay(a):
		outcome = "under way"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range []string{kind, allKinds} {
		c.times[answered{k, outcome}]++
		c.longest[k] = max(c.longest[k], took)
	}
}
