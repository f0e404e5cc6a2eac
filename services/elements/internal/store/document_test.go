package store

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Documents are read by other releases: what is stored stays as it is, name for name and in the same order.
func TestDocuments_StayAsTheyAreStored(t *testing.T) {
	public := false
	var e elementDocument
	e.set(element.Element{
		ID: 1, Key: "Pupil:17", ImportHash: "h", EntityType: "Pupil", EntityID: 2, Name: "A", UUID: "u", Current: true,
		Details: element.Details{
			Initials: "a", Title: "b", Forename: "c", Surname: "d", KnownAs: "e", YearGroup: "f", HouseName: "g",
			TutorGroup: "h", Email: "i", ShortName: "j", Description: "k", Resource: true, School: true,
			MakePublic: &public,
		},
		Administrators: []int64{3}, ImportedAdministrators: []string{"3"},
	})
	var plain elementDocument
	plain.set(element.Element{ID: 1, EntityType: "Group", EntityID: 2, Name: "A", UUID: "u"})
	run := wiretime.Days{First: 5, Last: wiretime.LastDay}
	var m, empty membershipDocument
	m.set(element.Membership{
		ID: 1, Group: 2, Member: 3, Nested: true, Days: []wiretime.Days{run}, ImportHash: "h",
		Sources: []element.Sourced{{Source: "s", Days: run}, {Days: run}},
	})
	empty.set(element.Membership{ID: 1, Group: 2, Member: 3, Days: []wiretime.Days{}})

	for _, c := range []struct {
		name     string
		document any
		want     string
	}{
		{"an element", e, `{"_id":1,"version":0,"schema":2,"key":"Pupil:17","import_hash":"h","entity_type":"Pupil",
			"entity_id":2,"name":"A","uuid":"u","current":true,
			"details":{"initials":"a","title":"b","forename":"c","surname":"d","known_as":"e","year_group":"f",
			"house_name":"g","tutor_group":"h","email":"i","short_name":"j","description":"k","resource":true,
			"school":true,"make_public":false},"administrators":[3],"imported_administrators":["3"],"grams":["a"]}`},
		{"an element with little", plain, `{"_id":1,"version":0,"schema":2,"entity_type":"Group","entity_id":2,
			"name":"A","uuid":"u","current":false,"details":{},"administrators":null,"grams":null}`},
		{"a membership", m, `{"_id":1,"version":0,"schema":1,"group":2,"member":3,"nested":true,
			"spans":[{"first":5,"last":2147483647}],"import_hash":"h",
			"sources":[{"source":"s","first":5,"last":2147483647},{"first":5,"last":2147483647}],
			"first":5,"last":2147483647}`},
		{"a membership without days", empty, `{"_id":1,"version":0,"schema":1,"group":2,"member":3,"nested":false,
			"spans":[],"first":2147483647,"last":-2147483648}`},
	} {
		got, err := bson.MarshalExtJSON(c.document, false, false)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("\n", "", "\t", "").Replace(c.want)
		if string(got) != want {
			t.Errorf("%s is stored as\n%s, not\n%s", c.name, got, want)
		}
	}
	if got := m.membership(); got.Sources[0] != (element.Sourced{Source: "s", Days: run}) || got.Days[0] != run {
		t.Errorf("a membership is read as %+v", got)
	}
}
