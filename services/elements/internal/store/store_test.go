package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

func open(t *testing.T) (*Store, *mongo.Database) {
	t.Helper()
	db := storetest.Mongo(t)
	errortest.None(t, Prepare(t.Context(), db))
	return New(Options{DB: db, IDs: mongostore.NewIDs(db)}), db
}

func elementNamed(entityType, name string) element.Element {
	return element.Element{EntityType: entityType, Name: name, UUID: uuid.NewString(), Current: true}
}

// add stores elements, and returns them with their ids.
func add(t *testing.T, s *Store, elements ...element.Element) []element.Element {
	t.Helper()
	return insert(t, s.Elements, elements...)
}

// insert stores records, and fails the test unless all are new.
func insert[T any](t *testing.T, into interface {
	Insert(ctx context.Context, records []T) (taken []int, err error)
}, records ...T) []T {
	t.Helper()
	taken, err := into.Insert(t.Context(), records)
	if err != nil || len(taken) > 0 {
		t.Fatal(taken, err)
	}
	return records
}

// days are runs of days, by the first and the last of each.
func days(bounds ...wiretime.Day) (runs []wiretime.Days) {
	for run := range slices.Chunk(bounds, 2) {
		runs = append(runs, wiretime.Days{First: run[0], Last: run[1]})
	}
	return runs
}

func namesOf(elements []element.Element) []string {
	return sequence.Map(elements, func(e element.Element) string { return e.Name })
}

func TestElements_ReplaceLosesNoOtherWrite(t *testing.T) {
	s, _ := open(t)
	both := add(t, s, elementNamed(form.Group, "A"), elementNamed(form.Group, "B"))
	read, err := s.Elements.Find(t.Context(), []int64{both[0].ID, both[1].ID})
	errortest.None(t, err)
	_, err = s.Elements.Change(t.Context(), read[0].ID,
		func(e *element.Element) error { e.Administrators = []int64{7}; return nil })
	errortest.None(t, err)
	read[0].Name, read[1].Name = "changed", "changed"
	all, err := s.Elements.Replace(t.Context(), read)
	valuetest.MustHold(t, err == nil && !all, "all were replaced: %v %v", all, err)
	if e, err := s.Elements.Get(t.Context(), read[0].ID); err != nil || e.Name == "changed" ||
		len(e.Administrators) != 1 {
		t.Errorf("the other write is lost: %+v %v", e, err)
	}
	if e, err := s.Elements.Get(t.Context(), read[1].ID); err != nil || e.Name != "changed" {
		t.Errorf("not replaced: %+v %v", e, err)
	}
}

func TestElements_AUUIDIsOfOneElement(t *testing.T) {
	s, _ := open(t)
	both := add(t, s, elementNamed(form.Group, "A"), elementNamed(form.Group, "B"))
	_, err := s.Elements.Change(t.Context(), both[1].ID,
		func(e *element.Element) error { e.UUID = both[0].UUID; return nil })
	errortest.Is(t, err, element.ErrUUIDTaken)
}

func TestDecisionsPart3_SearchPassesOverWhatHasTheGramsElsewhere(t *testing.T) {
	s, _ := open(t)
	var elements []element.Element
	for i := range 150 { // before the hit in order of name, more than a batch of the cursor
		elements = append(elements, elementNamed(form.Subject, fmt.Sprintf("%03d abcX bcd", i)))
	}
	add(t, s, append(elements, elementNamed(form.Subject, "zz abcd"))...)
	found, err := s.Elements.ListByNeedle(t.Context(), needle.New("abcd"), element.Among{}, 100)
	errortest.None(t, err)
	valuetest.List(t, namesOf(found), []string{"zz abcd"})
}

func TestMemberships_PairsLeaveNoneOut(t *testing.T) {
	s, _ := open(t)
	var all []element.Membership
	for group := range int64(4) {
		for member := range int64(4) {
			all = append(all, element.Membership{Group: 1 + group, Member: 10 + member})
		}
	}
	insert(t, s.Memberships, all...)
	for _, c := range []struct{ groups, members []int64 }{
		{[]int64{1}, []int64{10}}, {[]int64{1}, []int64{10, 11, 12}}, {[]int64{1, 2, 3}, []int64{10}},
		{[]int64{1, 2}, []int64{10, 11, 12}}, {[]int64{1, 2, 3}, []int64{10, 11}},
	} {
		found, err := s.Memberships.Find(t.Context(), c.groups, c.members)
		errortest.None(t, err)
		for _, group := range c.groups {
			for _, member := range c.members {
				if !slices.ContainsFunc(found,
					func(m element.Membership) bool { return m.Group == group && m.Member == member }) {
					t.Errorf("%v and %v: without %d in %d", c.groups, c.members, member, group)
				}
			}
		}
	}
}

func TestMemberships_AreFoundByTheirDays(t *testing.T) {
	s, _ := open(t)
	insert(t, s.Memberships, []element.Membership{
		{Group: 1, Member: 10, Days: days(5, 9)},
		{Group: 2, Member: 10, Days: days(wiretime.FirstDay, 4)},
		{Group: 3, Member: 10, Nested: true, Days: days(10, wiretime.LastDay)},
		{Group: 4, Member: 10}, // taken back
		{Group: 1, Member: 11, Days: days(-5, -1)},
	}...)
	groups := func(first, last wiretime.Day) (all []int64) {
		found, err := s.Memberships.FindByMembers(t.Context(), []int64{10}, wiretime.Days{First: first, Last: last})
		errortest.None(t, err)
		for _, m := range found {
			all = append(all, m.Group)
			valuetest.Holds(t, m.Version == 1 && m.ID != 0 && m.Nested == (m.Group == 3), "read %+v", m)
		}
		slices.Sort(all)
		return all
	}
	for _, c := range []struct {
		first, last wiretime.Day
		want        []int64
	}{{4, 4, []int64{2}}, {5, 5, []int64{1}}, {9, 10, []int64{1, 3}}, {4, 5, []int64{1, 2}}, {-1000, -999, []int64{2}},
		{20000, 20001, []int64{3}}} {
		valuetest.List(t, groups(c.first, c.last), c.want, "groups from %d to %d", c.first, c.last)
	}
	members, err := s.Memberships.FindByGroups(t.Context(), []int64{1}, wiretime.Days{First: 0, Last: 100})
	valuetest.Holds(t, err == nil && len(members) == 1 && members[0].Member == 10, "members of 1: %+v %v", members, err)
}

// TestNoRequestReadsACollection explains every find of a request against a school of some size.
func TestNoRequestReadsACollection(t *testing.T) {
	s, db := open(t)
	var elements []element.Element
	for i := range 3000 {
		e := elementNamed(form.Pupil, fmt.Sprintf("Forename%d Surname%d (%d)", i*7919%3000, i*104729%3000, i%13))
		e.Key, e.Current = fmt.Sprintf("Pupil:%d", i), i%10 > 0
		elements = append(elements, e)
	}
	elements = add(t, s, elements...)
	var memberships []element.Membership
	for i, e := range elements {
		for group := range int64(5) {
			memberships = append(memberships,
				element.Membership{Group: 100000 + int64(i)/25*5 + group, Member: e.ID, Days: days(20000, 20300)})
		}
	}
	insert(t, s.Memberships, memberships...)
	day := wiretime.Days{First: 20100, Last: 20100}
	some := []int64{elements[0].ID, elements[1500].ID}
	seen := &element.Seen{IDs: some, Types: []string{form.Location, form.Subject}}
	pupils := element.Filter{EntityType: form.Pupil}
	seenPupils, currentPupils := pupils, pupils
	seenPupils.Seen, currentPupils.Current = seen, new(true)
	currentAndSeen := currentPupils
	currentAndSeen.Seen = seen
	among := func(f element.Filter) element.Among { return element.Among{Filter: f} }
	after := func(f element.Filter) element.Among {
		return element.Among{Filter: f, After: &element.Place{Name: "Forename17 Surname1", ID: 5}}
	}
	for _, c := range []struct {
		name, collection string
		filter, sort     bson.D
	}{
		{"by id", "elements", bson.D{in("_id", some)}, nil},
		{"by key", "elements", byKeys([]string{"Pupil:17", "Pupil:1900"}), nil},
		{"by uuid", "elements", byUUID("3b241101-e2bb-4255-8caf-4136c566a962"), nil},
		{"by administrator", "elements", byAdministrators([]int64{7}), nil},
		{"by several administrators", "elements", byAdministrators([]int64{7, 9}), nil},
		{"name", "elements", byName("Forename17 Surname1"), orderOfID},
		{"namelike of one character", "elements", byNeedle(needle.New("7")), orderOfName},
		{"namelike of two characters", "elements", byNeedle(needle.New("99")), orderOfName},
		{"namelike of many characters", "elements", byNeedle(needle.New("surname29")), orderOfName},
		{"public properties", "elements", public, orderOfID},
		{"schools", "elements", schools(), orderOfID},
		{"a type by name", "elements", whatIsAmong(whatIsCurrent(), among(pupils)), orderOfName},
		{"a type after a place", "elements", whatIsAmong(whatIsCurrent(), after(pupils)), orderOfName},
		{"a type of what is seen", "elements", whatIsAmong(whatIsCurrent(), after(seenPupils)), orderOfName},
		{"namelike of a type after a place", "elements",
			whatIsAmong(byNeedle(needle.New("99")), after(pupils)), orderOfName},
		{"name of what is seen", "elements",
			whatIsAmong(byName("Forename17 Surname1"), among(element.Filter{Seen: seen})), orderOfID},
		{"namelike of what is seen", "elements",
			whatIsAmong(byNeedle(needle.New("99")), among(element.Filter{Seen: seen})), orderOfName},
		{"name of a school", "elements",
			whatIsAmong(byName("Forename17 Surname1"), among(element.Filter{IDs: some})), orderOfID},
		{"namelike of a school", "elements",
			whatIsAmong(byNeedle(needle.New("99")), among(element.Filter{Seen: seen, IDs: some})), orderOfName},
		{"list of a type of what is seen", "elements", page(currentAndSeen, 0, 0), orderOfID},
		{"list of a school", "elements", page(element.Filter{IDs: some}, 100, 0), orderOfID},
		{"list of a type", "elements", page(currentPupils, 100, 0), orderOfID},
		{"list of a type up to a known end", "elements", page(pupils, 100, 500), orderOfID},
		{"list of what is current", "elements", page(element.Filter{Current: new(true)}, 100, 0), orderOfID},
		{"list", "elements", page(element.Filter{}, 2900, 0), orderOfID},
		{"by key in a list", "elements", page(element.Filter{Key: "Pupil:17"}, 0, 0), orderOfID},
		{"up", "memberships", touching(day, in("member", some)), nil},
		{"down", "memberships", touching(day, in("group", []int64{100000, 100007})), nil},
		{"a page of members", "memberships",
			byMembershipFilter(element.MembershipFilter{Group: 100000, Days: day, After: 5}),
			bson.D{{Key: "member", Value: 1}}},
		{"erasures that are running", "erasures", runningErasures(), nil},
		{"a page of erasures", "erasures", erasuresAfter(5), orderOfID},
		{"pairs of a group", "memberships", byPairs([]int64{100000}, some), nil},
		{"pairs of groups", "memberships", byPairs([]int64{100000, 100001}, some), nil},
		{"pairs of members", "memberships", byPairs([]int64{100000, 100001, 100002}, some), nil},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			command := bson.D{{Key: "find", Value: c.collection}, {Key: "filter", Value: c.filter}}
			if c.sort != nil {
				command = append(command, bson.E{Key: "sort", Value: c.sort})
			}
			storetest.NoScan(t, db, command)
		})
	}
}
