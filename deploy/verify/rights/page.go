package rights

import (
	"fmt"
	"strings"
)

const preface = `# Who may do what

In short, a user may do what these permissions allow, and sees what its kind sees ([privacy.md](privacy.md)):

| permission | allows |
|---|---|
| ` + "`can_api`" + ` | to log in to the interface; without it nobody gets a session |
| ` + "`can_add_events`" + ` | to create events, and to change and delete one's own |
| ` + "`can_add_notes`" + ` | to write notes on events |
| ` + "`edit_all_events`" + ` | to change and delete all events that one sees, and to add elements to them |
| ` + "`privileged`" + ` | to use privileged categories |
| ` + "`can_su`" + ` | to switch to another user, such as a script does; to an admin or an administrator of a school only an admin |
| ` + "`admin`" + ` | all of these, and to administer everything; not to decide for an element, or to change another's note |
| ` + "`admin_of`" + ` | to administer what belongs to these schools, and to decide on what users of other schools book of it |
| being an element's administrator | to decide on commitments and requests of this element |

Below is every route of the interface, for every kind of user, with the answer. The table is written by hand
([table.txt](../deploy/verify/rights/table.txt)), from the contract and the decisions. The conformance suite
([conformance.md](conformance.md)) asks a running Belfry for every answer in it, GET also as HEAD, and looks that a
refusal changes nothing and says nothing. A route without a row fails, and so does a row without a route. This page is
generated (` + "`make gen`" + `).

| kind | who |
|---|---|
| none | has no session |
| guest, pupil, staff | a user of that kind with ` + "`can_api`" + ` and no other permission; each one below is staff |
| adder | has ` + "`can_add_events` and `can_add_notes`" + ` |
| editor, privileged, su, admin | has ` + "`edit_all_events`, `privileged`, `can_su`, `admin`" + ` |
| switched | is somebody with ` + "`can_su`" + ` who has switched to staff |
| keeper | administers the calendar and the minibuses of every event here |
| head | administers a school, and may do no more than staff otherwise |
| owner | owns an event and a note, and may make no others |
| deactivated | has a session from before |

Pupils and guests are as the settings have them by default: [privacy.md](privacy.md) says who sees what.

Every kind has an event and a note of its own. ` + "`+`" + ` is a list that shows the record in question, ` + "`-`" +
	` one that does not.
`

// Page returns docs/rights.md.
func Page(rows []Row) string {
	var page strings.Builder
	page.WriteString(preface)
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
