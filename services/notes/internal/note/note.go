// Package note is the domain of the notes service: what a note is, who sees it and who changes it (contract 2.5, 4.3; decisions, part 6), and
// how notes are imported and go with their event.
package note

import (
	"fmt"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
)

// MaxContents bounds the contents of a note in characters (decisions, part 6).
const MaxContents = 65536

// Record is the type's name in exception bodies.
const Record = "Note"

// Note is a text attached to an event.
type Note struct {
	ID       int64
	Version  int64 // rises with each change; the store's
	EventID  int64
	OwnerID  int64  // 0: the system's
	Contents string // Markdown, at most MaxContents characters
	Visible  Visibility

	// HTML is what the markdown package of version Markup made of Contents.
	HTML   string
	Markup int

	Key        string // of the import; "" when not imported
	ImportHash string // of the record that was imported last

	IdempotencyKey idempotency.Key // of the request that made it, as long as that may be repeated

	Topic fact.Topic   // of the system's own notes, of which an event has one at most on each topic; "" for all others
	Day   wiretime.Day // with a topic: on which the event started when this was written
}

// View is a note as the API shows it, and the version that it shows.
type View struct {
	form.Note
	Version int64
}

// Visibility says which kinds of user see a note besides its owner and admins.
type Visibility struct{ Guest, Staff, Pupil bool }

// VisibleTo says whether the viewer sees the note. For others it does not exist.
func (n Note) VisibleTo(v fact.Viewer) bool {
	switch {
	case v.Admin, n.OwnedBy(v):
		return true
	case v.Kind == principal.Guest:
		return n.Visible.Guest
	case v.Kind == principal.Staff:
		return n.Visible.Staff
	case v.Kind == principal.Pupil:
		return n.Visible.Pupil
	}
	return false
}

// OwnedBy says whether the viewer owns the note, and so may change and delete it. Nobody owns the system's notes.
func (n Note) OwnedBy(v fact.Viewer) bool { return n.OwnerID != 0 && n.OwnerID == v.UserID }

// Change is what a client asks a note to become; fields that are nil keep their values. Faults are those of fields that could not be read.
type Change struct {
	Contents     *string
	VisibleGuest *bool
	VisibleStaff *bool
	VisiblePupil *bool
	Faults       problem.Fields
}

// Fields is a JSON object of a request; see web.Object.
type Fields interface {
	Text(name string, faults problem.Fields) *string
	Bool(name string, faults problem.Fields) *bool
}

// ReadChange reads the note parameters of contract 4.3; null counts as not given.
func ReadChange(f Fields) Change {
	faults := problem.Fields{}
	return Change{
		Contents:     f.Text("contents", faults),
		VisibleGuest: f.Bool("visible_guest", faults),
		VisibleStaff: f.Bool("visible_staff", faults),
		VisiblePupil: f.Bool("visible_pupil", faults),
		Faults:       faults,
	}
}

// check returns all that is wrong with the change, by field.
func (c Change) check() problem.Fields {
	faults := problem.Fields{}
	for field, messages := range c.Faults {
		faults[field] = append(faults[field], messages...)
	}
	if c.Contents != nil && utf8.RuneCountInString(*c.Contents) > MaxContents {
		faults.Add("contents", fmt.Sprintf("is too long (maximum is %d characters)", MaxContents))
	}
	return faults
}

// applyTo sets the fields that are given.
func (c Change) applyTo(n *Note) {
	set(&n.Contents, c.Contents)
	set(&n.Visible.Guest, c.VisibleGuest)
	set(&n.Visible.Staff, c.VisibleStaff)
	set(&n.Visible.Pupil, c.VisiblePupil)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// fresh returns a note of an event with the defaults of contract 4.3.
func fresh(eventID, ownerID int64) Note {
	return Note{EventID: eventID, OwnerID: ownerID, Visible: Visibility{Staff: true}}
}

// form is the note as the API shows it, its HTML made anew when it was made by another release.
func (s *Service) form(n Note, owner *form.User, parent *form.Event) (form.Note, error) {
	if err := s.render(&n); err != nil {
		return form.Note{}, err
	}
	shown := shape(n, owner, parent)
	shown.ID, shown.FormattedContents, shown.Valid = &n.ID, n.HTML, true
	return shown, nil
}

// view is form with the version.
func (s *Service) view(n Note, owner *form.User, parent *form.Event) (View, error) {
	shown, err := s.form(n, owner, parent)
	return View{shown, n.Version}, err
}

// invalidForm is the note as it would have become, with what is wrong with it. What is not stored is not rendered.
func invalidForm(n Note, owner *form.User, parent *form.Event, faults problem.Fields) form.Note {
	shown := shape(n, owner, parent)
	if n.ID != 0 {
		shown.ID = &n.ID
	}
	shown.Errors = faults
	return shown
}

func shape(n Note, owner *form.User, parent *form.Event) form.Note {
	return form.Note{
		Contents: n.Contents, VisibleGuest: n.Visible.Guest, VisibleStaff: n.Visible.Staff, VisiblePupil: n.Visible.Pupil,
		Owner: owner, Parent: parent,
	}
}

// render makes the note's HTML, unless the present renderer made it already. A note is rendered when it is written, because a hostile text of
// the full length takes a second, and an ordinary one as long as reading it from the store.
func (s *Service) render(n *Note) error {
	if n.Markup == markdown.Version {
		return nil
	}
	html, err := s.Markdown.HTML(n.Contents)
	if err != nil {
		return err
	}
	n.HTML, n.Markup = html, markdown.Version
	return nil
}
