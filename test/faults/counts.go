package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// answers are how the requests of one kind of write were answered. A write that is repeated counts each time.
type answers struct {
	done, unavailable, underWay, none, other int
	longest                                  time.Duration // until any answer or the end of the connection
}

// counts are the answers by kind of write. They are safe for concurrent use.
type counts struct {
	mu     sync.Mutex
	byKind map[string]*answers
}

func (c *counts) answer(kind string, a servicetest.Answer, err error, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKind == nil {
		c.byKind = map[string]*answers{}
	}
	k := c.byKind[kind]
	if k == nil {
		k = &answers{}
		c.byKind[kind] = k
	}
	k.longest = max(k.longest, took)
	switch {
	case err != nil:
		k.none++
	case a.Code == http.StatusOK || a.Code == http.StatusCreated:
		k.done++
	case isUnavailable(a):
		k.unavailable++
	case isUnderWay(a):
		k.underWay++
	default:
		k.other++
	}
}
