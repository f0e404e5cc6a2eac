package note

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Size is the share of an event's bounds that notes take. The tags name its fields as they are stored.
type Size struct {
	Notes    int `bson:"notes"`
	Contents int `bson:"contents"` // bytes
	Shown    int `bson:"shown"`    // bytes of contents and HTML as JSON, where < takes six
}

// limit is what an event may have besides the system's notes on topics (decisions, part 6). The bound on what is shown
// keeps the listing of an event's notes below 8 MiB, ids, flags and owners included.
var limit = Size{Notes: 500, Contents: 1 << 20, Shown: 6 << 20}

// ErrFull says that an event can't have more notes or contents.
var ErrFull = errors.New("the event has the maximum number of notes")

// errOutdated says that a note has changed since the room for its change was reserved.
var errOutdated = errors.New("the note has changed meanwhile")

// tooMuch are the faults of a note for which an event has no room.
func tooMuch() problem.Fields {
	return problem.Fields{"contents": {"is too much: an event has at most 500 notes and 1 MiB of contents"}}
}

// Size returns what the note takes.
func (n Note) Size() Size {
	return Size{Notes: 1, Contents: len(n.Contents), Shown: jsonLength(n.Contents) + jsonLength(n.HTML)}
}

// Plus returns the sum.
func (s Size) Plus(other Size) Size {
	return Size{s.Notes + other.Notes, s.Contents + other.Contents, s.Shown + other.Shown}
}

// Within says whether no part exceeds that of the bound.
func (s Size) Within(bound Size) bool {
	return s.Notes <= bound.Notes && s.Contents <= bound.Contents && s.Shown <= bound.Shown
}

// growth returns how much a changed note grows. A decrease is not given back, since other writers may have relied on
// it.
func growth(before, after Note) Size {
	was, is := before.Size(), after.Size()
	if before.EventID != after.EventID {
		return is
	}
	return Size{Contents: max(0, is.Contents-was.Contents), Shown: max(0, is.Shown-was.Shown)}
}

// jsonLength returns how many bytes the text takes as JSON in an answer, without its quotes.
func jsonLength(text string) int {
	length := 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '"', r == '\\', r == '\n', r == '\r', r == '\t', r == '\b', r == '\f':
			length += 2
		case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError && width == 1:
			length += len(`\u0000`)
		default:
			length += width
		}
		i += width
	}
	return length
}

// insert stores a new note; ErrFull when its event has no room for it, record.ErrNotFound when that is being deleted.
func (s *Service) insert(ctx context.Context, n Note) (stored Note, err error) {
	err = s.Store.Within(ctx, n.EventID, n.Size(), limit, func() error {
		stored, err = s.Store.Insert(ctx, n)
		return err
	})
	return stored, err
}

// change is Store.Change for changes of contents; ErrFull when the event has no room for them. The note is as it was
// read; decide may run on it more than once.
func (s *Service) change(ctx context.Context, n Note, decide func(*Note) error) (stored Note, err error) {
	for {
		before, after := n, n
		if err := decide(&after); err != nil && !errors.Is(err, record.ErrUnchanged) {
			return Note{}, err
		}
		err = s.Store.Within(ctx, after.EventID, growth(before, after), limit, func() (err error) {
			stored, err = s.Store.Change(ctx, n.ID, func(n *Note) error {
				if n.EventID != before.EventID || n.Size() != before.Size() {
					return errOutdated
				}
				return decide(n)
			})
			return err
		})
		if !errors.Is(err, errOutdated) {
			return stored, err
		}
		if n, err = s.Store.Get(ctx, n.ID); err != nil {
			return Note{}, err
		}
	}
}
