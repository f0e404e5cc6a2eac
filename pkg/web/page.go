package web

import (
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// The default and the largest number of records of a page (administration).
const (
	usualPage = 100
	maxPage   = 1000
)

// Page reads limit and after: at most that many records, after an id (0: from the start) from Next. Malformed when
// limit is not from 1 to 1,000 or after is not such a cursor.
func Page(c *fiber.Ctx) (after int64, limit int, err error) {
	if limit, err = Limit(c); err != nil {
		return 0, 0, err
	}
	_, err = ReadPlace(c, &after)
	return after, limit, err
}

// PageFrom is Page for a list in order of id that may begin at an id too, from_id.
func PageFrom(c *fiber.Ctx) (after int64, limit int, err error) {
	if after, limit, err = Page(c); err != nil || after > 0 {
		return after, limit, err
	}
	from, err := QueryID(c, "from_id")
	return max(from-1, 0), limit, err
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

// Limit reads the largest number of records wanted. Malformed when that is not a number from 1 to 1,000.
func Limit(c *fiber.Ctx) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return usualPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxPage {
		return 0, problem.New(problem.Malformed, "limit is not a number from 1 to %d", maxPage)
	}
	return limit, nil
}

// Next is NextPlace for a list in order of id: where the page after the record of that id begins; null for 0.
func Next(c *fiber.Ctx, id int64) Field {
	if id == 0 {
		return NextPlace(c)
	}
	return NextPlace(c, id)
}

// Link says in a Link header where there is more (RFC 8288): the same call with another value of a parameter, or
// without it for "".
func Link(c *fiber.Ctx, relation, parameter, value string) {
	var query fasthttp.Args
	c.Request().URI().QueryArgs().CopyTo(&query)
	if query.Del(parameter); value != "" {
		query.Set(parameter, value)
	}
	c.Set(fiber.HeaderLink, "<"+c.Path()+"?"+query.String()+`>; rel="`+relation+`"`)
}

// LinkNext is Link to the next page; nothing after the last one.
func LinkNext(c *fiber.Ctx, next Field) {
	if after, more := next.Value.(string); more {
		Link(c, "next", "after", after)
	}
}

// Spelled returns a parameter of the query that has several spellings, under the name by which it was sent: the first
// one where none was. Malformed when two were sent with different values.
func Spelled(c *fiber.Ctx, spellings ...string) (name, value string, err error) {
	name = spellings[0]
	for _, spelling := range spellings {
		switch text := c.Query(spelling); {
		case text == "" || text == value:
		case value != "":
			return "", "", problem.New(problem.Malformed, "%s and %s differ", name, spelling)
		default:
			name, value = spelling, text
		}
	}
	return name, value, nil
}
