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

	Key                    string          `bson:"key,omitempty"`
	ImportHash             string          `bson:"import_hash,omitempty"`
	FirstSchool            int64           `bson:"imported_into,omitempty"`
	EntityType             string          `bson:"entity_type"`
	EntityID               int64           `bson:"entity_id"`
	Name                   string          `bson:"name"`
	UUID                   string          `bson:"uuid"`
	Current                bool            `bson:"current"`
	Erased                 bool            `bson:"erased,omitempty"`
	Details                detailsDocument `bson:"details"`
	Administrators         []int64         `bson:"administrators"`
	ImportedAdministrators []string        `bson:"imported_administrators,omitempty"`
	Grams                  []string        `bson:"grams"` // of a current element's name, else none: no search finds it

	journal.Tail `bson:",inline"`
}

// detailsDocument has the fields of element.Details.
type detailsDocument struct {
	Initials    string `bson:"initials,omitempty"`
	Title       string `bson:"title,omitempty"`
	Forename    string `bson:"forename,omitempty"`
	Surname     string `bson:"surname,omitempty"`
	KnownAs     string `bson:"known_as,omitempty"`
	YearGroup   string `bson:"year_group,omitempty"`
	HouseName   string `bson:"house_name,omitempty"`
	TutorGroup  string `bson:"tutor_group,omitempty"`
	Email       string `bson:"email,omitempty"`
	ShortName   string `bson:"short_name,omitempty"`
	Description string `bson:"description,omitempty"`
	OpenTo      string `bson:"open_to,omitempty"`
	Resource    bool   `bson:"resource,omitempty"`
	School      bool   `bson:"school,omitempty"`
	MakePublic  *bool  `bson:"make_public,omitempty"`
}

// set makes the document say e.
func (d *elementDocument) set(e element.Element) {
	*d = elementDocument{
		Head: mongostore.Head{ID: e.ID, Schema: elementSchema},
		Key:  e.Key, ImportHash: e.ImportHash, FirstSchool: e.FirstSchool,
		EntityType: e.EntityType, EntityID: e.EntityID, Name: e.Name, UUID: e.UUID,
		Current: e.Current, Erased: e.Erased,
		Details:        detailsDocument(e.Details),
		Administrators: e.Administrators, ImportedAdministrators: e.ImportedAdministrators,
	}
	if e.Current {
		d.Grams = needle.Grams(e.Name, 1)
	}
}

func (d *elementDocument) element() element.Element {
	return element.Element{
		ID: d.ID, Version: d.Version, Key: d.Key, ImportHash: d.ImportHash, FirstSchool: d.FirstSchool,
		EntityType: d.EntityType, EntityID: d.EntityID, Name: d.Name, UUID: d.UUID,
		Current: d.Current, Erased: d.Erased,
		Details:                element.Details(d.Details),
		Administrators:         slices.Clone(d.Administrators), // a change may work in place
		ImportedAdministrators: slices.Clone(d.ImportedAdministrators),
	}
}

// membershipDocument is a membership as it is stored.
type membershipDocument struct {
	mongostore.Head `bson:",inline"`

	Group      int64             `bson:"group"`
	Member     int64             `bson:"member"`
	Nested     bool              `bson:"nested"`
	Days       []daysDocument    `bson:"spans"`
	ImportHash string            `bson:"import_hash,omitempty"`
	Sources    []sourcedDocument `bson:"sources,omitempty"`
	First      wiretime.Day      `bson:"first"` // of all days; when there are none, after Last, so that no day finds it
	Last       wiretime.Day      `bson:"last"`

	journal.Tail `bson:",inline"`
}

type daysDocument struct {
	First wiretime.Day `bson:"first"`
	Last  wiretime.Day `bson:"last"`
}

type sourcedDocument struct {
	Source string       `bson:"source,omitempty"`
	First  wiretime.Day `bson:"first"`
	Last   wiretime.Day `bson:"last"`
}

// set makes the document say m.
func (d *membershipDocument) set(m element.Membership) {
	*d = membershipDocument{
		Head:  mongostore.Head{ID: m.ID, Schema: schema},
		Group: m.Group, Member: m.Member, Nested: m.Nested, ImportHash: m.ImportHash,
		Days: convert(m.Days, func(r wiretime.Days) daysDocument { return daysDocument(r) }),
		Sources: convert(m.Sources, func(s element.Sourced) sourcedDocument {
			return sourcedDocument{s.Source, s.First, s.Last}
		}),
		First: wiretime.LastDay, Last: wiretime.FirstDay,
	}
	for _, run := range m.Days {
		d.First, d.Last = min(d.First, run.First), max(d.Last, run.Last)
	}
}

func (d *membershipDocument) membership() element.Membership {
	return element.Membership{
		ID: d.ID, Version: d.Version,
		Group: d.Group, Member: d.Member, Nested: d.Nested, ImportHash: d.ImportHash,
		Days: convert(d.Days, func(r daysDocument) wiretime.Days { return wiretime.Days(r) }),
		Sources: convert(d.Sources, func(s sourcedDocument) element.Sourced {
			return element.Sourced{Source: s.Source, Days: wiretime.Days{First: s.First, Last: s.Last}}
		}),
	}
}

// convert keeps nil, which is stored otherwise than an empty list.
func convert[A, B any](list []A, to func(A) B) []B {
	if list == nil {
		return nil
	}
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = to(a)
	}
	return converted
}
