package note

import (
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/form"
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
	form.Set(&n.Contents, e.Contents)
	form.Set(&n.Guest, e.VisibleGuest)
	form.Set(&n.Staff, e.VisibleStaff)
	form.Set(&n.Pupil, e.VisiblePupil)
	return e.check()
}

// check returns the faults of the edit, by field.
func (e Edit) check() problem.Fields {
	faults := e.Faults.Clone()
	if e.Contents != nil {
		problem.Text{Most: MaxContents, Lines: true}.Check(faults, "contents", *e.Contents)
	}
	return faults
}
