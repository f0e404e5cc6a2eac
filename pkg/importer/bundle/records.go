package bundle

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// The records, as the import calls take them: empty optional cells are left out. Each field is a column of the kind's
// file, by its json name; the file must have those without omitempty. Its type and its csv tag say how a cell is
// checked (Column.read): a text without a tag is a line of at most 255 characters. csv:"-" is not a column.
type (
	// StaffRecord is a row of staff.csv.
	StaffRecord struct {
		Key      string `json:"key" csv:"key"`
		Initials string `json:"initials"`
		Forename string `json:"forename"`
		Surname  string `json:"surname"`
		Title    string `json:"title,omitempty"`
		Email    string `json:"email,omitempty" csv:"email"`
		Current  *bool  `json:"current,omitempty"`
	}
	// PupilRecord is a row of pupils.csv.
	PupilRecord struct {
		Key        string `json:"key" csv:"key"`
		Forename   string `json:"forename"`
		Surname    string `json:"surname"`
		KnownAs    string `json:"known_as,omitempty"`
		YearGroup  string `json:"year_group,omitempty"`
		HouseName  string `json:"house_name,omitempty"`
		TutorGroup string `json:"tutor_group,omitempty"`
		Email      string `json:"email,omitempty" csv:"email"`
		Current    *bool  `json:"current,omitempty"`
	}
	// LocationRecord is a row of locations.csv.
	LocationRecord struct {
		Key       string `json:"key" csv:"key"`
		Name      string `json:"name"`
		ShortName string `json:"short_name,omitempty"`
		Current   *bool  `json:"current,omitempty"`
		OpenTo    string `json:"open_to,omitempty" csv:"one of all"`
	}
	// GroupRecord is a row of groups.csv.
	GroupRecord struct {
		Key         string `json:"key" csv:"key"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty" csv:"text"`
		Resource    *bool  `json:"resource,omitempty"`
		School      *bool  `json:"school,omitempty"`
		Current     *bool  `json:"current,omitempty"`
		OpenTo      string `json:"open_to,omitempty" csv:"one of all"`
	}
	// PropertyRecord is a row of properties.csv.
	PropertyRecord struct {
		Key        string `json:"key" csv:"key"`
		Name       string `json:"name"`
		MakePublic *bool  `json:"make_public,omitempty"`
		Current    *bool  `json:"current,omitempty"`
		OpenTo     string `json:"open_to,omitempty" csv:"one of all"`
	}
	// NamedRecord is a row of services.csv or subjects.csv.
	NamedRecord struct {
		Key     string `json:"key" csv:"key"`
		Name    string `json:"name"`
		Current *bool  `json:"current,omitempty"`
		OpenTo  string `json:"open_to,omitempty" csv:"one of all"`
	}
	// UserRecord is a row of users.csv. It holds a password: the uuid.
	UserRecord struct {
		Key     string `json:"key" csv:"key"`
		Name    string `json:"name"`
		Email   string `json:"email" csv:"email"`
		Kind    string `json:"kind,omitempty" csv:"one of staff pupil guest"`
		Element string `json:"element,omitempty" csv:"element"`
		UUID    string `json:"uuid,omitempty" csv:"uuid"`
		Active  *bool  `json:"active,omitempty"`
		// Permissions are the ones that the row gives or takes, by name. In JSON they are beside the other fields.
		Permissions map[string]bool `json:"-" csv:"permission"`
		// AdminOf are keys of schools; nil: the file has no such column, and the user keeps what it has.
		AdminOf *[]string `json:"admin_of,omitempty"`
		// StandsFor are keys of pupils, in the same way.
		StandsFor *[]string `json:"stands_for,omitempty"`
		// DuplicateEmail says that another row may have the address.
		DuplicateEmail *bool `json:"duplicate_email,omitempty"`
	}
	// AdministratorRecord is a row of administrators.csv.
	AdministratorRecord struct {
		Key     string `json:"key" csv:"-"`
		Element string `json:"element" csv:"element"`
		User    string `json:"user" csv:"key of users"`
	}
	// EventCategoryRecord is a row of eventcategories.csv.
	EventCategoryRecord struct {
		Key          string `json:"key" csv:"key"`
		Name         string `json:"name"`
		PeckingOrder *int   `json:"pecking_order,omitempty"`
		Schoolwide   *bool  `json:"schoolwide,omitempty"`
		Publish      *bool  `json:"publish,omitempty"`
		Visible      *bool  `json:"visible,omitempty"`
		Unimportant  *bool  `json:"unimportant,omitempty"`
		CanMerge     *bool  `json:"can_merge,omitempty"`
		CanBorrow    *bool  `json:"can_borrow,omitempty"`
		Compactable  *bool  `json:"compactable,omitempty"`
		Privileged   *bool  `json:"privileged,omitempty"`
		ClashCheck   *bool  `json:"clash_check,omitempty"`
		Busy         *bool  `json:"busy,omitempty"`
		Timetable    *bool  `json:"timetable,omitempty"`
		Confidential *bool  `json:"confidential,omitempty"`
		School       string `json:"school,omitempty" csv:"key of groups"` // key of the group whose own it is
	}
	// EventRecord is a row of events.csv.
	EventRecord struct {
		Key       string   `json:"key" csv:"key"`
		Body      string   `json:"body" csv:"title"`
		Category  string   `json:"category" csv:"key of eventcategories"`
		StartsAt  string   `json:"starts_at" csv:"time"`
		EndsAt    string   `json:"ends_at" csv:"time"`
		AllDay    *bool    `json:"all_day,omitempty"`
		Organiser string   `json:"organiser,omitempty" csv:"key of staff"`
		Owner     string   `json:"owner,omitempty" csv:"key of users"`
		Elements  []string `json:"elements,omitempty"`
		// Decisions are the event's rows of commitments.csv.
		Decisions []Decision `json:"decisions,omitempty" csv:"-"`
	}
	// Decision is a row of commitments.csv.
	Decision struct {
		Element   string `json:"element" csv:"element"`
		Status    string `json:"status" csv:"status"`
		Reason    string `json:"reason,omitempty" csv:"text"`
		DecidedBy string `json:"decided_by,omitempty" csv:"key of users"`
		DecidedAt string `json:"decided_at,omitempty" csv:"instant"`
		// Request is the resource group to whose request the element is allocated.
		Request string `json:"request,omitempty" csv:"element"`
		// AskedBy is the key of the user who added the element; "" when unknown.
		AskedBy string `json:"asked_by,omitempty" csv:"key of users"`
	}
	// NoteRecord is a row of notes.csv.
	NoteRecord struct {
		Key          string `json:"key" csv:"key"`
		Event        string `json:"event" csv:"key of events"`
		Contents     string `json:"contents" csv:"contents"`
		Owner        string `json:"owner,omitempty" csv:"key of users"`
		VisibleGuest *bool  `json:"visible_guest,omitempty"`
		VisibleStaff *bool  `json:"visible_staff,omitempty"`
		VisiblePupil *bool  `json:"visible_pupil,omitempty"`
	}
)

// sheets are the files of the kinds in the order of import, and then those whose rows are sent with events.
var sheets = []*kindSheet{
	newSheet[StaffRecord](Staff, nil),
	newSheet[PupilRecord](Pupils, nil),
	newSheet[LocationRecord](Locations, nil),
	newSheet(Groups, checkGroup),
	newSheet[PropertyRecord](Properties, nil),
	newSheet[NamedRecord](Services, nil),
	newSheet[NamedRecord](Subjects, nil),
	newSheet(Memberships, checkMembership),
	newSheet(Users, checkUser),
	newSheet(Administrators, checkAdministrator),
	newSheet(EventCategories, checkEventCategory),
	newSheet(Events, checkEvent),
	newSheet[NoteRecord](Notes, nil),
	newSheet(Commitments, checkDecision),
	newSheet(Periods, checkPeriod),
	newSheet(Weeks, checkWeek),
	newSheet(Lessons, checkLesson),
}

func sheetOf(kind Kind) *kindSheet {
	return sheets[slices.IndexFunc(sheets, func(s *kindSheet) bool { return s.kind == kind })]
}

// entityTypes are the types of elements, with which references to them begin, by the kind of their rows.
var entityTypes = map[Kind]string{Staff: form.Staff, Pupils: form.Pupil, Locations: form.Location, Groups: form.Group,
	Properties: form.Property, Services: form.Service, Subjects: form.Subject}

var entities = slices.Sorted(maps.Values(entityTypes))

// kindOf is the kind of the elements of a type, which may be written in any case, "" for any other text.
func kindOf(entity string) Kind {
	entity = csvfile.Named(entity, entities)
	for kind, of := range entityTypes {
		if of == entity {
			return kind
		}
	}
	return ""
}

func checkGroup(r *row, g *GroupRecord) {
	resource, school := form.OrZero(g.Resource), form.OrZero(g.School)
	if resource && school {
		r.Fault("school", "can't be a resource group")
	}
	if r.pass.checked {
		return
	}
	if resource {
		r.pass.index.resources[strings.Clone(g.Key)] = true
	}
	if (school || r.Bad("school")) && (g.Current == nil || *g.Current) {
		r.pass.index.schools[strings.Clone(g.Key)] = true
	}
}

func checkUser(r *row, u *UserRecord) {
	if active := u.Active == nil || *u.Active; active && !form.OrZero(u.DuplicateEmail) {
		r.Unique("email", cases.Fold().String(u.Email), strconv.Quote(u.Email))
	}
}

// MarshalJSON writes the permissions beside the other fields.
func (u UserRecord) MarshalJSON() ([]byte, error) {
	type others UserRecord
	text, err := json.Marshal(others(u))
	if err != nil || len(u.Permissions) == 0 {
		return text, err
	}
	permissions, err := json.Marshal(u.Permissions)
	return slices.Concat(text[:len(text)-1], []byte(","), permissions[1:]), err
}

func checkAdministrator(r *row, a *AdministratorRecord) {
	a.Key = a.Element + "/" + a.User
	if a.Element != "" && a.User != "" {
		r.Unique("user", a.Key, "this user of this element")
	}
}

func checkEventCategory(r *row, c *EventCategoryRecord) {
	if c.Name != "" {
		r.Unique("name", c.School+"\x00"+c.Name, "the name")
	}
}

func checkEvent(r *row, e *EventRecord) {
	e.Decisions = r.decisionsOf(e.Key, e.Elements)
	r.span(e.StartsAt, e.EndsAt, e.AllDay)
}

// Commitments is the file of decisions on the elements of events. It is not a kind of record: its rows are sent with
// their events.
const Commitments Kind = "commitments"

// decided holds the rows of commitments.csv by the key of their event.
type decided map[string]*decisions

type decisions struct {
	line int // of the first
	list []Decision
}

// decisionRow is a row of commitments.csv.
type decisionRow struct {
	Event string `json:"event"`
	Decision
}

// status is the decision. An element may be uncontrolled only if it is allocated to a request or has asked_by.
func (r *row) status(column string) string {
	statuses := []string{"confirmed", "rejected", "noted", "requested"}
	if strings.TrimSpace(r.Raw("request")+r.Raw("asked_by")) != "" {
		statuses = append(statuses, "uncontrolled")
	}
	return r.OneOf(column, statuses...)
}

// checkDecision keeps the row for its event, which is read later.
func checkDecision(r *row, d *decisionRow) {
	r.Unique("element", d.Event+" "+d.Element, "this element of this event")
	if group, ok := strings.CutPrefix(d.Element, "Group:"); ok && r.pass.index.resources[group] && !d.onlyAsked() {
		r.Fault("element", "is a resource group, whose requests are not decided but allocated")
	}
	if group, ok := strings.CutPrefix(d.Request, "Group:"); d.Request != "" && !(ok && r.pass.index.resources[group]) {
		r.Fault("request", "%q is not a resource group", csvfile.Brief(d.Request))
	}
	if d.Status == "uncontrolled" && d.Request == "" && d.Reason+d.DecidedBy+d.DecidedAt != "" {
		r.Fault("status", "nothing was decided: uncontrolled can have only asked_by")
	}
	of := r.pass.index.decided[d.Event]
	if of == nil {
		of = &decisions{line: r.Line()}
		r.pass.index.decided[d.Event] = of
	}
	of.list = append(of.list, d.Decision)
}

// onlyAsked reports whether the row only names who asked. A request for items may have such a row.
func (d Decision) onlyAsked() bool {
	return d == Decision{Element: d.Element, Status: "requested", AskedBy: d.AskedBy} && d.AskedBy != ""
}

// instant is an optional instant, as text.
func (r *row) instant(column string) string {
	text := r.Optional(column, csvfile.MaxText)
	if _, err := wiretime.Parse(text); text != "" && err != nil {
		r.Fault(column, problem.NotAnInstant)
	}
	return text
}

// decisionsOf returns the decisions on an event's elements.
func (r *row) decisionsOf(event string, elements []string) []Decision {
	of := r.pass.index.decided[event]
	if of == nil {
		return nil
	}
	for _, d := range of.list {
		named := cmp.Or(d.Request, d.Element)
		if named != "" && r.Has("elements") && !slices.Contains(elements, named) {
			r.Fault("elements", "%q is missing, though %s has a decision on it", csvfile.Brief(named),
				r.pass.index.file(Commitments))
		}
	}
	return of.list
}

// checkUsed reports decisions on events that do not exist.
func (d decided) checkUsed(x *index, faults *csvfile.FaultsError) {
	if x.unsure[Events] {
		return
	}
	for event, of := range d {
		if event != "" && !x.has(Events, event) {
			faults.Add(csvfile.Fault{File: x.file(Commitments), Line: of.line, Column: "event",
				Reason: "no row of " + x.file(Events) + " has the key of this row's event"})
		}
	}
}
