package suite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

func membershipChecks() []Check {
	return []Check{
		prove("TestPart4_1_Rule07_ThroughAGroupWhichElementShows", throughAGroup, "4.1 rule 7", "decisions 3 both ways", "2.2 element in a listing"),
		prove("TestPart4_1_Rule08_DirectCommitmentsLeaveElementOut", directLeavesElementOut, "4.1 rule 8", "2.2 element in a listing"),
		prove("TestDecisionsPart3_FirstAndLastDayAreIncluded", firstAndLastDay, "decisions 3 membership"),
		prove("TestDecisionsPart3_NestedMembershipsAreIntersected", nestedAreIntersected, "decisions 3 through a group", "decisions 3 nesting"),
		prove("TestDecisionsPart3_AMembershipCountsOnADayOfTheEventInTheRange", dayOfTheEventInTheRange, "decisions 3 through a group"),
		prove("TestDecisionsPart3_CyclesAreHarmless", cyclesAreHarmless, "decisions 3 nesting"),
		prove("TestDecisionsPart3_MembershipAgainstAnObviousModel", membershipModel, "decisions 3 through a group", "decisions 3 nesting", "decisions 3 membership"),
	}
}

func throughAGroup(t *T) {
	c, pupil, stranger := t.Booker(), t.Pupil(), t.Pupil()
	set := t.Group(pupil)
	year := t.Group(set)
	id := t.book(c, "trip", "2019-04-10 09:00", "2019-04-10 10:00", set, pupil, year)
	a := on(c, pupil, "start_date=2019-04-10")
	t.Equal("of the pupil", listed(a), fmt.Sprintf("trip@%d, trip, trip@%d", set.ID, year.ID))
	t.Equal("element", a.At("commitments.0.element"), set.List())
	t.Equal("element of the group around it", a.At("commitments.2.element"), year.List())
	t.Equal("event", a.At("commitments.0.event"), t.summary(id, "trip", "2019-04-10 09:00", "2019-04-10 10:00", false))
	t.Equal("of the set", listed(on(c, set, "start_date=2019-04-10")), fmt.Sprintf("trip, trip@%d", year.ID))
	t.Equal("of somebody else", listed(on(c, stranger, "start_date=2019-04-10")), "")
}

func directLeavesElementOut(t *T) {
	c, room := t.Booker(), t.Location()
	t.Event(c, nil, room)
	t.Equal("keys of a direct commitment", on(c, room, "start_date=2019-04-10").Keys("commitments.0"), "id,status,event,valid")
}

func firstAndLastDay(t *T) {
	c, pupil, set := t.Booker(), t.Pupil(), t.Group()
	from, until := t.Group(), t.Group()
	t.Member(set, pupil, "2019-04-10", "2019-04-12")
	t.Member(from, pupil, "2019-04-11", "")
	t.Member(until, pupil, "", "2019-04-11")
	for i, group := range []Element{set, from, until} {
		for day := 8; day <= 14; day++ {
			t.book(c, fmt.Sprintf("%02d", day), fmt.Sprintf("2019-04-%02d 1%d:00", day, i), fmt.Sprintf("2019-04-%02d 1%d:30", day, i), group)
		}
	}
	for day, groups := range map[string][]Element{
		"08": {until}, "09": {until}, "10": {set, until}, "11": {set, from, until}, "12": {set, from}, "13": {from}, "14": {from},
	} {
		want := []string{}
		for _, g := range groups {
			want = append(want, fmt.Sprintf("%s@%d", day, g.ID))
		}
		t.Equal(day+" April", listed(on(c, pupil, "start_date=2019-04-"+day)), strings.Join(want, ", "))
	}
}

// nestedAreIntersected: along a chain of groups a day counts when every membership covers it; by two chains, when one of them does.
func nestedAreIntersected(t *T) {
	c, pupil, set, other, year := t.Booker(), t.Pupil(), t.Group(), t.Group(), t.Group()
	t.Member(set, pupil, "2019-04-08", "2019-04-11")
	t.Member(year, set, "2019-04-10", "2019-04-13")
	t.Member(other, pupil, "2019-04-13", "")
	t.Member(year, other, "", "2019-04-14")
	t.days(c, year, "08", "09", "10", "11", "12", "13", "14", "15")
	t.Equal("8 to 15 April", listed(on(c, pupil, "start_date=2019-04-08&end_date=2019-04-15")), strings.ReplaceAll("10@G, 11@G, 13@G, 14@G", "G", fmt.Sprint(year.ID)))
	outer, chain := pupil, []Element{}
	for range 12 {
		group := t.Group(outer)
		chain = append(chain, group)
		outer = group
	}
	t.book(c, "assembly", "2019-05-10 09:00", "2019-05-10 10:00", outer)
	t.Equal("through 12 groups", listed(on(c, pupil, "start_date=2019-05-10")), fmt.Sprintf("assembly@%d", outer.ID))
	t.Equal("of a group in the middle", listed(on(c, chain[5], "start_date=2019-05-10")), fmt.Sprintf("assembly@%d", outer.ID))
}

func dayOfTheEventInTheRange(t *T) {
	c, pupil, set := t.Booker(), t.Pupil(), t.Group()
	t.Member(set, pupil, "2019-04-10", "2019-04-10")
	t.book(c, "camp", "2019-04-08 12:00", "2019-04-12 09:00", set)
	t.book(c, "ends before", "2019-04-08 12:00", "2019-04-10 00:00", set)
	t.book(c, "begins after", "2019-04-11 00:00", "2019-04-11 12:00", set)
	camp := fmt.Sprintf("camp@%d", set.ID)
	for query, want := range map[string]string{
		"start_date=2019-04-10": camp, "start_date=2019-04-01&end_date=2019-04-30": camp, "start_date=2019-04-10&end_date=2019-04-11": camp,
		"start_date=2019-04-09": "", "start_date=2019-04-11&end_date=2019-04-12": "", "start_date=2019-04-08&end_date=2019-04-09": "",
	} {
		t.Equal(query, listed(on(c, pupil, query)), want)
	}
}

func cyclesAreHarmless(t *T) {
	c, pupil := t.Booker(), t.Pupil()
	a, b, d := t.Group(pupil), t.Group(), t.Group()
	t.withMembers(b, []Element{a})
	t.withMembers(d, []Element{b})
	t.withMembers(a, []Element{d})
	t.book(c, "x", "2019-04-10 09:00", "2019-04-10 10:00", d)
	for _, e := range []Element{pupil, a, b} {
		t.Equal("in a cycle", listed(on(c, e, "start_date=2019-04-10")), fmt.Sprintf("x@%d", d.ID))
	}
	t.Equal("of the group itself", listed(on(c, d, "start_date=2019-04-10")), "x")
}

// membershipModel draws groups that nest at random, with memberships of random days, books each group on each day, and compares a pupil's
// days with a walk from group to group. The seed is in what it says when it fails.
func membershipModel(t *T) {
	const groups, days = 5, 6
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	c, pupil := t.Booker(), t.Pupil()
	all := []Element{pupil}
	day := func(n int) string { return date(time.Date(2019, 4, 8+n, 0, 0, 0, 0, time.UTC)) }
	for range groups {
		all = append(all, t.Group())
	}
	within := [groups + 1][groups + 1][days]bool{} // [member][group]: the days of the membership
	for member := range all {
		for group := 1; group < len(all); group++ {
			if member == group || random.IntN(100) >= 45 {
				continue
			}
			first := random.IntN(days)
			last := first + random.IntN(days-first)
			t.Member(all[group], all[member], day(first), day(last))
			for n := first; n <= last; n++ {
				within[member][group][n] = true
			}
		}
	}
	for group := 1; group < len(all); group++ {
		for n := range days {
			t.book(c, "x", fmt.Sprintf("%s 1%d:00", day(n), group), fmt.Sprintf("%s 1%d:30", day(n), group), all[group])
		}
	}
	whole := []string{}
	for n := range days {
		reached := [groups + 1]bool{true}
		for range groups {
			for member := range all {
				for group := range all {
					reached[group] = reached[group] || reached[member] && within[member][group][n]
				}
			}
		}
		want := []string{}
		for group := 1; group < len(all); group++ {
			if reached[group] {
				want = append(want, fmt.Sprintf("x@%d", all[group].ID))
			}
		}
		whole = append(whole, want...)
		t.Equal(fmt.Sprintf("seed %d, day %d", seed, n), listed(on(c, pupil, "start_date="+day(n))), strings.Join(want, ", "))
	}
	t.Equal(fmt.Sprintf("seed %d, all days", seed), listed(on(c, pupil, "start_date="+day(0)+"&end_date="+day(days-1))), strings.Join(whole, ", "))
}
