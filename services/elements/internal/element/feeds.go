package element

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// Feed is a user's access to an element's calendar by a secret address. There is at most one for a user and an element.
type Feed struct {
	ID        int64     `bson:"-"`
	UserID    int64     `bson:"user_id,omitempty"`
	ElementID int64     `bson:"element_id,omitempty"`
	TokenHash string    `bson:"token_hash,omitempty"` // SHA-256 of the token, in hexadecimal; the token is stored nowhere
	Created   time.Time `bson:"created,omitempty"`
	// UserVersion is that of the user's record in the session that made the token. It is not asked of identity: a
	// session that is about to end must not make a feed that lives on.
	UserVersion int64 `bson:"user_version,omitempty"`
}

// mayHaveFeed says whether a user of that kind, who is the element own or none, may have feeds of e (decisions, part
// 3): a guest has none, a pupil those of itself and of elements that are no persons, staff any.
func mayHaveFeed(kind principal.Kind, own int64, e Element) bool {
	switch kind {
	case principal.Staff:
		return true
	case principal.Pupil:
		return e.ID == own || e.EntityType != form.Staff && e.EntityType != form.Pupil
	default:
		return false
	}
}

// worksFor says whether the feed works for its user, as it is now. A feed that has ended, because the user was
// deactivated or got another uuid, stays ended.
func (f Feed) worksFor(u fact.User, e Element) bool {
	return u.MayLogIn() && f.UserVersion >= u.FeedsSince && mayHaveFeed(u.Kind, u.ElementID, e)
}

// CreateFeed makes a feed of an element for p, in the place of the one there may be, and returns it with its token of
// 256 bits. The token is not shown again; the one before no longer works. A Missing problem when there is no such
// element; Forbidden while p is switched, and where the user may have no feed of the element.
func (s *Service) CreateFeed(
	ctx context.Context, p principal.Principal, elementID int64,
) (feed Feed, e Element, token string, err error) {
	if e, _, err = s.getSeen(ctx, p, elementID, s.calendarDays()); err != nil {
		return Feed{}, e, "", err
	}
	if p.Switched() || !mayHaveFeed(p.Kind, p.ElementID, e) {
		return Feed{}, e, "", problem.New(problem.Forbidden, "")
	}
	token = strings.ToLower(rand.Text() + rand.Text())
	feed, err = s.feeds.Put(ctx, Feed{
		UserID: p.UserID, ElementID: elementID, TokenHash: hashOf(token), Created: s.now().UTC().Truncate(time.Second),
		UserVersion: p.Version,
	})
	return feed, e, token, err
}

// viewerOf returns the viewer as whom a feed of u is read.
func (s *Service) viewerOf(u fact.User) fact.Sight {
	return s.viewer(principal.Principal{
		UserID: u.ID, Kind: u.Kind, ElementID: u.ElementID, Permissions: principal.Permissions{Admin: u.Admin},
	})
}

// user returns a user, the zero one when there is none.
func (s *Service) user(ctx context.Context, id int64) (fact.User, error) {
	users, err := s.users.Users(ctx, fact.UsersQuestion{IDs: []int64{id}})
	if err != nil || len(users) == 0 {
		return fact.User{}, err
	}
	return users[0], nil
}

// ListFeeds returns p's feeds of an element that work, one or none. A Missing problem when there is no such element,
// Forbidden when p does not see it.
func (s *Service) ListFeeds(ctx context.Context, p principal.Principal, elementID int64) ([]Feed, Element, error) {
	e, _, err := s.getSeen(ctx, p, elementID, s.calendarDays())
	if err != nil {
		return nil, e, err
	}
	f, err := s.feeds.Get(ctx, p.UserID, elementID)
	if errors.Is(err, record.ErrNotFound) {
		return nil, e, nil
	}
	if err != nil {
		return nil, e, err
	}
	u, err := s.user(ctx, p.UserID)
	if err != nil || !f.worksFor(u, e) {
		return nil, e, err
	}
	return []Feed{f}, e, nil
}

// DeleteFeed deletes p's feed with that id: its token no longer works. A Missing problem when there is none.
func (s *Service) DeleteFeed(ctx context.Context, p principal.Principal, elementID, id int64) error {
	return record.Missing(s.feeds.Delete(ctx, p.UserID, elementID, id), "Feed", id)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
