package element

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Store keeps elements and memberships. A missing element is a Missing problem where one is asked for by id.
type Store interface {
	Element(ctx context.Context, id int64) (Element, error)
	ElementsByID(ctx context.Context, ids []int64) ([]Element, error)
	ElementsByKey(ctx context.Context, keys []string) ([]Element, error)
	// Named returns the current elements of exactly that name, in order of id.
	Named(ctx context.Context, name string) ([]Element, error)
	// Like returns the first elements in order of name, then id, that are current and have the needle in their name.
	Like(ctx context.Context, needle Needle, limit int) ([]Element, error)
	List(ctx context.Context, filter Filter) ([]Element, error)
	// AdministeredBy returns the elements that have the user among their administrators, in no order.
	AdministeredBy(ctx context.Context, user int64) ([]Element, error)
	CountCurrent(ctx context.Context, ids []int64) (int, error)

	// Add stores new elements, with ids of its choice, and returns the positions of those that a unique key kept out.
	Add(ctx context.Context, elements []Element) (taken []int, err error)
	// Replace stores elements that are still at the version they were read at, and says whether that was so for all of them.
	Replace(ctx context.Context, elements []Element) (all bool, err error)
	// Change lets change decide on an element and stores it, whoever else writes; change may run many times. ErrUnchanged from it
	// stores nothing.
	Change(ctx context.Context, id int64, change func(*Element) error) (Element, error)

	// GroupsOf returns the memberships of the members on any day of the span.
	GroupsOf(ctx context.Context, members []int64, days wiretime.Days) ([]Membership, error)
	// MembersOf returns the memberships in the groups on any day of the span.
	MembersOf(ctx context.Context, groups []int64, days wiretime.Days) ([]Membership, error)
	// MembersPage returns up to limit memberships in the group, with those of any day in the span, in order of member, after that member.
	MembersPage(ctx context.Context, group int64, days wiretime.Days, after int64, limit int) ([]Membership, error)
	// Pairs returns those memberships of the groups and members that exist, and perhaps more.
	Pairs(ctx context.Context, groups, members []int64) ([]Membership, error)
	// AddMemberships and ReplaceMemberships are as Add and Replace.
	AddMemberships(ctx context.Context, memberships []Membership) (taken []int, err error)
	ReplaceMemberships(ctx context.Context, memberships []Membership) (all bool, err error)
}

// Events is what is asked of the events service.
type Events interface {
	Commitments(ctx context.Context, q fact.CommitmentsQuestion) ([]fact.Commitment, error)
	Requests(ctx context.Context, q fact.RequestsQuestion) ([]form.Request, error)
	Busy(ctx context.Context, q fact.BusyQuestion) ([]fact.Busy, error)
	Calendar(ctx context.Context, q fact.CalendarQuestion) ([]fact.CalendarEvent, error)
}

// Users is what is asked of the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Service is the use cases of elements. It is safe for concurrent use.
type Service struct {
	Store  Store
	Feeds  FeedStore
	Events Events
	Users  Users
	Zone   wiretime.Zone
	Now    func() time.Time
}

func (s *Service) today() wiretime.Day { return s.Zone.DayOf(s.Now()) }

// SearchByName returns the current elements of exactly that name, in order of id.
func (s *Service) SearchByName(ctx context.Context, name string) ([]form.Element, error) {
	found, err := s.Store.Named(ctx, name)
	return lists(found), err
}

// SearchLike returns the first 100 current elements, in order of name, then id, whose name contains the part, letter case apart.
func (s *Service) SearchLike(ctx context.Context, part string) ([]form.Element, error) {
	found, err := s.Store.Like(ctx, NewNeedle(part), maxHits)
	return lists(found), err
}

func lists(elements []Element) []form.Element {
	forms := make([]form.Element, len(elements))
	for i, e := range elements {
		forms[i] = e.List()
	}
	return forms
}

// Detail returns an element, and for a group how many current people and things are in it today, nested groups resolved: one read, for
// a group one more for each level of nesting, and one count.
func (s *Service) Detail(ctx context.Context, id int64) (e Element, members int, err error) {
	if e, err = s.Store.Element(ctx, id); err != nil || !e.IsGroup() {
		return e, 0, err
	}
	all, err := s.membersOn(ctx, id, s.today())
	if err != nil {
		return e, 0, err
	}
	members, err = s.Store.CountCurrent(ctx, all)
	return e, members, err
}

// membersOn returns the people and things in a group on a day.
func (s *Service) membersOn(ctx context.Context, group int64, on wiretime.Day) ([]int64, error) {
	return peopleAndThings(ctx, s.down(wiretime.Days{First: on, Last: on}), []int64{group}, wiretime.Days{First: on, Last: on})
}

// down reads members on any of the days.
func (s *Service) down(days wiretime.Days) level {
	return func(ctx context.Context, groups []int64) ([]Membership, error) {
		return s.Store.MembersOf(ctx, groups, days)
	}
}

// Facts returns those of the elements asked for that exist, current or not.
func (s *Service) Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error) {
	byID, err := s.Store.ElementsByID(ctx, q.IDs)
	if err != nil {
		return nil, err
	}
	byKey, err := s.Store.ElementsByKey(ctx, q.Keys)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.Element, 0, len(byID)+len(byKey))
	seen := map[int64]bool{}
	for _, e := range slices.Concat(byID, byKey) {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		facts = append(facts, e.fact())
	}
	return facts, nil
}

// Include says what a listing of commitments shows of each event besides (contract 4.1 rule 9).
type Include struct{ Staff, Locations bool }

// Commitments returns the commitments of an element of every status, direct ones without element, those through groups with the group
// (contract 4.1 rules 7 and 8), of the events that touch the range on a day on which they count.
func (s *Service) Commitments(ctx context.Context, id int64, days wiretime.Days, include Include) ([]form.Commitment, error) {
	if _, err := s.Store.Element(ctx, id); err != nil {
		return nil, err
	}
	reaches, err := s.reaches(ctx, id, days)
	if err != nil {
		return nil, err
	}
	facts, err := s.Events.Commitments(ctx, fact.CommitmentsQuestion{Reaches: reaches, Involved: include.Staff || include.Locations})
	if err != nil {
		return nil, err
	}
	shown, err := s.shown(ctx, id, facts)
	if err != nil {
		return nil, err
	}
	commitments := make([]form.Commitment, len(facts))
	for i, f := range facts {
		commitments[i] = shape(f, id, shown, include)
	}
	return commitments, nil
}

// reaches are the element itself, on all days, and its groups, on those on which it belongs to them, in order of id.
func (s *Service) reaches(ctx context.Context, id int64, days wiretime.Days) ([]fact.Reach, error) {
	all, err := s.reachesOfAll(ctx, []int64{id}, days)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// reachesOfAll are the reaches of each of the elements. One read for each level of nesting, for all of them at once.
func (s *Service) reachesOfAll(ctx context.Context, ids []int64, days wiretime.Days) ([][]fact.Reach, error) {
	up := func(ctx context.Context, members []int64) ([]Membership, error) {
		return s.Store.GroupsOf(ctx, members, days)
	}
	if len(ids) > 1 {
		known, err := gather(ctx, up, ids)
		if err != nil {
			return nil, err
		}
		up = known
	}
	all := make([][]fact.Reach, len(ids))
	for n, id := range ids {
		groups, err := groupsOf(ctx, up, id, days)
		if err != nil {
			return nil, err
		}
		reaches := []fact.Reach{{ElementID: id, Days: []wiretime.Days{days}}}
		for group, held := range groups {
			reaches = append(reaches, fact.Reach{ElementID: group, Days: held})
		}
		slices.SortFunc(reaches[1:], func(a, b fact.Reach) int { return cmp.Compare(a.ElementID, b.ElementID) })
		all[n] = reaches
	}
	return all, nil
}

// shown reads the elements that the commitments name besides the queried one.
func (s *Service) shown(ctx context.Context, queried int64, facts []fact.Commitment) (map[int64]Element, error) {
	var ids []int64
	for _, f := range facts {
		if f.ElementID != queried {
			ids = append(ids, f.ElementID)
		}
		ids = append(ids, f.Involved...)
	}
	slices.Sort(ids)
	return s.byID(ctx, slices.Compact(ids))
}

// byID reads elements.
func (s *Service) byID(ctx context.Context, ids []int64) (map[int64]Element, error) {
	found, err := s.Store.ElementsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	elements := make(map[int64]Element, len(found))
	for _, e := range found {
		elements[e.ID] = e
	}
	return elements, nil
}

func shape(f fact.Commitment, queried int64, shown map[int64]Element, include Include) form.Commitment {
	event := f.Event
	if include.Staff {
		event.Staff = shortTexts(f.Involved, shown, form.Staff)
	}
	if include.Locations {
		event.Locations = shortTexts(f.Involved, shown, form.Location)
	}
	c := form.Commitment{ID: &f.ID, Status: f.Status, Event: &event, Valid: true}
	if f.ElementID != queried {
		group := shown[f.ElementID].List()
		c.Element = &group
	}
	return c
}

// shortTexts joins those of the elements that are of the type, in their order, by commas; "" when none is.
func shortTexts(ids []int64, shown map[int64]Element, entityType string) *string {
	var texts []string
	for _, id := range ids {
		if e := shown[id]; e.EntityType == entityType {
			texts = append(texts, e.ShortText())
		}
	}
	joined := strings.Join(texts, ",")
	return &joined
}

// Requests returns the requests for a resource group of the events that touch the range, and a MethodNotAllowed problem for any other
// element (decisions, part 3).
func (s *Service) Requests(ctx context.Context, id int64, days wiretime.Days) ([]form.Request, error) {
	e, err := s.Store.Element(ctx, id)
	if err != nil {
		return nil, err
	}
	if !e.IsResourceGroup() {
		return nil, problem.New(problem.MethodNotAllowed, "only a resource group has requests")
	}
	return s.Events.Requests(ctx, fact.RequestsQuestion{ElementID: id, Days: days})
}
