package element

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Feed is a user's access to an element's calendar by a secret address. There is at most one for a user and an element.
type Feed struct {
	ID        int64
	UserID    int64
	ElementID int64
	TokenHash string // SHA-256 of the token, in hexadecimal; the token itself is stored nowhere
	Created   time.Time
}

// CreateFeed makes a feed of an element for p, in the place of the one there may be, and returns it with its token of
// 256 bits. The token is not shown again; the one before no longer works. A Missing problem when there is no such
// element.
func (s *Service) CreateFeed(
	ctx context.Context, p principal.Principal, elementID int64,
) (feed Feed, e Element, token string, err error) {
	if e, err = s.Get(ctx, elementID); err != nil {
		return Feed{}, e, "", err
	}
	token = strings.ToLower(rand.Text() + rand.Text())
	feed, err = s.feeds.Put(ctx, Feed{
		UserID: p.UserID, ElementID: elementID, TokenHash: hashOf(token), Created: s.now().UTC().Truncate(time.Second),
	})
	return feed, e, token, err
}

// ListFeeds returns p's feeds of an element, one or none. A Missing problem when there is no such element.
func (s *Service) ListFeeds(ctx context.Context, p principal.Principal, elementID int64) ([]Feed, Element, error) {
	e, err := s.Get(ctx, elementID)
	if err != nil {
		return nil, e, err
	}
	f, err := s.feeds.Get(ctx, p.UserID, elementID)
	if errors.Is(err, record.ErrNotFound) {
		return nil, e, nil
	}
	return []Feed{f}, e, err
}

// DeleteFeed deletes p's feed with that id: its token no longer works. A Missing problem when there is none.
func (s *Service) DeleteFeed(ctx context.Context, p principal.Principal, elementID, id int64) error {
	return record.Missing(s.feeds.Delete(ctx, p.UserID, elementID, id), "Feed", id)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
