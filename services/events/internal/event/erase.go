package event

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Erase is the part of an erasure that goes through all events: their titles, and the reasons of decisions. It
// sends no mail and no webhook; the list of changes has it.
func (s *Service) Erase(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	find := func(ctx context.Context, after string) (ids []int64, next string, err error) {
		return s.o.Store.FindTexts(ctx, texts, after)
	}
	return erasure.Each(find, func(ctx context.Context, id int64) (int, error) {
		_, err := s.o.Store.Change(ctx, id, func(e *Event) error {
			if !e.forget(texts) { // it is in what is pending alone, which goes by itself
				return record.ErrUnchanged
			}
			return nil
		})
		return 1, err
	})
}

// forget replaces the texts in which an erased person is found, and says whether there was any.
func (e *Event) forget(texts *erasure.Texts) (found bool) {
	replace := func(at *string) {
		if text, is := texts.Replace(*at); is {
			*at, found = text, true
		}
	}
	for _, t := range e.Texts.All() {
		replace(t.Value)
	}
	for i := range e.Commitments {
		replace(&e.Commitments[i].Reason)
	}
	if key, is := texts.ReplaceKey(e.Key, e.ID); is {
		e.Key, found = key, true
	}
	for _, r := range e.IdempotencyRecords {
		for _, f := range r.Failures {
			for _, messages := range f.Errors {
				for i := range messages {
					replace(&messages[i])
				}
			}
		}
	}
	return found
}
