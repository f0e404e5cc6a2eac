package element

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/needle"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Store keeps elements.
type Store interface {
	// Get returns one element; record.ErrNotFound when there is none.
	Get(ctx context.Context, id int64) (Element, error)
	// GetByUUID returns the element with that uuid; record.ErrNotFound when there is none.
	GetByUUID(ctx context.Context, uuid string) (Element, error)
	// Find, FindByKeys and FindByAdministrators return those elements that exist, in no order.
	Find(ctx context.Context, ids []int64) ([]Element, error)
	FindByKeys(ctx context.Context, keys []string) ([]Element, error)
	FindByAdministrators(ctx context.Context, users []int64) ([]Element, error)
	// List returns up to limit elements with an id above after, in order of id.
	List(ctx context.Context, filter Filter, after int64, limit int) ([]Element, error)
	// ListByName returns those among the elements that are current and of exactly that name, in order of id, with only
	// the fields of the list form, and whether they are current. A limit of 0 means none.
	ListByName(ctx context.Context, name string, among Among, limit int) ([]Element, error)
	// ListByNeedle returns the first among the elements that are current and have the part in their name, in order of
	// name, then id, with the fields of ListByName.
	ListByNeedle(ctx context.Context, part needle.Needle, among Among, limit int) ([]Element, error)
	// ListByType returns, in the same way, the first of the current elements of the type that among has.
	ListByType(ctx context.Context, among Among, limit int) ([]Element, error)
	// ListPublic returns the ids of the public properties, in order.
	ListPublic(ctx context.Context) ([]int64, error)
	// ListSchools returns the ids of the schools, in order; callers must not change them.
	ListSchools(ctx context.Context) ([]int64, error)

	// Insert stores new elements and sets their ids. It returns the positions of those with a duplicate unique key.
	Insert(ctx context.Context, elements []Element) (duplicates []int, err error)
	// Replace stores those elements that are still at the version at which they were read, and says whether all were.
	Replace(ctx context.Context, elements []Element) (all bool, err error)
	// Change lets decide change an element, stores it, and returns it; no concurrent change is lost. Decide may run
	// many times; if it returns record.ErrUnchanged, nothing is stored. record.ErrNotFound when there is no such
	// element, ErrUUIDTaken when another element has the uuid.
	Change(ctx context.Context, id int64, decide func(*Element) error) (Element, error)
}

// MembershipStore keeps memberships, at most one for a group and a member.
type MembershipStore interface {
	// Find returns those memberships of the members in the groups that exist, and perhaps others, in no order.
	Find(ctx context.Context, groups, members []int64) ([]Membership, error)
	// FindByMembers and FindByGroups return the memberships of the members, or in the groups, that hold on any of the
	// days, and perhaps others, in no order: the group, the member, whether it is nested, and the days of each.
	FindByMembers(ctx context.Context, members []int64, days wiretime.Days) ([]Membership, error)
	FindByGroups(ctx context.Context, groups []int64, days wiretime.Days) ([]Membership, error)
	// List returns a page of the memberships in a group, in order of member.
	List(ctx context.Context, filter MembershipFilter) ([]Membership, error)
	// Reaches returns the result of work: the element and its groups, each on the days on which its commitments ever
	// count for the element. It may repeat an earlier result as long as no membership of these has changed; callers
	// must not change it.
	Reaches(
		ctx context.Context, id int64, work func(context.Context) ([]fact.Reach, error),
	) ([]fact.Reach, error)
	// Belonging returns the result of work: what belongs to a school on a day, and the groups whose members determine
	// that. It may repeat an earlier result as long as none of these has changed; callers must not change it.
	Belonging(
		ctx context.Context, school int64, on wiretime.Day,
		work func(context.Context) (ids, groups []int64, err error),
	) ([]int64, error)
	// ListAll returns up to limit memberships with an id above after, in order of id.
	ListAll(ctx context.Context, after int64, limit int) ([]Membership, error)
	// Insert and Replace are as those of Store; a duplicate is one whose group has the member already.
	Insert(ctx context.Context, memberships []Membership) (duplicates []int, err error)
	Replace(ctx context.Context, memberships []Membership) (all bool, err error)
}

// FeedStore keeps calendar feeds.
type FeedStore interface {
	// Namespace returns a text, which never changes, that makes the names of this deployment's events unique.
	Namespace(ctx context.Context) (string, error)
	// List returns the feeds of a user and an element, in order of id.
	List(ctx context.Context, userID, elementID int64) ([]Feed, error)
	// GetByToken returns the feed whose token has that hash; record.ErrNotFound when there is none.
	GetByToken(ctx context.Context, tokenHash string) (Feed, error)
	// Insert stores a new feed at the first place, up to most, that is free among its user's feeds of the element, and
	// returns it with its id and place. ErrFeedsFull when none is free. Concurrent calls get different places.
	Insert(ctx context.Context, f Feed, most int) (Feed, error)
	// Change lets decide change a feed, stores it, and returns it; record.ErrNotFound when there is none.
	Change(ctx context.Context, id int64, decide func(*Feed) error) (Feed, error)
	// Delete deletes a feed, if may returns no error; record.ErrNotFound when there is none.
	Delete(ctx context.Context, id int64, may func(Feed) error) error
	// FindTexts returns, of one page, the feeds of the users and those whose names have one of the texts, and the next
	// page's place.
	FindTexts(
		ctx context.Context, texts *erasure.Texts, users []int64, after string,
	) (found []Feed, next string, err error)
}

// Events is what is asked of the events service.
type Events interface {
	Commitments(ctx context.Context, q fact.CommitmentsQuestion) ([]fact.Commitment, error)
	Requests(ctx context.Context, q fact.RequestsQuestion) ([]fact.Request, error)
	Busy(ctx context.Context, q fact.BusyQuestion) ([]fact.Busy, error)
	Calendar(ctx context.Context, q fact.CalendarQuestion) ([]fact.CalendarEvent, error)
	Summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error)
}

// Users is what is asked of the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Accesses records which user reads whose data. It never waits for a store.
type Accesses interface {
	Record(ctx context.Context, what audit.Read, elements ...int64)
}

// Options of New.
type Options struct {
	Store       Store
	Memberships MembershipStore
	Feeds       FeedStore
	Erasures    ErasureStore
	EraseOwn    []func(erasure.Person) erasure.Part // of this service, besides the elements and the feeds
	Erasers     []Eraser                            // the other services, in the order of an erasure
	Events      Events
	Users       Users
	Accesses    Accesses
	Sights      principal.Sights
	Zone        wiretime.Zone
	Now         func() time.Time
}

// Service has the use cases of elements. It is safe for concurrent use.
type Service struct{ Options }

// New returns the use cases.
func New(o Options) *Service {
	s := &Service{o}
	s.Erasers = append([]Eraser{{"elements", s.eraseHere}}, o.Erasers...) // all
	return s
}

func (s *Service) today() wiretime.Day { return s.Zone.DayOf(s.Now()) }

// onToday are the default days of a question.
func (s *Service) onToday() wiretime.Days { return wiretime.Days{First: s.today(), Last: s.today()} }

// find returns those of the elements that exist, by id.
func (s *Service) find(ctx context.Context, ids []int64) (map[int64]*Element, error) {
	found, err := s.Store.Find(ctx, sequence.Distinct(slices.Clone(ids)))
	elements := make(map[int64]*Element, len(found))
	for i := range found {
		elements[found[i].ID] = &found[i]
	}
	return elements, err
}
