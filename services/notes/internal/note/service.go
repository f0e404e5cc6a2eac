package note

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/idempotency"
	"github.com/belfry-schools/belfry/pkg/ifmatch"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/notes/internal/markdown"
)

// ErrUnchanged is returned by the function given to Store.Update to say that nothing needs to be stored.
var ErrUnchanged = record.ErrUnchanged

// Store keeps the notes. Each call is one round trip, unless it says otherwise.
type Store interface {
	// Load returns a note; problem.Missing when there is none.
	Load(ctx context.Context, id int64) (Note, error)
	// OfEvent returns the notes of an event in order of id.
	OfEvent(ctx context.Context, eventID int64) ([]Note, error)
	// GetByIdempotencyKey returns the note that the request with the Key of that id has made, and false when there is none.
	GetByIdempotencyKey(ctx context.Context, keyID string) (Note, bool, error)
	// Insert stores a note and returns it with its id; idempotency.InProgress when another with its Key came first.
	Insert(ctx context.Context, n Note) (Note, error)
	// Update changes a note as a whole, no concurrent change is lost, and returns it; change may run more than once, and ErrUnchanged from it stores
	// nothing. problem.Missing when there is no such note. Two round trips.
	Update(ctx context.Context, id int64, change func(*Note) error) (Note, error)
	// Delete removes a note of that owner at a version that matches; problem.Missing when there is none, PreconditionFailed at another version.
	// Two round trips.
	Delete(ctx context.Context, id, ownerID int64, match ifmatch.Match) error
	// ForgetIdempotencyKeys removes the Keys of the notes that were made before a time, whose versions stay.
	ForgetIdempotencyKeys(ctx context.Context, before time.Time) error

	// WithKeys returns the imported notes that have one of the keys, in no order.
	WithKeys(ctx context.Context, keys []string) ([]Note, error)
	// InsertAll stores notes and sets their ids. It returns the indexes of those whose key another import has taken meanwhile, or whose event has got a
	// note on their topic, which are not stored. Two round trips.
	InsertAll(ctx context.Context, notes []Note) (taken map[int]bool, err error)

	// OnTopic returns the notes on a topic of the events, in no order.
	OnTopic(ctx context.Context, topic fact.Topic, eventIDs []int64) ([]Note, error)
	// Noted returns the events that have a note on a topic whose day is one of these, in no order.
	Noted(ctx context.Context, topic fact.Topic, days wiretime.Days) ([]int64, error)
	// RemoveOnTopic removes a note on a topic; problem.Missing when there is none. Two round trips.
	RemoveOnTopic(ctx context.Context, id int64) error

	// MarkDeleted remembers since when an event is known to be deleted.
	MarkDeleted(ctx context.Context, eventID int64, at time.Time) error
	// MarkedBefore returns events that were marked before a time, a thousand at most.
	MarkedBefore(ctx context.Context, before time.Time) ([]int64, error)
	// Unmark forgets those of the marks of the events that were made before a time.
	Unmark(ctx context.Context, eventIDs []int64, before time.Time) error
	// DeleteOfEvents removes all notes of the events.
	DeleteOfEvents(ctx context.Context, eventIDs []int64) error
}

// Events is what the notes ask the events service.
type Events interface {
	Summaries(ctx context.Context, q fact.SummariesQuestion) ([]fact.Event, error)
}

// Users is what the notes ask the identity service.
type Users interface {
	Users(ctx context.Context, q fact.UsersQuestion) ([]fact.User, error)
}

// Service holds the use cases. It is safe for concurrent use.
type Service struct {
	Store    Store
	Events   Events
	Users    Users
	Markdown *markdown.Renderer
}

// Read returns a note with its parent (contract 4.3). problem.Missing when there is none, the viewer does not see it, or its event is gone.
func (s *Service) Read(ctx context.Context, v fact.Viewer, id int64) (View, error) {
	n, err := s.seen(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	owner, parent, err := s.surroundings(ctx, n)
	if err != nil {
		return View{}, err
	}
	return s.view(n, owner, parent)
}

// Update changes a note of the viewer's own and returns it with its parent (contract 4.3, rules 2 and 3). When the change is invalid nothing is
// written, and the note comes back as it would have become, with valid false and its errors. Fails as Read does; Forbidden to all but the owner;
// PreconditionFailed at another version.
func (s *Service) Update(ctx context.Context, v fact.Viewer, id int64, change Change, match ifmatch.Match) (View, error) {
	n, err := s.seen(ctx, v, id)
	if err != nil {
		return View{}, err
	}
	owner, parent, err := s.surroundings(ctx, n)
	if err != nil {
		return View{}, err
	}
	if err := n.changeable(v, match); err != nil {
		return View{}, err
	}
	if faults := change.check(); len(faults) > 0 {
		change.applyTo(&n)
		return View{Note: invalidForm(n, owner, parent, faults)}, nil
	}
	n, err = s.Store.Update(ctx, id, func(n *Note) error {
		if err := n.changeable(v, match); err != nil {
			return err
		}
		if change.Contents != nil && *change.Contents != n.Contents {
			n.Markup = 0
		}
		change.applyTo(n)
		return s.render(n)
	})
	if err != nil {
		return View{}, err
	}
	return s.view(n, owner, parent)
}

// changeable returns nil when the viewer may change the note, at its version.
func (n Note) changeable(v fact.Viewer, match ifmatch.Match) error {
	if !n.OwnedBy(v) {
		return problem.New(problem.Forbidden, "")
	}
	return match.Check(n.Version)
}

// Delete removes a note of the viewer's own (contract 4.3, rules 3 and 4). Fails as Update does.
func (s *Service) Delete(ctx context.Context, v fact.Viewer, id int64, match ifmatch.Match) error {
	n, err := s.seen(ctx, v, id)
	if err != nil {
		return err
	}
	if _, err := s.parent(ctx, n); err != nil {
		return err
	}
	if err := n.changeable(v, match); err != nil {
		return err
	}
	return s.Store.Delete(ctx, id, v.UserID, match)
}

// OfEvent returns the notes of an event that the viewer sees, without parent, in order of id. The caller has seen that the event exists.
func (s *Service) OfEvent(ctx context.Context, q fact.NotesOfEventQuestion) ([]form.Note, error) {
	notes, err := s.Store.OfEvent(ctx, q.EventID)
	if err != nil {
		return nil, err
	}
	var seen []Note
	for _, n := range notes {
		if n.VisibleTo(q.Viewer) {
			seen = append(seen, n)
		}
	}
	owners, err := s.owners(ctx, seen)
	if err != nil {
		return nil, err
	}
	forms := make([]form.Note, len(seen))
	for i, n := range seen {
		if forms[i], err = s.form(n, owners[n.OwnerID], nil); err != nil {
			return nil, err
		}
	}
	return forms, nil
}

// Create makes a note without parent (contract 4.3, rule 1); the caller has seen that the event exists and that the author may add notes. An
// invalid one is not made: it comes back with id null, valid false and its errors. A request with an idempotency key makes one note however often
// it comes; a repeat gets the note as it is then. Conflict when the key is another request's.
func (s *Service) Create(ctx context.Context, asked fact.NewNote) (form.Note, error) {
	n := fresh(asked.EventID, asked.AuthorID)
	n.IdempotencyKey = asked.IdempotencyKey
	change := Change{asked.Contents, asked.VisibleGuest, asked.VisibleStaff, asked.VisiblePupil, asked.Faults}
	change.applyTo(&n)
	owners, err := s.owners(ctx, []Note{n}) // before the write, so that an absent neighbour leaves nothing behind
	if err != nil {
		return form.Note{}, err
	}
	owner := owners[n.OwnerID]
	made, found, err := s.made(ctx, asked.IdempotencyKey)
	if err != nil {
		return form.Note{}, err
	}
	if found {
		return s.form(made, owner, nil)
	}
	if faults := change.check(); len(faults) > 0 {
		return invalidForm(n, owner, nil, faults), nil
	}
	if err := s.render(&n); err != nil {
		return form.Note{}, err
	}
	if n, err = s.Store.Insert(ctx, n); err != nil {
		return form.Note{}, err
	}
	return s.form(n, owner, nil)
}

// made finds the note that the request with that key has made already.
func (s *Service) made(ctx context.Context, k idempotency.Key) (Note, bool, error) {
	if !k.Given() {
		return Note{}, false, nil
	}
	n, found, err := s.Store.GetByIdempotencyKey(ctx, k.ID)
	if err == nil && found {
		err = k.Repeats(n.IdempotencyKey)
	}
	return n, found, err
}

// ForgetIdempotencyKeys removes the Keys of the notes that were made before a time.
func (s *Service) ForgetIdempotencyKeys(ctx context.Context, before time.Time) error {
	return s.Store.ForgetIdempotencyKeys(ctx, before)
}

// seen returns a note that the viewer sees.
func (s *Service) seen(ctx context.Context, v fact.Viewer, id int64) (Note, error) {
	n, err := s.Store.Load(ctx, id)
	if err != nil {
		return Note{}, err
	}
	if !n.VisibleTo(v) {
		return Note{}, problem.Missing(Record, id)
	}
	return n, nil
}

// surroundings returns the owner and the parent of a note, both asked for at once.
func (s *Service) surroundings(ctx context.Context, n Note) (owner *form.User, parent *form.Event, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		owners, err := s.owners(ctx, []Note{n})
		owner = owners[n.OwnerID]
		return err
	})
	group.Go(func() (err error) {
		parent, err = s.parent(ctx, n)
		return err
	})
	err = group.Wait()
	return owner, parent, err
}

// parent returns the summary of a note's event. A note whose event is gone is missing, even before it is removed (decisions, part 4).
func (s *Service) parent(ctx context.Context, n Note) (*form.Event, error) {
	events, err := s.Events.Summaries(ctx, fact.SummariesQuestion{IDs: []int64{n.EventID}})
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, problem.Missing(Record, n.ID)
	}
	return &events[0].Event, nil
}

// owners returns the owners of notes by id. Users are never removed, so that none is missing but 0, the system.
func (s *Service) owners(ctx context.Context, notes []Note) (map[int64]*form.User, error) {
	owners := map[int64]*form.User{}
	var ids []int64
	for _, n := range notes {
		if _, asked := owners[n.OwnerID]; !asked && n.OwnerID != 0 {
			owners[n.OwnerID] = nil
			ids = append(ids, n.OwnerID)
		}
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: ids})
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		owners[u.ID] = &u.User
	}
	return owners, nil
}
