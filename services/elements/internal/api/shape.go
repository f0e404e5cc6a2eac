package api

import (
	"encoding/json"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func listFormsOf(elements []element.Element) []form.Element {
	return sequence.Map(elements, func(e element.Element) form.Element { return e.ListForm() })
}

// The detail forms (contract 2.1, decisions part 3). Their keys are in the order of the fields. A field without a
// value is null.
type (
	detail struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		EntityType string `json:"entity_type"`
		EntityID   int64  `json:"entity_id"`
		Current    bool   `json:"current"`
		UUID       string `json:"uuid"`
	}
	staffDetail struct {
		detail
		Email    *string `json:"email"`
		Title    *string `json:"title"`
		Initials *string `json:"initials"`
		Forename *string `json:"forename"`
		Surname  *string `json:"surname"`
	}
	pupilDetail struct {
		detail
		Email     *string `json:"email"`
		Forename  *string `json:"forename"`
		Surname   *string `json:"surname"`
		KnownAs   *string `json:"known_as"`
		YearGroup *string `json:"year_group"`
		HouseName *string `json:"house_name"`
	}
	groupDetail struct {
		detail
		Description string `json:"description"`
		Members     int    `json:"members"`
		School      bool   `json:"school,omitempty"`
	}
	propertyDetail struct {
		detail
		MakePublic *bool `json:"make_public"`
	}
)

// detailOf returns the detail form of an element; only that of a group has members.
func detailOf(e element.Element, members int) any {
	d := detail{e.ID, e.Name, e.EntityType, e.EntityID, e.Current, e.UUID}
	f := e.Details
	switch e.EntityType {
	case form.Staff:
		return staffDetail{
			d, form.OrNull(f.Email), form.OrNull(f.Title), form.OrNull(f.Initials), form.OrNull(f.Forename),
			form.OrNull(f.Surname),
		}
	case form.Pupil:
		return pupilDetail{
			d, form.OrNull(f.Email), form.OrNull(f.Forename), form.OrNull(f.Surname),
			form.OrNull(f.KnownAs), form.OrNull(f.YearGroup), form.OrNull(f.HouseName),
		}
	case form.Group:
		return groupDetail{d, e.Description(), members, f.School}
	case form.Property:
		return propertyDetail{d, f.MakePublic}
	default:
		return d
	}
}

// adminForm is the administrators' form of an element: all fields that can be written. Those without a value are left
// out.
type adminForm struct {
	ID         *int64  `json:"id"` // null: never stored
	Key        string  `json:"key,omitempty"`
	Name       string  `json:"name"`
	EntityType string  `json:"entity_type"`
	EntityID   *int64  `json:"entity_id"`
	Current    bool    `json:"current"`
	UUID       *string `json:"uuid,omitempty"` // nil: a dry run that gives none
	element.Details
	Resource   *bool          `json:"resource,omitempty"` // of groups
	Controlled bool           `json:"controlled"`
	Valid      bool           `json:"valid"`
	Errors     problem.Fields `json:"errors,omitempty"`
}

func adminFormOf(e element.Element) adminForm {
	a := adminForm{
		ID: form.OrNull(e.ID), Key: e.Key, Name: e.Name, EntityType: e.EntityType, EntityID: form.OrNull(e.EntityID),
		Current: e.Current, UUID: &e.UUID, Details: e.Details, Controlled: len(e.Administrators) > 0, Valid: true,
	}
	if e.IsGroup() {
		a.Resource = &e.Details.Resource
	}
	return a
}

// membership is the administrators' form of a run of days of a membership; an open end is null.
type membership struct {
	ElementID *int64         `json:"element_id"`
	Element   *form.Element  `json:"element,omitempty"`
	FirstDay  *string        `json:"first_day"`
	LastDay   *string        `json:"last_day"`
	Valid     bool           `json:"valid"`
	Errors    problem.Fields `json:"errors,omitempty"`
}

func membershipOf(m element.Member) membership {
	shown := membership{
		ElementID: form.OrNull(m.ElementID), FirstDay: dayText(m.Days.First), LastDay: dayText(m.Days.Last),
		Valid: len(m.Faults) == 0, Errors: m.Faults,
	}
	if m.Element.ID != 0 {
		shown.Element = new(m.Element.ListForm())
	}
	return shown
}

func dayText(day wiretime.Day) *string {
	if day == wiretime.FirstDay || day == wiretime.LastDay {
		return nil
	}
	return new(day.String())
}

// nestedMember is the administrators' form of a person or thing that is in a group, directly or through other groups.
type nestedMember struct {
	ElementID int64        `json:"element_id"`
	Element   form.Element `json:"element"`
	Valid     bool         `json:"valid"`
}

func nestedMemberOf(m element.Member) nestedMember {
	return nestedMember{m.ElementID, m.Element.ListForm(), true}
}

// listed is the form of a commitment in an element's list (contract 4.1), with its event as events wrote it.
type listed struct{ *element.Commitment }

func (c listed) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), c.ID, 10)
	b = form.AppendText(append(b, `,"status":`...), c.Status)
	if c.Group != nil {
		b = form.AppendElement(append(b, `,"element":`...), new(c.Group.ListForm()))
	}
	b = form.AppendEventWith(append(b, `,"event":`...), c.Event, c.Staff, c.Locations)
	return append(form.AppendDecision(append(b, `,"valid":true`...), c.Decision), '}')
}

func listedOf(commitments []element.Commitment) []listed {
	forms := make([]listed, len(commitments))
	for i := range commitments {
		forms[i] = listed{&commitments[i]}
	}
	return forms
}

// timetable is the form of an element with its commitments, as its own list shows them.
type timetable struct{ element.Timetable }

func (t timetable) AppendJSON(b []byte) []byte {
	b = form.AppendElement(append(b, `{"element":`...), new(t.Element.ListForm()))
	b = append(b, `,"commitments":[`...)
	for i := range t.Commitments {
		if i > 0 {
			b = append(b, ',')
		}
		b = listed{&t.Commitments[i]}.AppendJSON(b)
	}
	return append(b, "]}"...)
}

// feed is the form of a feed. Its path is shown once, when it is created or renewed.
type feed struct {
	ID        *int64       `json:"id"` // null: never stored
	Name      string       `json:"name"`
	Element   form.Element `json:"element"`
	CreatedAt string       `json:"created_at"`
	Path      string       `json:"path,omitempty"`
	Valid     bool         `json:"valid"`
}

func (h handlers) feedOf(f element.Feed, e element.Element) feed {
	return feed{
		ID: form.OrNull(f.ID), Name: f.Name, Element: e.ListForm(), CreatedAt: h.zone.Format(f.Created), Valid: true,
	}
}

// interval is the form of an interval, whose end is exclusive.
type interval struct {
	StartsAt string `json:"starts_at"`
	EndsAt   string `json:"ends_at"`
}

// freeBusy is the form of an element with the times at which it is busy.
type freeBusy struct {
	Element form.Element `json:"element"`
	Busy    []interval   `json:"busy"`
}

func (h handlers) intervalsOf(intervals []element.Interval) []interval {
	return sequence.Map(intervals, func(v element.Interval) interval {
		return interval{h.zone.Format(v.Starts), h.zone.Format(v.Ends)}
	})
}

// readDraft reads the fields of an element. A text that is null empties its field.
func readDraft(fields web.Object) element.Draft {
	d := element.Draft{Texts: map[string]string{}, Flags: map[string]bool{}, Faults: problem.Fields{}}
	d.EntityType = fields.Text("entity_type", d.Faults)
	d.UUID = fields.Text("uuid", d.Faults)
	texts, flags := element.Fields()
	for _, name := range texts {
		if text := fields.Text(name, d.Faults); text != nil {
			d.Texts[name] = *text
		} else if fields.Null(name) {
			d.Texts[name] = ""
		}
	}
	for _, name := range flags {
		if flag := fields.Bool(name, d.Faults); flag != nil {
			d.Flags[name] = *flag
		}
	}
	return d
}

// readMembers reads the body's members, each with the faults of its fields.
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
			return nil, problem.New(problem.Malformed, "members has an entry that is not an object")
		}
		faults := problem.Fields{}
		members[i] = element.Member{
			ElementID: form.OrZero(fields.ID("element_id", faults)), Days: readDays(fields, faults), Faults: faults,
		}
	}
	return members, nil
}

// readDays reads first_day and last_day; one that is absent is an open end.
func readDays(fields web.Object, faults problem.Fields) wiretime.Days {
	days := wiretime.Days{First: wiretime.FirstDay, Last: wiretime.LastDay}
	read := func(name string, day *wiretime.Day) {
		text := form.OrZero(fields.Text(name, faults))
		if text == "" {
			return
		}
		parsed, err := wiretime.ParseDay(text)
		if err != nil {
			faults.Add(name, problem.NotADay)
			return
		}
		*day = parsed
	}
	read("first_day", &days.First)
	read("last_day", &days.Last)
	return days
}
