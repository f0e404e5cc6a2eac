package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	pageLimit    = 100
	maxPageLimit = 1000
)

// Page is which part of a list in order of id is asked for (administration: lists).
type Page struct {
	After int64 // the id to go on after, 0 at the start
	Limit int
}

// ReadPage reads limit (100 when absent, at most 1,000) and after from the query; Malformed when they are no such numbers.
func ReadPage(c *fiber.Ctx) (Page, error) {
	page := Page{Limit: pageLimit}
	if text := c.Query("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 || limit > maxPageLimit {
			return Page{}, problem.New(problem.Malformed, "limit is not a number from 1 to %d", maxPageLimit)
		}
		page.Limit = limit
	}
	if text := c.Query("after"); text != "" {
		after, ok := ParseID(text)
		if !ok {
			return Page{}, problem.New(problem.Malformed, "after is not what an answer gave as next")
		}
		page.After = after
	}
	return page, nil
}

// Next is the last part of a page's answer: where the next page begins, null after the last one.
func Next(after int64) Part {
	if after == 0 {
		return Part{"next", nil}
	}
	return Part{"next", after}
}
