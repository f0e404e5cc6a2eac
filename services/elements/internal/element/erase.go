package element

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
)

const (
	// leastRounds is the least number of rounds of an erasure through all services: texts in transit during the first
	// round, such as a mail or an audit entry, have arrived by the second. It continues until a round finds nothing.
	leastRounds = 2
	// mostRounds bounds the rounds of an erasure: while texts about the person keep coming, it ends as incomplete.
	mostRounds = 100
	// roundPause is how long it waits between two rounds.
	roundPause = 3 * time.Second
	// stepTime bounds one step.
	stepTime = time.Minute
)

// Eraser does the steps of one service.
type Eraser struct {
	Service string
	Erase   func(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error)
}

// eraseHere does the steps of this service, which come first: from then on other services write the new name.
func (s *Service) eraseHere(ctx context.Context, q fact.ErasureQuestion) (fact.ErasureStep, error) {
	parts := []erasure.Part{s.erasePerson(q.Person), s.eraseElementTexts(q.Person), s.eraseFeeds(q.Person)}
	for _, own := range s.EraseOwn {
		parts = append(parts, own(q.Person))
	}
	next, changed, err := erasure.Step(audit.WithErasure(ctx), parts, q.After)
	return fact.ErasureStep{After: next, Changed: changed}, err
}

// erasePerson is the part that erases the element itself.
func (s *Service) erasePerson(p erasure.Person) erasure.Part {
	return func(ctx context.Context, _ string) (next string, changed int, err error) {
		salt, err := s.Erasures.Salt(ctx)
		if err != nil {
			return "", 0, err
		}
		_, err = s.Store.Change(ctx, p.ElementID, func(e *Element) error {
			changed = 0
			if e.Erased {
				return record.ErrUnchanged
			}
			e.erase(p.Instead, salt)
			changed = 1
			return nil
		})
		return "", changed, err
	}
}

// erase leaves only what others need of a person: the type, the id and the memberships. The name is derived as usual.
func (e *Element) erase(instead, salt string) {
	t, _ := TypeOf(e.EntityType)
	if e.Key != "" {
		e.Key = t.Key(erasure.Key(salt, e.Key))
	}
	first, rest := "Former", instead[len("Former "):]
	e.Details = Details{Forename: first, Surname: rest}
	if t.has("initials") {
		e.Details.Initials = fmt.Sprintf("F%d", e.ID)
	}
	e.Name, e.ImportHash, e.Current, e.Erased = t.name(e.Details), "", false, true
}

// eraseElementTexts is the part that takes the person out of the names, descriptions and keys of other elements, and
// the keys of its users, and those that name it, out of the lists of imported administrators.
func (s *Service) eraseElementTexts(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	list := func(ctx context.Context, after int64, limit int) ([]Element, error) {
		return s.Store.List(ctx, Filter{}, after, limit)
	}
	return erasure.ByID(readAtOnce, list, idOf, func(ctx context.Context, e Element) (changed int, err error) {
		if e.ID == p.ElementID || !e.forget(p, texts) {
			return 0, nil
		}
		_, err = s.Store.Change(ctx, e.ID, func(e *Element) error {
			if !e.forget(p, texts) {
				return record.ErrUnchanged
			}
			return nil
		})
		return 1, err
	})
}

// forget takes an erased person out of another element, and says whether it was there.
func (e *Element) forget(p erasure.Person, texts *erasure.Texts) (found bool) {
	replace := func(at *string) {
		if text, is := texts.Replace(*at); is {
			*at, found = text, true
		}
	}
	if !e.isPerson() { // the names of others are their own
		replace(&e.Name)
		replace(&e.Details.ShortName)
		replace(&e.Details.Description)
		if key, is := texts.ReplaceKey(e.Key, e.ID); is {
			e.Key, found = key, true
		}
	}
	keys := slices.DeleteFunc(slices.Clone(e.ImportedAdministrators), func(key string) bool {
		return slices.Contains(p.Keys, key) || texts.In([]byte(key))
	})
	if len(keys) < len(e.ImportedAdministrators) {
		e.ImportedAdministrators, found = keys, true
	}
	return found
}

// EraseNext continues all running erasures, one after another, and returns the errors of those that failed; the next
// call continues where this one ended.
func (s *Service) EraseNext(ctx context.Context) error {
	running, err := s.Erasures.ListRunning(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, e := range running { // a failure of one does not stop the others
		failed = errors.Join(failed, s.eraseWhole(ctx, e))
	}
	return failed
}

// eraseWhole continues one erasure until it is done. Giving up is an error.
func (s *Service) eraseWhole(ctx context.Context, e Erasure) (err error) {
	for e.Running() {
		if e, err = s.eraseStep(ctx, e); err != nil {
			return fmt.Errorf("erase element %d: %w", e.ID, err)
		}
		if e.Service != "" || !e.Running() {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(roundPause):
		}
	}
	if e.Incomplete {
		return fmt.Errorf("erase element %d: %d rounds found something each, so it is given up", e.ID, e.Round)
	}
	return nil
}

// eraseStep does one step, and stores the erasure's progress.
func (s *Service) eraseStep(ctx context.Context, e Erasure) (Erasure, error) {
	ctx, cancel := context.WithTimeout(audit.WithActor(ctx, e.Actor), stepTime)
	defer cancel()
	at := max(0, slices.IndexFunc(s.Erasers, func(r Eraser) bool { return r.Service == e.Service }))
	step, err := s.Erasers[at].Erase(ctx, fact.ErasureQuestion{Person: e.Person, After: e.After})
	if err != nil {
		return e, err
	}
	stored, err := s.Erasures.Change(ctx, e.ID, func(stored *Erasure) error {
		if !stored.Running() || stored.Round != e.Round || stored.Service != e.Service || stored.After != e.After {
			return record.ErrUnchanged // another process has continued it
		}
		stored.Service, stored.After = s.Erasers[at].Service, step.After
		stored.Found, stored.Records = stored.Found+step.Changed, stored.Records+step.Changed
		switch {
		case step.After != "":
		case at+1 < len(s.Erasers):
			stored.Service = s.Erasers[at+1].Service
		default:
			stored.endRound(s.Now())
		}
		return nil
	})
	if problem.Is(err, problem.NotFound) || errors.Is(err, record.ErrNotFound) {
		return e, fmt.Errorf("it has gone: %w", err)
	}
	return stored, err
}

// endRound moves to the next round, or the end.
func (e *Erasure) endRound(now time.Time) {
	e.Round++
	e.Service = ""
	switch {
	case e.Round >= leastRounds && e.Found == 0:
		e.DoneAt = now.UTC().Truncate(time.Millisecond)
		e.Person.Names, e.Person.Keys = nil, nil
	case e.Round >= mostRounds:
		e.Incomplete = true
	}
	e.Found = 0
}
