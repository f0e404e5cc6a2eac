package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// membersMethods are those of the members of a group.
const membersMethods = "GET, HEAD, POST"

// members answers GET /api/admin/elements/ID/members: the group's own members with their days, those of the day in on where given; with
// nested=true, the people and things in the group on that day, or today. A read of the group, one of its memberships or one for each level
// of nesting, and one of the elements shown.
func (h handlers) members(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	after, limit, err := web.Page(c)
	if err != nil {
		return err
	}
	on, err := queryDay(c, "on")
	if err != nil {
		return err
	}
	if c.Query("nested") == "true" {
		all, next, err := h.elements.PeopleAndThings(c.UserContext(), id, on, after, limit)
		if err != nil {
			return allowing(c, err, membersMethods)
		}
		return web.OK(c, web.Field{Name: "members", Value: insidesOf(all)}, web.Next(next))
	}
	found, next, err := h.elements.Members(c.UserContext(), id, on, after, limit)
	if err != nil {
		return allowing(c, err, membersMethods)
	}
	return web.OK(c, web.Field{Name: "members", Value: membershipsOf(found)}, web.Next(next))
}

// addMembers answers POST /api/admin/elements/ID/members. A read of the group, one of the elements, one of the memberships, and at most
// a block of ids, an insert and a bulk write.
func (h handlers) addMembers(c *fiber.Ctx) error {
	id, err := web.PathID(c, "id")
	if err != nil {
		return err
	}
	members, err := readMembers(c)
	if err != nil {
		return err
	}
	members, err = h.elements.AddMembers(c.UserContext(), id, members)
	if problem.Is(err, problem.Invalid) {
		return web.InvalidRecord(c, "members", membershipsOf(members))
	}
	if err != nil {
		return allowing(c, err, membersMethods)
	}
	return web.Answer(c, fiber.StatusCreated, "Created", web.Field{Name: "members", Value: membershipsOf(members)})
}

// readMembers reads the body's members; faults of their fields stay with them.
func readMembers(c *fiber.Ctx) ([]element.Member, error) {
	body, err := web.Body(c)
	if err != nil {
		return nil, err
	}
	var lines []json.RawMessage
	if json.Unmarshal(body["members"], &lines) != nil || lines == nil {
		return nil, problem.New(problem.Malformed, "members is missing")
	}
	if len(lines) > element.MaxMembers {
		return nil, problem.New(problem.Malformed, "more than %d members", element.MaxMembers)
	}
	members := make([]element.Member, len(lines))
	for i, line := range lines {
		fields, err := web.ParseObject(line)
		if err != nil {
			return nil, problem.New(problem.Malformed, "members holds what is not an object")
		}
		faults := problem.Fields{}
		members[i] = element.Member{Days: readDays(fields, faults), Faults: faults}
		if member := fields.ID("element_id", faults); member != nil {
			members[i].ElementID = *member
		}
	}
	return members, nil
}

// readDays reads first_day and last_day, each open when absent.
func readDays(fields web.Object, faults problem.Fields) wiretime.Days {
	days := wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}
	read := func(name string, day *wiretime.Day) {
		text := fields.Text(name, faults)
		if text == nil || *text == "" {
			return
		}
		parsed, err := wiretime.ParseDay(*text)
		if err != nil {
			faults.Add(name, "is not a date")
			return
		}
		*day = parsed
	}
	read("first_day", &days.First)
	read("last_day", &days.Last)
	return days
}

// endMembership answers DELETE /api/admin/elements/ID/members/ELEMENT_ID. A read of the group, one of the membership and one versioned write.
func (h handlers) endMembership(c *fiber.Ctx) error {
	id, member, err := pathIDs(c, "member")
	if err != nil {
		return err
	}
	from, err := queryDay(c, "from")
	if err != nil {
		return err
	}
	if err := h.elements.EndMembership(c.UserContext(), id, member, from); err != nil {
		return allowing(c, err, fiber.MethodDelete)
	}
	return web.OK(c)
}

// queryDay reads a day of the query, nil when absent.
func queryDay(c *fiber.Ctx, name string) (*wiretime.Day, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	day, err := wiretime.ParseDay(text)
	if err != nil {
		return nil, problem.New(problem.Malformed, "%s is not a date (YYYY-MM-DD)", name)
	}
	return &day, nil
}
