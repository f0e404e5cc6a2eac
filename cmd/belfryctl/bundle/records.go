package bundle

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"

	"github.com/belfry-schools/belfry/cmd/belfryctl/csvfile"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// The records, as the import calls take them: fields named like the columns, empty optional cells left out, booleans
// as booleans.
type (
	// StaffRecord is a row of staff.csv.
	StaffRecord struct {
		Key      string `json:"key"`
		Initials string `json:"initials"`
		Forename string `json:"forename"`
		Surname  string `json:"surname"`
		Title    string `json:"title,omitempty"`
		Email    string `json:"email,omitempty"`
		Current  *bool  `json:"current,omitempty"`
	}
	// PupilRecord is a row of pupils.csv.
	PupilRecord struct {
		Key        string `json:"key"`
		Forename   string `json:"forename"`
		Surname    string `json:"surname"`
		KnownAs    string `json:"known_as,omitempty"`
		YearGroup  string `json:"year_group,omitempty"`
		HouseName  string `json:"house_name,omitempty"`
		TutorGroup string `json:"tutor_group,omitempty"`
		Email      string `json:"email,omitempty"`
		Current    *bool  `json:"current,omitempty"`
	}
	// LocationRecord is a row of locations.csv.
	LocationRecord struct {
		Key       string `json:"key"`
		Name      string `json:"name"`
		ShortName string `json:"short_name,omitempty"`
		Current   *bool  `json:"current,omitempty"`
		OpenTo    string `json:"open_to,omitempty"`
	}
	// GroupRecord is a row of groups.csv.
	GroupRecord struct {
		Key         string `json:"key"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Resource    *bool  `json:"resource,omitempty"`
		School      *bool  `json:"school,omitempty"`
		Current     *bool  `json:"current,omitempty"`
		OpenTo      string `json:"open_to,omitempty"`
	}
	// PropertyRecord is a row of properties.csv.
	PropertyRecord struct {
		Key        string `json:"key"`
		Name       string `json:"name"`
		MakePublic *bool  `json:"make_public,omitempty"`
		Current    *bool  `json:"current,omitempty"`
		OpenTo     string `json:"open_to,omitempty"`
	}
	// NamedRecord is a row of services.csv or subjects.csv.
	NamedRecord struct {
		Key     string `json:"key"`
		Name    string `json:"name"`
		Current *bool  `json:"current,omitempty"`
		OpenTo  string `json:"open_to,omitempty"`
	}
	// UserRecord is a row of users.csv. It holds a password: the uuid.
	UserRecord struct {
		Key     string `json:"key"`
		Name    string `json:"name"`
		Email   string `json:"email"`
		Kind    string `json:"kind,omitempty"`
		Element string `json:"element,omitempty"`
		UUID    string `json:"uuid,omitempty"`
		Active  *bool  `json:"active,omitempty"`
		// Permissions are the ones that the row gives or takes, by name. In JSON they are beside the other fields.
		Permissions map[string]bool `json:"-"`
		// AdminOf are keys of schools; nil: the file has no such column, and the user keeps what it has.
		AdminOf *[]string `json:"admin_of,omitempty"`
		// DuplicateEmail says that another row may have the address.
		DuplicateEmail *bool `json:"duplicate_email,omitempty"`
	}
	// AdministratorRecord is a row of administrators.csv.
	AdministratorRecord struct {
		Key     string `json:"key"`
		Element string `json:"element"`
		User    string `json:"user"`
	}
	// EventCategoryRecord is a row of eventcategories.csv.
	EventCategoryRecord struct {
		Key          string `json:"key"`
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
		School       string `json:"school,omitempty"` // key of the group whose own it is
	}
	// EventRecord is a row of events.csv.
	EventRecord struct {
		Key       string   `json:"key"`
		Body      string   `json:"body"`
		Category  string   `json:"category"`
		StartsAt  string   `json:"starts_at"`
		EndsAt    string   `json:"ends_at"`
		AllDay    *bool    `json:"all_day,omitempty"`
		Organiser string   `json:"organiser,omitempty"`
		Owner     string   `json:"owner,omitempty"`
		Elements  []string `json:"elements,omitempty"`
		// Decisions are the event's rows of commitments.csv.
		Decisions []Decision `json:"decisions,omitempty"`
	}
	// Decision is a row of commitments.csv.
	Decision struct {
		Element   string `json:"element"`
		Status    string `json:"status"`
		Reason    string `json:"reason,omitempty"`
		DecidedBy string `json:"decided_by,omitempty"`
		DecidedAt string `json:"decided_at,omitempty"` // an instant
		Request   string `json:"request,omitempty"`    // the resource group to whose request the element is allocated
		// AskedBy is the key of the user who added the element; "" when unknown.
		AskedBy string `json:"asked_by,omitempty"`
	}
	// NoteRecord is a row of notes.csv.
	NoteRecord struct {
		Key          string `json:"key"`
		Event        string `json:"event"`
		Contents     string `json:"contents"`
		Owner        string `json:"owner,omitempty"`
		VisibleGuest *bool  `json:"visible_guest,omitempty"`
		VisibleStaff *bool  `json:"visible_staff,omitempty"`
		VisiblePupil *bool  `json:"visible_pupil,omitempty"`
	}
)

// sheets is the bundle, in the order of import.
var sheets = []*kindSheet{
	newSheet(Staff, readStaff),
	newSheet(Pupils, readPupil),
	newSheet(Locations, readLocation),
	newSheet(Groups, readGroup),
	newSheet(Properties, readProperty),
	newSheet(Services, readNamed),
	newSheet(Subjects, readNamed),
	newSheet(Memberships, readMembership),
	newSheet(Users, readUser),
	newSheet(Administrators, readAdministrator),
	newSheet(EventCategories, readEventCategory),
	newSheet(Events, readEvent),
	newSheet(Notes, readNote),
}

func sheetOf(kind Kind) *kindSheet {
	if kind == Commitments {
		return commitmentSheet
	}
	return sheets[slices.IndexFunc(sheets, func(s *kindSheet) bool { return s.kind == kind })]
}

// elementKinds are the kinds whose rows are elements, by the type with which a reference to them begins.
var elementKinds = []struct {
	entity string
	kind   Kind
}{
	{form.Staff, Staff},
	{form.Pupil, Pupils},
	{form.Location, Locations},
	{form.Group, Groups},
	{form.Property, Properties},
	{form.Service, Services},
	{form.Subject, Subjects},
}

// entities are the types of elements.
var entities = func() (all []string) {
	for _, e := range elementKinds {
		all = append(all, e.entity)
	}
	return all
}()

// kindOf is the kind of the elements of a type, which is written in any case, "" when there is no such type.
func kindOf(entity string) Kind {
	if i := slices.Index(entities, csvfile.Named(entity, entities)); i >= 0 {
		return elementKinds[i].kind
	}
	return ""
}

func readStaff(r *row) (string, any) {
	s := StaffRecord{Key: r.key(), Initials: r.Name("initials"), Forename: r.Name("forename"),
		Surname: r.Name("surname"), Title: r.Word("title"), Email: r.Email("email"), Current: r.Boolean("current")}
	return s.Key, s
}

func readPupil(r *row) (string, any) {
	p := PupilRecord{Key: r.key(), Forename: r.Name("forename"), Surname: r.Name("surname"),
		KnownAs: r.Word("known_as"), YearGroup: r.Word("year_group"), HouseName: r.Word("house_name"),
		TutorGroup: r.Word("tutor_group"), Email: r.Email("email"), Current: r.Boolean("current")}
	return p.Key, p
}

func readLocation(r *row) (string, any) {
	l := LocationRecord{Key: r.key(), Name: r.Name("name"), ShortName: r.Word("short_name"),
		Current: r.Boolean("current"), OpenTo: r.OneOf("open_to", "all")}
	return l.Key, l
}

func readGroup(r *row) (string, any) {
	g := GroupRecord{Key: r.key(), Name: r.Name("name"),
		Description: r.Lines("description", r.Optional("description", csvfile.MaxText)),
		Resource:    r.Boolean("resource"), School: r.Boolean("school"), Current: r.Boolean("current"),
		OpenTo: r.OneOf("open_to", "all")}
	if g.Resource != nil && *g.Resource && g.School != nil && *g.School {
		r.Fault("school", "can't be a resource group")
	}
	if g.Resource != nil && *g.Resource {
		r.pass.resources[strings.Clone(g.Key)] = true
	}
	if school := g.School != nil && *g.School || r.Bad("school"); school && (g.Current == nil || *g.Current) {
		r.pass.schools[strings.Clone(g.Key)] = true
	}
	return g.Key, g
}

func readProperty(r *row) (string, any) {
	p := PropertyRecord{Key: r.key(), Name: r.Name("name"), MakePublic: r.Boolean("make_public"),
		Current: r.Boolean("current"), OpenTo: r.OneOf("open_to", "all")}
	return p.Key, p
}

func readNamed(r *row) (string, any) {
	n := NamedRecord{Key: r.key(), Name: r.Name("name"), Current: r.Boolean("current"),
		OpenTo: r.OneOf("open_to", "all")}
	return n.Key, n
}

func readUser(r *row) (string, any) {
	u := UserRecord{Key: r.key(), Name: r.Name("name"), Email: r.Email("email"),
		Kind: r.OneOf("kind", "staff", "pupil", "guest"), Element: r.element("element"), UUID: r.password("uuid"),
		Active: r.Boolean("active"), Permissions: map[string]bool{}, AdminOf: r.schools("admin_of"),
		DuplicateEmail: r.Boolean("duplicate_email")}
	for _, name := range principal.PermissionNames() {
		if granted := r.Boolean(name); granted != nil {
			u.Permissions[name] = *granted
		}
	}
	if u.Email == "" && r.Has("email") {
		r.Fault("email", problem.Blank)
	}
	active, meant := u.Active == nil || *u.Active, u.DuplicateEmail != nil && *u.DuplicateEmail
	if active && !meant {
		r.Unique("email", cases.Fold().String(u.Email), strconv.Quote(u.Email))
	}
	return u.Key, u
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

func readAdministrator(r *row) (string, any) {
	a := AdministratorRecord{Element: r.requiredElement("element"), User: r.requiredReference("user", Users)}
	a.Key = a.Element + "/" + a.User
	if a.Element != "" && a.User != "" {
		r.Unique("user", a.Key, "this user of this element")
	}
	return a.Key, a
}

func readEventCategory(r *row) (string, any) {
	c := EventCategoryRecord{Key: r.key(), Name: r.Name("name"), PeckingOrder: r.Integer("pecking_order"),
		Schoolwide: r.Boolean("schoolwide"), Publish: r.Boolean("publish"), Visible: r.Boolean("visible"),
		Unimportant: r.Boolean("unimportant"), CanMerge: r.Boolean("can_merge"), CanBorrow: r.Boolean("can_borrow"),
		Compactable: r.Boolean("compactable"), Privileged: r.Boolean("privileged"),
		ClashCheck: r.Boolean("clash_check"), Busy: r.Boolean("busy"), Timetable: r.Boolean("timetable"),
		Confidential: r.Boolean("confidential"), School: r.reference("school", Groups)}
	if c.Name != "" {
		r.Unique("name", c.School+"\x00"+c.Name, "the name")
	}
	return c.Key, c
}

func readEvent(r *row) (string, any) {
	e := EventRecord{Key: r.key(), Body: r.OneLine("body", r.Required("body", csvfile.MaxText)),
		Category: r.requiredReference("category", EventCategories), StartsAt: r.Optional("starts_at", csvfile.MaxText),
		EndsAt: r.Optional("ends_at", csvfile.MaxText), AllDay: r.Boolean("all_day"),
		Organiser: r.reference("organiser", Staff), Owner: r.reference("owner", Users),
		Elements: r.elements("elements")}
	e.Decisions = r.decisionsOf(e.Key, e.Elements)
	r.span(e.StartsAt, e.EndsAt, e.AllDay)
	return e.Key, e
}

func readNote(r *row) (string, any) {
	n := NoteRecord{Key: r.key(), Event: r.requiredReference("event", Events), Contents: r.contents(),
		Owner: r.reference("owner", Users), VisibleGuest: r.Boolean("visible_guest"),
		VisibleStaff: r.Boolean("visible_staff"), VisiblePupil: r.Boolean("visible_pupil")}
	return n.Key, n
}
