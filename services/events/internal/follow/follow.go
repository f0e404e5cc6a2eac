// Package follow lists what was created, changed and deleted in all services, so that a client can keep a copy of what
// it reads. Each service has a log of its own changes (package changelog); a [Place] is a position in each of them, and
// a token is a place in the form that clients keep.
package follow

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
)

// MaxListed bounds a page of the list.
const MaxListed = 1000

// mostRounds bounds how often the logs are read for one page, by MaxListed changes each time after the first.
const mostRounds = 50

// Log is the log of changes of one service.
type Log func(ctx context.Context, q fact.ChangesQuestion) (change.Part, error)

// The services that have one, in the order of a token.
const (
	ofEvents = iota
	ofElements
	ofNotes
	logs
)

// Place is a place in the log of each service.
type Place [logs]change.Position

// Options of a Service; all are needed.
type Options struct {
	Events, Elements, Notes Log
	// Secret is shared by the services of a deployment, and Zone is the name of its zone. Tokens are valid for both,
	// since another zone moves the days of events.
	Secret, Zone string
	// Sights say who sees everything. No one else may follow: the changes do not say which of them concern what a pupil
	// sees on some day.
	Sights principal.Sights
	// Redacted returns those of the events that the viewer sees redacted, without their notes.
	Redacted func(ctx context.Context, eventIDs []int64, who fact.Sight) (map[int64]bool, error)
}

// Service lists changes. It is safe for concurrent use.
type Service struct {
	o      Options
	logs   [logs]Log
	tokens sealed.Box
}

// New returns the service.
func New(o Options) *Service {
	return &Service{o, [logs]Log{o.Events, o.Elements, o.Notes}, sealed.New(o.Secret, "places in the changes, "+o.Zone)}
}

// mayFollow returns Forbidden unless the viewer sees everything.
func (s *Service) mayFollow(p principal.Principal) error {
	if !fact.SightOf(s.o.Sights, p).All() {
		return problem.New(problem.Forbidden, "needs to see everything")
	}
	return nil
}

// Now returns the place after every change that was acknowledged before the call. Forbidden unless the viewer sees
// everything, Unavailable while more changes wait than the logs can take in time.
func (s *Service) Now(ctx context.Context, p principal.Principal) (Place, error) {
	if err := s.mayFollow(p); err != nil {
		return Place{}, err
	}
	return s.now(ctx)
}

// waiting is the answer while it is unknown which change comes next, or where the list ends.
func waiting() error {
	return &problem.Error{
		Kind: problem.Unavailable, Message: "many changes are on their way into the list", RetryAfter: time.Second,
	}
}

func (s *Service) now(ctx context.Context) (place Place, err error) {
	group, ctx := errgroup.WithContext(ctx)
	for i, log := range s.logs {
		group.Go(func() error {
			part, err := log(ctx, fact.ChangesQuestion{})
			if err == nil && part.Waits {
				err = waiting()
			}
			place[i] = part.Now
			return err
		})
	}
	return place, group.Wait()
}

// List returns up to limit changes after a place that the viewer may see, and the place after them. Those of a record
// are in the order of its versions, and those of several by their times, as far as each service's log has them. An
// empty list with the given place means that there is nothing more: every change acknowledged before the call has been
// listed. Changes that the viewer may not see neither fill the list nor move the place at its end, unless they take
// more than mostRounds reads. While more changes wait than the logs can take in time, the list has those in the logs;
// Unavailable when there are none. Gone for a place before the oldest kept change; Forbidden unless the viewer sees
// everything.
func (s *Service) List(
	ctx context.Context, p principal.Principal, after Place, limit int,
) ([]change.Item, Place, error) {
	if err := s.mayFollow(p); err != nil {
		return nil, Place{}, err
	}
	var listed []change.Item
	place, size := after, limit
	for range mostRounds {
		part, err := s.read(ctx, place, size)
		if err != nil {
			return nil, Place{}, err
		}
		shown, err := s.visible(ctx, p, part.held)
		if err != nil {
			return nil, Place{}, err
		}
		for i, c := range part.held {
			place[c.log] = c.at
			if shown[i] == nil {
				continue
			}
			if listed = append(listed, *shown[i]); len(listed) == limit {
				return listed, place, nil
			}
		}
		switch {
		case part.ends() && len(listed) > 0:
			return listed, part.place, nil
		case part.ends() && part.waits:
			return nil, Place{}, waiting()
		case part.ends():
			return nil, after, nil
		}
		place, size = part.place, MaxListed
	}
	return listed, place, nil
}

// visible returns each change as the viewer is shown it, nil where it is hidden: a note that the viewer could see
// neither before nor after, or whose event is confidential to it.
func (s *Service) visible(ctx context.Context, p principal.Principal, held []heldChange) ([]*change.Item, error) {
	v := fact.ViewerOf(p)
	shown := make([]*change.Item, len(held))
	var events []int64
	for i, c := range held {
		item, sees := seen(c.item, v)
		if !sees {
			continue
		}
		shown[i] = &item
		if item.Kind == change.Note {
			events = append(events, item.EventID)
		}
	}
	if len(events) == 0 || p.Permissions.Admin {
		return shown, nil
	}
	redacted, err := s.o.Redacted(ctx, sequence.Distinct(events), fact.SightOf(s.o.Sights, p))
	if err != nil {
		return nil, err
	}
	for i, item := range shown {
		if item != nil && item.Kind == change.Note && redacted[item.EventID] {
			shown[i] = nil
		}
	}
	return shown, nil
}

// Enter returns the place of the last of the tokens, or without tokens the current place. Forbidden unless the viewer
// sees everything, Malformed when any is not a token, Gone for a place before the oldest kept change.
func (s *Service) Enter(ctx context.Context, p principal.Principal, tokens ...string) (at Place, err error) {
	if len(tokens) == 0 {
		return s.Now(ctx, p)
	}
	if err := s.mayFollow(p); err != nil {
		return Place{}, err
	}
	for _, token := range tokens {
		if at, err = s.Parse(token); err != nil {
			return Place{}, err
		}
	}
	_, err = s.read(ctx, at, 1)
	return at, err
}

// part is what follows a place.
type part struct {
	held  []heldChange
	place Place // after them
	more  bool  // the logs may have more
	waits bool  // more was acknowledged than the logs have
}

// ends reports whether the logs have no more; changes that still wait are in none of them.
func (p part) ends() bool { return !p.more || len(p.held) == 0 }

// heldChange is a change with the place after it in its log.
type heldChange struct {
	item change.Item
	log  int
	at   change.Position
}

// read returns up to limit changes after a place.
func (s *Service) read(ctx context.Context, after Place, limit int) (part, error) {
	var parts [logs]change.Part
	group, reading := errgroup.WithContext(ctx)
	for i, log := range s.logs {
		group.Go(func() (err error) {
			parts[i], err = log(reading, fact.ChangesQuestion{After: &after[i], Limit: limit})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return part{}, err
	}
	for _, p := range parts {
		if p.Gone {
			return part{}, problem.New(problem.Gone,
				"after is older than the changes that are kept: read everything again")
		}
	}
	return merge(parts, after, limit), nil
}

// merge merges changes of several logs, each in its order, the older ones first. It stops where a log was not read to
// its end, since older changes may follow there.
func merge(parts [logs]change.Part, after Place, limit int) part {
	merged := part{place: after}
	var left [logs][]heldChange
	for i, p := range parts {
		merged.waits = merged.waits || p.Waits
		merged.more = merged.more || p.More
		for _, page := range p.Pages {
			for n, item := range page.Changes {
				left[i] = append(left[i], heldChange{item, i, page.After(n + 1)})
			}
		}
	}
	for len(merged.held) < limit {
		i := oldest(parts, left)
		if i < 0 {
			break
		}
		c := left[i][0]
		left[i] = left[i][1:]
		merged.held, merged.place[i] = append(merged.held, c), c.at
	}
	for _, changes := range left {
		merged.more = merged.more || len(changes) > 0
	}
	return merged
}

// oldest returns the log with the oldest change that is left; -1 when there is none, or when a log has more than was
// read and all of that is taken.
func oldest(parts [logs]change.Part, left [logs][]heldChange) int {
	first, at := -1, time.Time{}
	for i, changes := range left {
		switch {
		case len(changes) == 0 && parts[i].More:
			return -1
		case len(changes) > 0 && (first < 0 || changes[0].item.At.Before(at)):
			first, at = i, changes[0].item.At
		}
	}
	return first
}

// seen returns a change as the viewer is shown it, and false when it is hidden. A note that the viewer can no longer
// see is deleted for it, and one that it can see now is created.
func seen(item change.Item, v fact.Viewer) (change.Item, bool) {
	if item.Kind != change.Note {
		return item, true
	}
	sees := func(a *change.Audience) bool { return a != nil && a.Has(v.UserID, v.Kind, v.Admin) }
	before, after := sees(item.Before), sees(item.After)
	switch {
	case before && !after:
		item.What = change.Deleted
	case after && !before:
		item.What = change.Created
	}
	return item, before || after
}

// A token is sealed from its form, a salt, and the numbers of each position.
const (
	tokenForm = 1 // tokens of another form are refused
	saltBytes = 16
	tokenSize = 1 + saltBytes + logs*(8+4+4)
)

// Token returns the token of a place. Two tokens of one place differ, and all have the same length, so they do not
// reveal changes that the client may not see.
func (s *Service) Token(p Place) string {
	text := make([]byte, 1+saltBytes, tokenSize)
	text[0] = tokenForm
	_, _ = rand.Read(text[1:]) // never fails
	for _, at := range p {
		text = binary.BigEndian.AppendUint64(text, uint64(at.Page))
		text = binary.BigEndian.AppendUint32(text, at.Mark)
		text = binary.BigEndian.AppendUint32(text, uint32(at.Read))
	}
	return s.tokens.Seal(text, "")
}

// Parse returns the place of a token. Malformed for any text that is not a token of this deployment.
func (s *Service) Parse(token string) (p Place, err error) {
	text, ok := s.tokens.Open(token, "")
	if !ok || len(text) != tokenSize || text[0] != tokenForm {
		return Place{}, problem.New(problem.Malformed, "after is an invalid cursor")
	}
	text = text[1+saltBytes:]
	for i := range p {
		p[i] = change.Position{
			Page: int64(binary.BigEndian.Uint64(text)), Mark: binary.BigEndian.Uint32(text[8:]),
			Read: int(binary.BigEndian.Uint32(text[12:])),
		}
		text = text[16:]
	}
	return p, nil
}
