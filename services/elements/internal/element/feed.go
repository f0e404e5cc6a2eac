package element

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/calendar"
)

// feedDays is how far a calendar reaches from today, back and ahead.
const feedDays = 366

// Feed is a user's access to an element's calendar by a secret address. There is at most one for a user and an element.
type Feed struct {
	ID        int64
	UserID    int64
	ElementID int64
	TokenHash string // SHA-256 of the token, in hexadecimal; the token itself is kept nowhere
	Created   time.Time
}

// FeedStore keeps feeds. A missing one is a Missing problem where it is asked for by id.
type FeedStore interface {
	// Namespace is what makes the names of this deployment's events its own, for all time.
	Namespace(ctx context.Context) (string, error)
	// SetFeed stores the feed of its user and element, in the place of the one before, and returns it with its id, which stays. Of several at
	// once the last is stored.
	SetFeed(ctx context.Context, f Feed) (Feed, error)
	// FeedOf returns the feed of a user and an element, and FeedBy the one whose token has that hash; nil when there is none.
	FeedOf(ctx context.Context, userID, elementID int64) (*Feed, error)
	FeedBy(ctx context.Context, tokenHash string) (*Feed, error)
	// DropFeed removes a feed of the user and the element.
	DropFeed(ctx context.Context, userID, elementID, id int64) error
}

// NewFeed makes a feed of an element for p, with a new token of 256 bits, which is returned this once. The token before is dead from now on. Two
// reads and a write.
func (s *Service) NewFeed(ctx context.Context, p principal.Principal, elementID int64) (feed Feed, e Element, token string, err error) {
	if e, err = s.Store.Element(ctx, elementID); err != nil {
		return Feed{}, e, "", err
	}
	token = strings.ToLower(rand.Text() + rand.Text())
	feed, err = s.Feeds.SetFeed(ctx, Feed{UserID: p.UserID, ElementID: elementID, TokenHash: hashOf(token), Created: s.Now().UTC().Truncate(time.Second)})
	return feed, e, token, err
}

// Feed returns p's feed of an element, nil when there is none. Two reads.
func (s *Service) Feed(ctx context.Context, p principal.Principal, elementID int64) (*Feed, Element, error) {
	e, err := s.Store.Element(ctx, elementID)
	if err != nil {
		return nil, e, err
	}
	f, err := s.Feeds.FeedOf(ctx, p.UserID, elementID)
	return f, e, err
}

// RevokeFeed ends p's feed of that id. One write.
func (s *Service) RevokeFeed(ctx context.Context, p principal.Principal, elementID, id int64) error {
	return s.Feeds.DropFeed(ctx, p.UserID, elementID, id)
}

// CalendarBy is Calendar for whoever has the token of a feed, as long as its user may use the API. Otherwise, whatever the reason, it is NotFound
// without more. One read and a question to identity besides.
func (s *Service) CalendarBy(ctx context.Context, token string) ([]byte, error) {
	f, err := s.Feeds.FeedBy(ctx, hashOf(token))
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, problem.New(problem.NotFound, "")
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: []int64{f.UserID}})
	if err != nil {
		return nil, err
	}
	if len(users) == 0 || !users[0].Active || !users[0].CanAPI {
		return nil, problem.New(problem.NotFound, "")
	}
	return s.Calendar(ctx, f.ElementID)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Calendar returns an element's calendar as iCalendar: the events that it is firmly part of, itself or through groups by date, from a year before
// today to a year after. Two reads, one for each level of nesting of its groups, one question to events, and one read of the rooms.
func (s *Service) Calendar(ctx context.Context, id int64) ([]byte, error) {
	e, err := s.Store.Element(ctx, id)
	if err != nil {
		return nil, err
	}
	namespace, err := s.Feeds.Namespace(ctx)
	if err != nil {
		return nil, err
	}
	today := s.today()
	days := wiretime.Days{First: today.AddDays(-feedDays), Last: today.AddDays(feedDays)}
	reaches, err := s.reaches(ctx, id, days)
	if err != nil {
		return nil, err
	}
	facts, err := s.Events.Calendar(ctx, fact.CalendarQuestion{Reaches: reaches})
	if err != nil {
		return nil, err
	}
	rooms, err := s.rooms(ctx, facts)
	if err != nil {
		return nil, err
	}
	c := calendar.Calendar{Name: e.Name, Zone: s.Zone, Events: make([]calendar.Event, len(facts))}
	c.From, c.To = s.Zone.Bounds(days)
	for i, f := range facts {
		c.Events[i] = calendar.Event{
			UID: fmt.Sprintf("event-%d@%s", f.ID, namespace), Sequence: f.Version - 1, Modified: modified(f), Summary: f.Body,
			Starts: f.Starts, Ends: f.Ends, AllDay: f.AllDay, Busy: f.Busy, Location: *shortTexts(f.Firm, rooms, form.Location),
		}
	}
	return calendar.Encode(c), nil
}

// rooms reads the elements that are at the events.
func (s *Service) rooms(ctx context.Context, facts []fact.CalendarEvent) (map[int64]Element, error) {
	var ids []int64
	for _, f := range facts {
		ids = append(ids, f.Firm...)
	}
	slices.Sort(ids)
	return s.byID(ctx, slices.Compact(ids))
}

// modified is when the event was changed last; events of a release that did not keep it have the beginning of 1970.
func modified(f fact.CalendarEvent) time.Time {
	if f.Modified.IsZero() {
		return time.Unix(0, 0)
	}
	return f.Modified
}
