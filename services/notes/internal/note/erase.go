package note

import (
	"context"
	"slices"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/record"
)

// Erase is the part of an erasure that goes through all notes: those of the person's users are deleted, as are those
// that name the person. The system's notes stay without the name, since they name others too.
func (s *Service) Erase(p erasure.Person) erasure.Part {
	texts := erasure.NewTexts(p.Names, p.Instead)
	find := func(ctx context.Context, after string) (ids []int64, next string, err error) {
		return s.Store.FindTexts(ctx, texts, p.UserIDs, after)
	}
	return erasure.Each(find, func(ctx context.Context, id int64) (int, error) {
		return 1, s.erase(ctx, id, p, texts)
	})
}

// erase deletes a note, or takes the person out of one of the system's. record.ErrNotFound when there is nothing to do.
func (s *Service) erase(ctx context.Context, id int64, p erasure.Person, texts *erasure.Texts) error {
	n, err := s.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	without, found := texts.Replace(n.Contents)
	if n.Topic == "" || !found {
		return s.Store.Delete(ctx, id, func(n *Note) error {
			if slices.Contains(p.UserIDs, n.OwnerID) || texts.In([]byte(n.Contents+"\n"+n.HTML+"\n"+n.Key)) {
				return nil
			}
			return record.ErrNotFound // it is in what is pending alone, or no longer there
		})
	}
	n.Contents, n.Markup = without, 0
	if err := s.render(&n); err != nil {
		return err
	}
	_, err = s.Store.Change(ctx, id, func(stored *Note) error {
		if now, _ := texts.Replace(stored.Contents); now != without {
			return record.ErrUnchanged // it has changed meanwhile: the next round finds it again
		}
		stored.Contents, stored.HTML, stored.Markup = n.Contents, n.HTML, n.Markup
		return nil
	})
	return err
}
