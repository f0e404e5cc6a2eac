package rights

import (
	"fmt"
	"strings"

	"github.com/belfry-schools/belfry/pkg/principal"
)

const title = `# Who may do what

A user may do what its permissions allow, and sees what its kind sees ([privacy.md](privacy.md)).

## Permissions

| permission | a user who has it may |
|---|---|
`

const preface = `| ` + "`admin_of`" + ` | administer what belongs to these schools, and decide on bookings of it by users of other schools |
| being an element's administrator | decide on commitments and requests of this element |

Without ` + "`can_api`" + ` a user can't log in. ` + "`can_add_events`" + ` includes changing and deleting one's own events;
` + "`edit_all_events`" + ` covers the events that the user sees, and adding elements to them. Only an admin becomes an admin
or an administrator of a school. ` + "`admin`" + ` implies every other permission, but an admin may not decide for an
element, or change another's note.

## Routes

The table has every route of the interface, with the answer for every kind of user. It is written by hand
([table.txt](../test/rights/table.txt)), from the contract and the decisions. The conformance suite
([conformance.md](conformance.md)) asks a running Belfry for every answer in it, GET also as HEAD, and checks that a
refusal changes and shows nothing. A route without a row fails, and so does a row without a route. This page is
generated (` + "`make gen`" + `).

| kind | who |
|---|---|
| none | has no session |
| guest, pupil, staff | a user of that kind with ` + "`can_api`" + ` and no other permission; each one below is staff |
| adder | has ` + "`can_add_events` and `can_add_notes`" + ` |
| editor, privileged, su, admin | has ` + "`edit_all_events`, `privileged`, `can_su`, `admin`" + ` |
| switched | is a user with ` + "`can_su`" + ` who has switched to staff |
| keeper | administers the calendar and the minibuses of every event here |
| head | administers a school, and otherwise may do no more than staff |
| owner | owns an event and a note, and may make no more |
| deactivated | has a session from before |

For pupils and guests the default settings apply: [privacy.md](privacy.md) says who sees what.

Every kind has an event and a note of its own. ` + "`+`" + ` is a list that shows the record in question, ` + "`-`" +
	` one that does not.
`

// Page returns docs/rights.md.
func Page(rows []Row) string {
	var page strings.Builder
	page.WriteString(title)
	for _, permission := range principal.Table() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", permission.Name, permission.May)
	}
	page.WriteString(preface)
	page.WriteString(tokens())
	section := ""
	for _, r := range rows {
		if r.Section != section {
			section = r.Section
			title, more, _ := strings.Cut(section, ". ")
			fmt.Fprintf(&page, "\n## %s\n\n", strings.TrimSuffix(title, "."))
			if more != "" {
				fmt.Fprintf(&page, "%s\n\n", wrapped(more))
			}
			fmt.Fprintf(&page, "| call | of whom, or what | %s |\n|---|---|%s\n", strings.Join(kinds, " | "),
				strings.Repeat("---|", len(kinds)))
		}
		fmt.Fprintf(&page, "| `%s` | %s |", r.Route, r.Case)
		for _, kind := range kinds {
			fmt.Fprintf(&page, " %s |", r.Answers[kind])
		}
		page.WriteString("\n")
	}
	return page.String()
}

// wrapped returns a paragraph in lines of the length that Markdown has here.
func wrapped(text string) string {
	const columns = 116
	var page strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case length+1+len(word) > columns:
			page.WriteString("\n")
			length = 0
		default:
			page.WriteString(" ")
			length++
		}
		page.WriteString(word)
		length += len(word)
	}
	return page.String()
}
