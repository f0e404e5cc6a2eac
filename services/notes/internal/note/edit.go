package note

import (
	"github.com/belfry-schools/belfry/pkg/problem"
)

// Edit is what a request says about a note; fields that are nil keep their values.
type Edit struct {
	Contents     *string
	VisibleGuest *bool
	VisibleStaff *bool
	VisiblePupil *bool
	Faults       problem.Fields // of fields that could not be read
}

// apply changes n and returns the faults of the edit.
func (e Edit) apply(n *Note) problem.Fields {
	set(&n.Contents, e.Contents)
	set(&n.Guest, e.VisibleGuest)
	set(&n.Staff, e.VisibleStaff)
	set(&n.Pupil, e.VisiblePupil)
	return e.check()
}

// check returns the faults of the edit, by field.
func (e Edit) check() problem.Fields {
	faults := problem.Fields{}
	for field, messages := range e.Faults {
		faults[field] = append(faults[field], messages...)
	}
	if e.Contents != nil {
		problem.Text{Most: MaxContents, Lines: true}.Check(faults, "contents", *e.Contents)
	}
	return faults
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
