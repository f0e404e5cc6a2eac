package web

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
)

// cursors are a route's places in its list, in the form that clients keep. Each is sealed for the user, the path and
// the other parameters of the request, so that it reveals nothing, and can't be forged or used elsewhere.
type cursors struct {
	box   sealed.Box
	paged bool     // the route has any
	query []string // the parameters that choose what is in the list
}

func cursorsOf(box sealed.Box, r Route) cursors {
	k := cursors{box: box}
	for name := range strings.FieldsSeq(r.Reads.Query) {
		switch name {
		case "after":
			k.paged = true
		case "limit":
		default:
			k.query = append(k.query, name)
		}
	}
	return k
}

func (k cursors) context(c *fiber.Ctx) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %q", Principal(c).UserID, c.Path())
	for _, name := range k.query {
		fmt.Fprintf(&b, " %s=%q", name, c.Query(name))
	}
	return b.String()
}

// number is the size in bytes of a place's number in a cursor.
const number = 8

// NextPlace is the field of a list's answer that says where the next page begins: a cursor, from which ReadPlace reads
// the numbers of the place; null after the last page, for none.
func NextPlace(c *fiber.Ctx, place ...int64) Field {
	if len(place) == 0 {
		return Field{"next", nil}
	}
	k, _ := c.Locals(cursorsKey).(cursors)
	text := make([]byte, 0, len(place)*number)
	for _, n := range place {
		text = binary.BigEndian.AppendUint64(text, uint64(n))
	}
	return Field{"next", k.box.Seal(text, k.context(c))}
}

// ReadPlace reads the numbers of the place in after, false where there is none. Malformed unless NextPlace made it for
// this user and this query.
func ReadPlace(c *fiber.Ctx, place ...*int64) (given bool, err error) {
	text := c.Query("after")
	if text == "" {
		return false, nil
	}
	var opened []byte
	k, ok := c.Locals(cursorsKey).(cursors)
	if ok {
		opened, ok = k.box.Open(text, k.context(c))
	}
	if !ok || len(opened) != len(place)*number {
		return false, problem.New(problem.Malformed, "invalid cursor")
	}
	for i, n := range place {
		*n = int64(binary.BigEndian.Uint64(opened[i*number:]))
	}
	return true, nil
}
