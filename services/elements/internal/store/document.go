package store

import (
	"slices"

	"github.com/belfry-schools/belfry/pkg/journal"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// elementDocument is an element as it is stored.
type elementDocument struct {
	mongostore.Head `bson:",inline"`

	Element element.Element `bson:",inline"`
	Grams   []string        `bson:"grams"` // of a current element's name, else none: no search finds it

	journal.Tail `bson:",inline"`
}

// set stores e in the document.
func (d *elementDocument) set(e element.Element) {
	*d = elementDocument{Head: mongostore.Head{ID: e.ID, Schema: elementSchema}, Element: e}
	if e.Current {
		d.Grams = needle.Grams(e.Name, 1)
	}
}

func (d *elementDocument) element() element.Element {
	e := d.Element
	e.ID, e.Version = d.ID, d.Version
	e.Administrators = slices.Clone(e.Administrators) // a change may work in place
	e.ImportedAdministrators = slices.Clone(e.ImportedAdministrators)
	return e
}

// membershipDocument is a membership as it is stored.
type membershipDocument struct {
	mongostore.Head `bson:",inline"`

	Membership element.Membership `bson:",inline"`
	First      wiretime.Day       `bson:"first"` // of all days; when there are none, after Last, so that no day finds it
	Last       wiretime.Day       `bson:"last"`

	journal.Tail `bson:",inline"`
}

// set stores m in the document.
func (d *membershipDocument) set(m element.Membership) {
	*d = membershipDocument{
		Head: mongostore.Head{ID: m.ID, Schema: schema}, Membership: m,
		First: wiretime.LastDay, Last: wiretime.FirstDay,
	}
	for _, run := range m.Days {
		d.First, d.Last = min(d.First, run.First), max(d.Last, run.Last)
	}
}

func (d *membershipDocument) membership() element.Membership {
	m := d.Membership
	m.ID, m.Version = d.ID, d.Version
	m.Days, m.Sources = slices.Clone(m.Days), slices.Clone(m.Sources)
	return m
}
