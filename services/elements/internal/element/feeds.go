package element

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

const (
	// MaxFeeds bounds the feeds that a user has of an element.
	MaxFeeds = 10
	// MaxFeedName bounds the name of a feed, in characters.
	MaxFeedName = 100
	// DefaultFeedName is the name of a feed that is given none.
	DefaultFeedName = "Calendar"
)

// ErrFeedsFull says that a user has MaxFeeds feeds of an element.
var ErrFeedsFull = errors.New("the user has as many feeds of the element as it may")

// Feed is a user's access to an element's calendar by a secret address, such as one for each of its devices.
type Feed struct {
	ID        int64     `bson:"-"`
	UserID    int64     `bson:"user_id,omitempty"`
	ElementID int64     `bson:"element_id,omitempty"`
	Place     int       `bson:"place,omitempty"`      // 1 to MaxFeeds, another for each of the user's of the element
	Name      string    `bson:"name,omitempty"`       // for the user alone; several may have the same
	TokenHash string    `bson:"token_hash,omitempty"` // SHA-256, in hexadecimal; the token itself is stored nowhere
	Created   time.Time `bson:"created,omitempty"`
	// UserVersion is that of the user's record in the session that made the token, not the current one of identity: a
	// session that is about to end must not make a feed that lives on.
	UserVersion int64 `bson:"user_version,omitempty"`
}

// mayHaveFeed says whether a user of that kind with these persons may have feeds of e (decisions, part 3): a guest
// none, a pupil those of its persons and of elements that are not persons, staff any.
func mayHaveFeed(kind principal.Kind, persons []int64, e Element) bool {
	switch kind {
	case principal.Staff:
		return true
	case principal.Pupil:
		return slices.Contains(persons, e.ID) || e.EntityType != form.Staff && e.EntityType != form.Pupil
	default:
		return false
	}
}

// ended says whether the feed has ended for good, because its user was deactivated or got another uuid.
func (f Feed) ended(u fact.User) bool { return f.UserVersion < u.FeedsSince }

// worksFor says whether the feed works for its user, as it is now.
func (f Feed) worksFor(u fact.User, e Element) bool {
	return u.MayLogIn() && !f.ended(u) && mayHaveFeed(u.Kind, principal.Persons(u.ElementID, u.StandsFor), e)
}

// CreateFeed makes a feed of an element for p, and returns it with its token of 256 bits, which is not shown again. A
// Missing problem when there is no such element; Forbidden while p is switched, and where the user may have no feed of
// the element; Invalid for a name with a fault, or with the given ones; Conflict when the user has MaxFeeds of the
// element.
func (s *Service) CreateFeed(
	ctx context.Context, p principal.Principal, elementID int64, name string, faults problem.Fields,
) (feed Feed, e Element, token string, err error) {
	if e, _, err = s.getSeen(ctx, p, elementID, s.calendarDays()); err != nil {
		return Feed{}, e, "", err
	}
	if p.Switched() {
		return Feed{}, e, "", whileSwitched()
	}
	if !mayHaveFeed(p.Kind, p.Persons(), e) {
		return Feed{}, e, "", problem.New(problem.Forbidden, "a %s can't have a feed of this element", p.Kind)
	}
	problem.Text{Most: MaxFeedName, Required: true}.Check(faults, "name", name)
	if len(faults) > 0 {
		return Feed{}, e, "", problem.InvalidFields(faults)
	}
	token = newToken()
	feed = Feed{
		UserID: p.UserID, ElementID: elementID, Name: name, TokenHash: hashOf(token),
		Created: s.Now().UTC().Truncate(time.Second), UserVersion: p.Version,
	}
	made, err := s.Feeds.Insert(ctx, feed, MaxFeeds)
	if errors.Is(err, ErrFeedsFull) {
		var room bool
		if room, err = s.deleteEnded(ctx, p.UserID, elementID); err == nil && !(room && record.IsDryRun(ctx)) {
			made, err = s.Feeds.Insert(ctx, feed, MaxFeeds)
		}
	}
	if errors.Is(err, ErrFeedsFull) {
		err = problem.New(problem.Conflict, "there are %d feeds of the element already: end one of them", MaxFeeds)
	}
	return made, e, token, err
}

func whileSwitched() error {
	return problem.New(problem.Forbidden, "a switched user can't create a feed")
}

// deleteEnded deletes the feeds of a user and an element that have ended for good, and says whether there are any.
func (s *Service) deleteEnded(ctx context.Context, userID, elementID int64) (found bool, err error) {
	feeds, err := s.Feeds.List(ctx, userID, elementID)
	if err != nil {
		return false, err
	}
	u, err := s.user(ctx, userID)
	if err != nil {
		return false, err
	}
	for _, f := range feeds {
		if !f.ended(u) {
			continue
		}
		if err := s.Feeds.Delete(ctx, f.ID, func(Feed) error { return nil }); err != nil &&
			!errors.Is(err, record.ErrNotFound) {
			return found, err
		}
		found = true
	}
	return found, nil
}

// RenewFeed gives a feed of p a new token and returns it: the previous one no longer works. A Missing problem when p
// has no such feed that works; other problems are those of ListFeeds, and Forbidden while p is switched.
func (s *Service) RenewFeed(
	ctx context.Context, p principal.Principal, elementID, id int64,
) (feed Feed, e Element, token string, err error) {
	feeds, e, err := s.ListFeeds(ctx, p, elementID)
	if err != nil {
		return Feed{}, e, "", err
	}
	if !slices.ContainsFunc(feeds, func(f Feed) bool { return f.ID == id }) {
		return Feed{}, e, "", problem.Missing("Feed", id)
	}
	if p.Switched() {
		return Feed{}, e, "", whileSwitched()
	}
	token = newToken()
	feed, err = s.Feeds.Change(ctx, id, func(f *Feed) error {
		f.TokenHash, f.UserVersion = hashOf(token), p.Version
		return nil
	})
	return feed, e, token, record.Missing(err, "Feed", id)
}

// viewerOf returns the viewer for reads of u's feeds.
func (s *Service) viewerOf(u fact.User) fact.Sight {
	return s.viewer(principal.Principal{
		UserID: u.ID, Kind: u.Kind, ElementID: u.ElementID, StandsFor: u.StandsFor, AdminOf: u.AdminOf,
		Permissions: principal.Permissions{Admin: u.Admin},
	})
}

// user returns a user; the zero user when there is none.
func (s *Service) user(ctx context.Context, id int64) (fact.User, error) {
	users, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: []int64{id}})
	if err != nil || len(users) == 0 {
		return fact.User{}, err
	}
	return users[0], nil
}

// ListFeeds returns p's feeds of an element that work, in order of name, then id. A Missing problem when there is no
// such element, Forbidden when p does not see it.
func (s *Service) ListFeeds(ctx context.Context, p principal.Principal, elementID int64) ([]Feed, Element, error) {
	e, _, err := s.getSeen(ctx, p, elementID, s.calendarDays())
	if err != nil {
		return nil, e, err
	}
	feeds, err := s.Feeds.List(ctx, p.UserID, elementID)
	if err != nil || len(feeds) == 0 {
		return nil, e, err
	}
	u, err := s.user(ctx, p.UserID)
	if err != nil {
		return nil, e, err
	}
	feeds = slices.DeleteFunc(feeds, func(f Feed) bool { return !f.worksFor(u, e) })
	slices.SortFunc(feeds, func(a, b Feed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return feeds, e, nil
}

// DeleteFeed deletes p's feed with that id: its token no longer works. A Missing problem when there is none.
func (s *Service) DeleteFeed(ctx context.Context, p principal.Principal, elementID, id int64) error {
	err := s.Feeds.Delete(ctx, id, func(f Feed) error {
		if f.UserID != p.UserID || f.ElementID != elementID {
			return record.ErrNotFound
		}
		return nil
	})
	return record.Missing(err, "Feed", id)
}

// eraseFeeds is the part of an erasure that deletes the feeds of the person's users, and takes the person out of the
// names of other feeds.
func (s *Service) eraseFeeds(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	return func(ctx context.Context, after string) (next string, changed int, err error) {
		found, next, err := s.Feeds.FindTexts(ctx, texts, p.UserIDs, after)
		if err != nil {
			return "", 0, err
		}
		for _, f := range found {
			if slices.Contains(p.UserIDs, f.UserID) {
				err = s.Feeds.Delete(ctx, f.ID, func(Feed) error { return nil })
			} else {
				_, err = s.Feeds.Change(ctx, f.ID, func(f *Feed) error {
					f.Name, _ = texts.Replace(f.Name)
					return nil
				})
			}
			if err != nil && !errors.Is(err, record.ErrNotFound) {
				return "", changed, err
			}
			changed++
		}
		return next, changed, nil
	}
}

// newToken returns 256 random bits as text.
func newToken() string { return strings.ToLower(rand.Text() + rand.Text()) }

func hashOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
