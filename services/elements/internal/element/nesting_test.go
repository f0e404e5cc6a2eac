package element

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// school is a slow, obvious store of memberships that counts how it is asked.
type school struct {
	memberships []Membership
	asked       map[int64]int
	levels      int
}

func (s *school) up(_ context.Context, members []int64) ([]Membership, error) {
	return s.ask(members, func(m Membership) int64 { return m.Member })
}

func (s *school) down(_ context.Context, groups []int64) ([]Membership, error) {
	return s.ask(groups, func(m Membership) int64 { return m.Group })
}

func (s *school) ask(ids []int64, end func(Membership) int64) ([]Membership, error) {
	s.levels++
	for _, id := range ids {
		s.asked[id]++
	}
	var found []Membership
	for _, m := range s.memberships {
		if slices.Contains(ids, end(m)) {
			found = append(found, m)
		}
	}
	return found, nil
}

// groupsOn walks the memberships of one day alone.
func (s *school) groupsOn(id int64, day wiretime.Day) map[int64]bool {
	reached := map[int64]bool{id: true}
	for range s.memberships { // long enough for any chain
		for _, m := range s.memberships {
			if reached[m.Member] && slices.ContainsFunc(m.Days, func(s wiretime.Days) bool { return s.Has(day) }) {
				reached[m.Group] = true
			}
		}
	}
	delete(reached, id)
	return reached
}

const (
	// Of the drawn schools, 1 to groups are groups and the rest people; days are 0 to lastDay.
	groups  = 6
	people  = 3
	lastDay = 8
)

func drawDays(t *rapid.T, label string) []wiretime.Days {
	var days []wiretime.Days
	for range rapid.IntRange(0, 3).Draw(t, label) {
		first := wiretime.Day(rapid.IntRange(-1, lastDay).Draw(t, "first"))
		last := wiretime.Day(rapid.IntRange(int(first), lastDay+1).Draw(t, "last"))
		if first < 0 {
			first = wiretime.FirstDay
		}
		if last > lastDay {
			last = wiretime.LastDay
		}
		days = append(days, wiretime.Days{First: first, Last: last})
	}
	return days
}

func drawSchool(t *rapid.T) *school {
	s := &school{asked: map[int64]int{}}
	sparse := rapid.IntRange(1, 5).Draw(t, "sparse")
	for group := int64(1); group <= groups; group++ {
		for member := int64(1); member <= groups+people; member++ {
			if member != group && rapid.IntRange(0, sparse).Draw(t, "member") == 0 {
				s.memberships = append(s.memberships,
					Membership{Group: group, Member: member, Nested: member <= groups,
						Days: wiretime.MergeDays(drawDays(t, "spans"))})
			}
		}
	}
	return s
}

func TestPart4_1_Rule07_GroupsOfADayAreThoseOfTheSlowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchool(t)
		id := rapid.Int64Range(1, groups+people).Draw(t, "element")
		first := wiretime.Day(rapid.IntRange(0, lastDay).Draw(t, "from"))
		days := wiretime.Days{First: first, Last: wiretime.Day(rapid.IntRange(int(first), lastDay).Draw(t, "to"))}

		memberships, err := above(t.Context(), s.up, []int64{id})
		errortest.None(t, err)
		reached := groupsOf(memberships, id, days)
		for day := wiretime.Day(-2); day <= lastDay+2; day++ {
			want := map[int64]bool{}
			if days.Has(day) {
				want = s.groupsOn(id, day)
			}
			for group := int64(1); group <= groups; group++ {
				got := slices.ContainsFunc(reached[group], func(s wiretime.Days) bool { return s.Has(day) })
				valuetest.MustSame(t, got, want[group], "day %d: element %d in group %d", day, id, group)
			}
		}
		again := &school{memberships: s.memberships, asked: map[int64]int{}}
		always, err := reachesOf(t.Context(), again.up, []int64{id}, allDays)
		want, err2 := reachesOf(t.Context(), again.up, []int64{id}, days)
		if got := during(always[0], days); !reflect.DeepEqual(got, want[0]) || err != nil || err2 != nil {
			t.Fatalf("of the reaches on all days, %v are on the days, not %v", got, want)
		}
		for id, times := range s.asked {
			valuetest.MustHold(t, times <= 1, "element %d was asked for %d times", id, times)
		}
		valuetest.MustHold(t, s.levels <= groups+1, "%d round trips for %d groups", s.levels, groups)
	})
}

func TestDecisionsPart3_MembersAreThoseOfTheSlowModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchool(t)
		group := rapid.Int64Range(1, groups).Draw(t, "group")
		on := wiretime.Day(rapid.IntRange(0, lastDay).Draw(t, "on"))

		got, err := peopleAndThings(t.Context(), s.down, []int64{group}, wiretime.Days{First: on, Last: on})
		errortest.None(t, err)
		var want []int64
		for person := int64(groups + 1); person <= groups+people; person++ {
			if s.groupsOn(person, on)[group] {
				want = append(want, person)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in group %d on day %d are %v, the model says %v", group, on, got, want)
		}
	})
}

func TestMembersOfManyGroupsOverDaysAreAllThoseOfEachDayByOneReadForEachLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchool(t)
		some := rapid.SliceOfNDistinct(rapid.Int64Range(1, groups), 1, 3, rapid.ID[int64]).Draw(t, "groups")
		first := rapid.IntRange(0, lastDay).Draw(t, "first")
		on := wiretime.Days{First: wiretime.Day(first),
			Last: wiretime.Day(rapid.IntRange(first, lastDay).Draw(t, "last"))}

		got, err := peopleAndThings(t.Context(), s.down, some, on)
		errortest.None(t, err)
		valuetest.MustHold(t, s.levels <= groups, "%d round trips for %d groups", s.levels, groups)
		for person := int64(groups + 1); person <= groups+people; person++ {
			for day := on.First; day <= on.Last; day++ {
				in := s.groupsOn(person, day)
				if slices.ContainsFunc(some, func(group int64) bool { return in[group] }) &&
					!slices.Contains(got, person) {
					t.Fatalf("%d is missing: on day %d it is in %v", person, day, in)
				}
			}
		}
	})
}

func TestPart4_1_Rule07_ADayOfAPupilAsksOnceForEachLevel(t *testing.T) {
	// A pupil (10) in ten sets (20 to 29), which are in a year group (2), which is in the school (1).
	s := &school{asked: map[int64]int{}}
	always := []wiretime.Days{{First: wiretime.FirstDay, Last: wiretime.LastDay}}
	for set := int64(20); set < 30; set++ {
		s.memberships = append(s.memberships, Membership{Group: set, Member: 10, Days: always},
			Membership{Group: 2, Member: set, Nested: true, Days: always})
	}
	s.memberships = append(s.memberships, Membership{Group: 1, Member: 2, Nested: true, Days: always})
	memberships, err := above(t.Context(), s.up, []int64{10})
	errortest.None(t, err)
	reached := groupsOf(memberships, 10, wiretime.Days{First: 100, Last: 100})
	if len(reached) != 12 || s.levels != 4 {
		t.Errorf("%d groups by %d round trips, not 12 by 4", len(reached), s.levels)
	}
}

func TestDecisionsPart3_ANeighboursFaultIsNoAnswer(t *testing.T) {
	away := errors.New("away")
	fail := func(context.Context, []int64) ([]Membership, error) { return nil, away }
	errortest.Is(t, errortest.Of(above(t.Context(), fail, []int64{1})), away, "groups")
	errortest.Is(t, errortest.Of(peopleAndThings(t.Context(), fail, []int64{1}, wiretime.Days{})), away, "members")
}
