package event

import (
	"context"
	random "crypto/rand"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Claim says that a change of an event is about to book an element for its time (docs/decisions/0010). It stands only while that is decided
// and written.
type Claim struct {
	Token   string // names all claims of one change
	EventID int64
	Starts  time.Time
	Ends    time.Time
}

// Claims keeps the claims to each element.
type Claims interface {
	// Claim stores a claim to an element as one atomic step, unless one that overlaps it stands: that one is returned instead.
	Claim(ctx context.Context, elementID int64, c Claim) (standing *Claim, err error)
	// Drop removes the claims of that token to an element.
	Drop(ctx context.Context, elementID int64, token string) error
}

// ErrShutOut says that a new event was shut out before it was stored.
var ErrShutOut = errors.New("the event was shut out")

// errOutdated says that an event changed so that what was found out about it before no longer serves.
var errOutdated = errors.New("the event has changed meanwhile")

const (
	// claimPatience is how long a claim may stand in another's way before its change is shut out. A change that is at work takes a
	// fraction of it; one that is just slow starts over.
	claimPatience = 3 * time.Second
	// dropTime bounds the dropping of claims, which goes on when the request's deadline has passed.
	dropTime = 2 * time.Second

	firstLook   = 5 * time.Millisecond
	longestLook = 80 * time.Millisecond
)

// claims are those that one change holds.
type claims struct {
	service *Service
	claim   Claim
	held    []int64
	shut    map[string]bool // the tokens that were shut out
}

// claim claims those of the elements that are free while e goes on, and returns the others as booked. Until release, no other change that
// refuses clashes books a claimed element for that time, and all that did so before is visible. Elements must be in rising order. One read
// of events, then for each element two round trips, more while another change is at it, and one read of events.
func (s *Service) claim(ctx context.Context, e *Event, elements []fact.ElementReaches) (*claims, map[int64]bool, error) {
	c := &claims{
		service: s, shut: map[string]bool{},
		claim: Claim{Token: random.Text(), EventID: e.ID, Starts: e.Span.Starts, Ends: e.Span.Ends},
	}
	booked := map[int64]bool{}
	look := func() error {
		clashes, err := s.clashes(ctx, e, elements)
		for id := range clashes {
			booked[id] = true
		}
		return err
	}
	err := look() // so that what is long booked is refused without a claim
	for _, element := range elements {
		if err == nil && !booked[element.ElementID] {
			err = c.take(ctx, element.ElementID)
		}
	}
	if err == nil && len(c.held) > 0 {
		err = look()
	}
	if err != nil {
		c.release(ctx)
		return nil, nil, err
	}
	return c, booked, nil
}

// take claims an element. While another claim stands in the way it waits, and shuts that one's change out when it stays for too long.
func (c *claims) take(ctx context.Context, elementID int64) error {
	var waited string // the token that is waited for
	var since time.Time
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		standing, err := c.service.claims.Claim(ctx, elementID, c.claim)
		if err != nil {
			return err
		}
		if standing == nil {
			c.held = append(c.held, elementID)
			return nil
		}
		if standing.Token != waited {
			waited, since = standing.Token, time.Now()
		}
		if c.shut[waited] || time.Since(since) > claimPatience {
			if err := c.shutOut(ctx, elementID, *standing); err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(pause)):
		}
	}
}

// shutOut ends a claim whose change has fallen silent: first its write is made to fail, if it should still come, then the claim is dropped.
func (c *claims) shutOut(ctx context.Context, elementID int64, standing Claim) error {
	if !c.shut[standing.Token] {
		if err := c.service.store.ShutOut(ctx, standing.EventID); err != nil {
			return err
		}
		c.shut[standing.Token] = true
	}
	return c.service.claims.Drop(ctx, elementID, standing.Token)
}

// release drops the claims, also after the request's deadline. Whoever meets one that could not be dropped shuts it out, so that a failure
// costs only time.
func (c *claims) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	for _, id := range c.held {
		_ = c.service.claims.Drop(ctx, id, c.claim.Token)
	}
}

// Overlaps says whether two claims have some time in common.
func (c Claim) Overlaps(other Claim) bool {
	return wiretime.Overlaps(c.Starts, c.Ends, other.Starts, other.Ends)
}
