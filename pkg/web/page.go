package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// How many records a page of a list has, when the request does not say and at most (administration).
const (
	usualPage = 100
	maxPage   = 1000
)

// Page reads which part of a list is asked for: limit records at most, those after the id in after (0: from the
// start), which is what Next gave before. Malformed when limit is not from 1 to 1,000 or after is an invalid id.
func Page(c *fiber.Ctx) (after int64, limit int, err error) {
	if limit, err = Limit(c); err != nil {
		return 0, 0, err
	}
	if after, err = QueryID(c, "after"); err != nil {
		return 0, 0, err
	}
	return after, limit, nil
}

// QueryID reads an id from the query, 0 when there is none. Malformed when it is invalid.
func QueryID(c *fiber.Ctx, name string) (int64, error) {
	text := c.Query(name)
	if text == "" {
		return 0, nil
	}
	id, ok := ParseID(text)
	if !ok {
		return 0, problem.New(problem.Malformed, "%s is not an id", name)
	}
	return id, nil
}

// Limit reads how many records are asked for at most. Malformed when that is not a number from 1 to 1,000.
func Limit(c *fiber.Ctx) (int, error) { return LimitUpTo(c, maxPage) }

// LimitUpTo is Limit for a list whose pages have so many records at most, 100 or more.
func LimitUpTo(c *fiber.Ctx, most int) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return usualPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > most {
		return 0, problem.New(problem.Malformed, "limit is not a number from 1 to %d", most)
	}
	return limit, nil
}

// Next is the field of a list's answer that says where the next page begins: null after the last one, for 0.
func Next(id int64) Field {
	if id == 0 {
		return Field{"next", nil}
	}
	return Field{"next", id}
}
