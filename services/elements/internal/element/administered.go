package element

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/fact"
)

// Administered returns the elements that a user is an administrator of, current or not, in no order. One read of them.
func (s *Service) Administered(ctx context.Context, q fact.AdministeredQuestion) ([]fact.Element, error) {
	found, err := s.Store.AdministeredBy(ctx, q.UserID)
	if err != nil {
		return nil, err
	}
	facts := make([]fact.Element, len(found))
	for i, e := range found {
		facts[i] = e.fact()
	}
	return facts, nil
}

// fact is what other services need to know of the element.
func (e Element) fact() fact.Element {
	return fact.Element{Element: e.List(), Key: e.Key, Current: e.Current, Resource: e.IsResourceGroup(), Administrators: e.Administrators}
}
