package element

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// Erasure is the erasure of a person, which is one element: the request and its progress. The names are kept only until
// it is done, since texts are searched for them.
type Erasure struct {
	ID         int64  `bson:"-"` // of the element
	Version    int64  `bson:"-"`
	EntityType string `bson:"entity_type"`
	// Fingerprint is that of the element, by which a list of erasures is known to mean the same person after a restore.
	Fingerprint string         `bson:"fingerprint"`
	Person      erasure.Person `bson:"person"`
	// Namesakes are the elements with one of the person's names. Texts with such a name stay, unless asked otherwise,
	// since they may be about the other person.
	Namesakes     []int64     `bson:"namesakes,omitempty"`
	WithNamesakes bool        `bson:"with_namesakes,omitempty"` // it was asked otherwise
	Actor         audit.Actor `bson:"actor"`                    // who asked for it
	AskedAt       time.Time   `bson:"asked_at"`
	DoneAt        time.Time   `bson:"done_at,omitempty"` // zero: it is not done
	// Incomplete says that it gave up because each of mostRounds found something. It still has its names, and continues
	// when it is requested again.
	Incomplete bool `bson:"incomplete,omitempty"`

	Round   int    `bson:"round"`             // how often all services have been gone through
	Service string `bson:"service,omitempty"` // that is gone through in this round
	After   string `bson:"after,omitempty"`   // the place in it
	Found   int    `bson:"found"`             // in this round
	Records int    `bson:"records"`           // that were changed or deleted in all rounds
}

// Done says whether nothing is left to do.
func (e Erasure) Done() bool { return !e.DoneAt.IsZero() }

// Running says whether it continues by itself.
func (e Erasure) Running() bool { return !e.Done() && !e.Incomplete }

// ErasureStore keeps erasures, one at most for an element.
type ErasureStore interface {
	// Get returns an erasure; record.ErrNotFound when there is none.
	Get(ctx context.Context, id int64) (Erasure, error)
	// List returns up to limit erasures of elements with an id above after, in order of id.
	List(ctx context.Context, after int64, limit int) ([]Erasure, error)
	// ListRunning returns some of those that are running, in no order.
	ListRunning(ctx context.Context) ([]Erasure, error)
	// Insert stores a new erasure; ErrErasing when the element has one.
	Insert(ctx context.Context, e Erasure) error
	// Change is that of Store.
	Change(ctx context.Context, id int64, decide func(*Erasure) error) (Erasure, error)
	// Salt returns the random text, which never changes, that hides the keys of erased elements.
	Salt(ctx context.Context) (string, error)
}

// ErrErasing says that an element has an erasure already.
var ErrErasing = errors.New("the element has an erasure")

// ErasureRequest asks for the erasure of a person.
type ErasureRequest struct {
	ElementID   int64
	Fingerprint string // that it must have; "": any
	Namesakes   bool   // texts with a name that others have, too, are changed
}

// Erase begins the erasure of a member of staff or a pupil, for an admin, and returns it. An existing erasure is
// returned instead, and resumed if it is incomplete. A Missing problem when there is no such element; Invalid for an
// element that is not a person; Conflict when its fingerprint differs, or one of its users is an administrator of all.
func (s *Service) Erase(ctx context.Context, r ErasureRequest) (e Erasure, begun bool, err error) {
	of, err := s.Get(ctx, r.ElementID)
	if err != nil {
		return Erasure{}, false, err
	}
	if r.Fingerprint != "" && r.Fingerprint != of.fingerprint() {
		return Erasure{}, false, problem.New(problem.Conflict, "element %d is a different person", of.ID)
	}
	switch known, err := s.Erasures.Get(ctx, of.ID); {
	case err == nil:
		known, err = s.resume(ctx, known)
		return known, false, err
	case !errors.Is(err, record.ErrNotFound):
		return Erasure{}, false, err
	}
	if !of.isPerson() {
		faults := problem.Fields{"element_id": {"must be a member of staff or a pupil"}}
		return Erasure{}, false, problem.InvalidFields(faults)
	}
	if e, err = s.planErasure(ctx, of, r.Namesakes); err != nil || record.IsDryRun(ctx) {
		return e, err == nil, err
	}
	err = s.Erasures.Insert(ctx, e)
	if errors.Is(err, ErrErasing) { // another was first
		e, err = s.Erasures.Get(ctx, of.ID)
		return e, false, err
	}
	return e, err == nil, err
}

// resume starts an incomplete erasure from the beginning.
func (s *Service) resume(ctx context.Context, known Erasure) (Erasure, error) {
	if !known.Incomplete || record.IsDryRun(ctx) {
		return known, nil
	}
	return s.Erasures.Change(ctx, known.ID, func(e *Erasure) error {
		if !e.Incomplete {
			return record.ErrUnchanged
		}
		e.Incomplete, e.Round = false, 0
		return nil
	})
}

// fingerprint is a hash of the element's uuid, which no other element ever has, whatever its id.
func (e Element) fingerprint() string {
	sum := sha256.Sum256([]byte(e.UUID))
	return hex.EncodeToString(sum[:16])
}

// instead is the new name of an erased person.
func (e Element) instead() string {
	return fmt.Sprintf("Former %s %d", strings.ToLower(e.EntityType), e.ID)
}

// names are the full names by which texts call the person.
func (e Element) names() []string {
	d := e.Details
	return erasure.NamesOf(d.Forename, d.KnownAs, d.Surname, e.Name, d.Email)
}

func (s *Service) planErasure(ctx context.Context, of Element, withNamesakes bool) (Erasure, error) {
	e := Erasure{
		ID: of.ID, EntityType: of.EntityType, Fingerprint: of.fingerprint(), Actor: audit.ActorOf(ctx),
		AskedAt:       s.Now().UTC().Truncate(time.Millisecond),
		Person:        erasure.Person{ElementID: of.ID, Instead: of.instead(), Keys: keysToFind(of.Key)},
		WithNamesakes: withNamesakes,
	}
	users, err := s.Users.Users(ctx, fact.UsersQuestion{Elements: []int64{of.ID}})
	if err != nil {
		return e, err
	}
	names := of.names()
	for _, u := range users {
		if u.Admin && u.Active {
			return e, problem.New(problem.Conflict,
				"its user %d is an administrator of all schools: revoke that permission first", u.ID)
		}
		e.Person.UserIDs = append(e.Person.UserIDs, u.ID)
		e.Person.Keys = append(e.Person.Keys, keysToFind(u.Key)...)
		names = append(names, erasure.NamesOfUser(u.Name, u.Email)...)
	}
	e.Person.Names = erasure.NamesOf("", "", "", names...)
	shared, err := s.namesakes(ctx, of, &e)
	if err == nil && !withNamesakes {
		e.Person.Names = slices.DeleteFunc(e.Person.Names, func(n string) bool { return shared[erasure.Fold(n)] })
	}
	return e, err
}

// keysToFind are the forms of a key in audit entries: as it is and, unless that is a mere number, which other records'
// keys may be, without its type.
func keysToFind(key string) []string {
	if !strings.ContainsFunc(key, unicode.IsLetter) {
		return nil
	}
	keys := []string{key}
	if _, bare, typed := strings.Cut(key, ":"); typed && strings.ContainsFunc(bare, unicode.IsLetter) {
		keys = append(keys, bare)
	}
	return keys
}

// namesakes sets the erasure's namesakes, current or not, and returns which names they share with the person. No search
// finds all: not those who have left, nor those who are called by another name.
func (s *Service) namesakes(ctx context.Context, of Element, e *Erasure) (shared map[string]bool, err error) {
	names, shared := map[string]bool{}, map[string]bool{}
	for _, n := range e.Person.Names {
		names[erasure.Fold(n)] = true
	}
	for _, entityType := range []string{form.Staff, form.Pupil} {
		for after, more := int64(0), true; more; {
			others, err := s.Store.List(ctx, Filter{EntityType: entityType}, after, readAtOnce)
			if err != nil {
				return nil, err
			}
			for _, other := range others {
				for _, n := range other.names() {
					if n = erasure.Fold(n); names[n] && other.ID != of.ID {
						shared[n] = true
						e.Namesakes = append(e.Namesakes, other.ID)
					}
				}
				after = other.ID
			}
			more = len(others) == readAtOnce
		}
	}
	e.Namesakes = sequence.Distinct(e.Namesakes)
	return shared, nil
}

// readAtOnce is how many elements are read at a time.
const readAtOnce = 1000

func idOf(e Element) int64 { return e.ID }

func idsOf(elements []Element) []int64 { return sequence.Map(elements, idOf) }

// GetErasure returns the erasure of an element; a Missing problem when there is none.
func (s *Service) GetErasure(ctx context.Context, id int64) (Erasure, error) {
	e, err := s.Erasures.Get(ctx, id)
	return e, record.Missing(err, "Erasure", id)
}

// ListErasures returns a page of erasures in order of the elements' ids, and the id after which the next page begins, 0
// after the last page.
func (s *Service) ListErasures(ctx context.Context, after int64, limit int) (page []Erasure, next int64, err error) {
	page, err = s.Erasures.List(ctx, after, limit+1)
	page, next = sequence.Page(page, limit, false, func(e Erasure) int64 { return e.ID })
	return page, next, err
}
