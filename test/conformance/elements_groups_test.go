package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func TestPart4_1_Rule07_ThroughAGroupWhichElementShows(t *testing.T) {
	proves(t, "4.1 rule 7: directly, or through a group, which element then shows",
		"decisions 3 both ways: committed directly and through a group: both are listed", "2.2 element in a listing")
	c, pupil, stranger := school.Booker(t), school.Pupil(t), school.Pupil(t)
	set := school.Group(t, pupil)
	year := school.Group(t, set)
	id := school.book(t, c, "trip", "2019-04-10 09:00", "2019-04-10 10:00", set, pupil, year)
	a := on(t, c, pupil, "start_date=2019-04-10")
	equal(t, "of the pupil", listed(t, a), fmt.Sprintf("trip@%d, trip, trip@%d", set.ID, year.ID))
	equal(t, "element", a.At(t, "commitments.0.element"), set.List())
	equal(t, "element of the group around it", a.At(t, "commitments.2.element"), year.List())
	equal(t, "event", a.At(t, "commitments.0.event"),
		school.summary(t, id, "trip", "2019-04-10 09:00", "2019-04-10 10:00", false))
	equal(t, "of the set", listed(t, on(t, c, set, "start_date=2019-04-10")), fmt.Sprintf("trip, trip@%d", year.ID))
	equal(t, "of a pupil in neither", listed(t, on(t, c, stranger, "start_date=2019-04-10")), "")
}

func TestDecisionsPart3_FirstAndLastDayAreIncluded(t *testing.T) {
	proves(t, "decisions 3 membership: first and last day inclusive, open ends allowed")
	c, pupil, set := school.Booker(t), school.Pupil(t), school.Group(t)
	from, until := school.Group(t), school.Group(t)
	school.Member(t, set, pupil, "2019-04-10", "2019-04-12")
	school.Member(t, from, pupil, "2019-04-11", "")
	school.Member(t, until, pupil, "", "2019-04-11")
	for i, group := range []Element{set, from, until} {
		for day := 8; day <= 14; day++ {
			school.book(t, c, fmt.Sprintf("%02d", day), fmt.Sprintf("2019-04-%02d 1%d:00", day, i),
				fmt.Sprintf("2019-04-%02d 1%d:30", day, i), group)
		}
	}
	for day, groups := range map[string][]Element{
		"08": {until}, "09": {until}, "10": {set, until}, "11": {set, from, until}, "12": {set, from}, "13": {from},
		"14": {from},
	} {
		want := sequence.Map(groups, func(g Element) string { return fmt.Sprintf("%s@%d", day, g.ID) })
		equal(t, day+" April", listed(t, on(t, c, pupil, "start_date=2019-04-"+day)), strings.Join(want, ", "))
	}
}

// TestDecisionsPart3_NestedMembershipsAreIntersected: through a chain of groups a day counts when it is in every
// membership of the chain; with two chains, when it is in one of them.
func TestDecisionsPart3_NestedMembershipsAreIntersected(t *testing.T) {
	proves(t, "decisions 3 through a group", "decisions 3 nesting")
	c, pupil, set, other, year := school.Booker(t), school.Pupil(t), school.Group(t), school.Group(t), school.Group(t)
	school.Member(t, set, pupil, "2019-04-08", "2019-04-11")
	school.Member(t, year, set, "2019-04-10", "2019-04-13")
	school.Member(t, other, pupil, "2019-04-13", "")
	school.Member(t, year, other, "", "2019-04-14")
	school.days(t, c, year, "08", "09", "10", "11", "12", "13", "14", "15")
	equal(t, "8 to 15 April", listed(t, on(t, c, pupil, "start_date=2019-04-08&end_date=2019-04-15")),
		strings.ReplaceAll("10@G, 11@G, 13@G, 14@G", "G", fmt.Sprint(year.ID)))
	outer, chain := pupil, []Element{}
	for range 12 {
		group := school.Group(t, outer)
		chain = append(chain, group)
		outer = group
	}
	school.book(t, c, "assembly", "2019-05-10 09:00", "2019-05-10 10:00", outer)
	equal(t, "through 12 groups", listed(t, on(t, c, pupil, "start_date=2019-05-10")),
		fmt.Sprintf("assembly@%d", outer.ID))
	equal(t, "of a group in the middle", listed(t, on(t, c, chain[5], "start_date=2019-05-10")),
		fmt.Sprintf("assembly@%d", outer.ID))
}

func TestDecisionsPart3_AMembershipCountsOnADayOfTheEventInTheRange(t *testing.T) {
	proves(t,
		"decisions 3 through a group: counts where the membership, nested ones intersected, covers a day of the "+
			"event within the range")
	c, pupil, set := school.Booker(t), school.Pupil(t), school.Group(t)
	school.Member(t, set, pupil, "2019-04-10", "2019-04-10")
	school.book(t, c, "camp", "2019-04-08 12:00", "2019-04-12 09:00", set)
	school.book(t, c, "reaches it", "2019-04-08 12:00", "2019-04-10 09:00", set)
	school.book(t, c, "ends before", "2019-04-08 12:00", "2019-04-10 00:00", set)
	school.book(t, c, "begins after", "2019-04-11 00:00", "2019-04-11 12:00", set)
	camp := fmt.Sprintf("reaches it@%d, camp@%d", set.ID, set.ID)
	for query, want := range map[string]string{
		"start_date=2019-04-10": camp, "start_date=2019-04-01&end_date=2019-04-30": camp,
		"start_date=2019-04-10&end_date=2019-04-11": camp, "start_date=2019-04-09": "",
		"start_date=2019-04-11&end_date=2019-04-12": "", "start_date=2019-04-08&end_date=2019-04-09": "",
	} {
		equal(t, query, listed(t, on(t, c, pupil, query)), want)
	}
}

func TestDecisionsPart3_CyclesAreHarmless(t *testing.T) {
	proves(t, "decisions 3 nesting: groups nest to any depth, cycles are harmless")
	c, pupil := school.Booker(t), school.Pupil(t)
	a, b, d := school.Group(t, pupil), school.Group(t), school.Group(t)
	school.withMembers(t, b, []Element{a})
	school.withMembers(t, d, []Element{b})
	school.withMembers(t, a, []Element{d})
	school.book(t, c, "x", "2019-04-10 09:00", "2019-04-10 10:00", d)
	for _, e := range []Element{pupil, a, b} {
		equal(t, "in a cycle", listed(t, on(t, c, e, "start_date=2019-04-10")), fmt.Sprintf("x@%d", d.ID))
	}
	equal(t, "of the group itself", listed(t, on(t, c, d, "start_date=2019-04-10")), "x")
}
