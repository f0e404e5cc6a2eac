package element

import (
	"context"
	"testing"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// retiring is a store in which all but the last of the elements are retired once they have been listed.
type retiring struct {
	Store

	elements []Element
}

func (r *retiring) ListByType(context.Context, Among, int) ([]Element, error) {
	listed := append([]Element{}, r.elements...)
	for i := range r.elements[1:] {
		r.elements[i].Current = false
	}
	return listed, nil
}

func (r *retiring) Find(context.Context, []int64) ([]Element, error) { return r.elements, nil }

// Among those of a group alone it was asked again whether they are current.
func TestFree_AnElementThatIsRetiredMeanwhileIsNotChosen(t *testing.T) {
	room := func(id int64) Element { return Element{ID: id, EntityType: form.Location, Current: true} }
	s := &Service{Options{Store: &retiring{elements: []Element{room(1), room(2)}}}}
	w := Whose{EntityType: form.Location}
	all := sight{Sight: fact.Sight{Scope: principal.SeesAll}}
	found, _, err := s.choose(t.Context(), all, w, MaxFree, wiretime.Days{})
	errortest.None(t, err)
	valuetest.MustSame(t, len(found), 1, "chosen")
	valuetest.Same(t, found[0].ID, 2, "chosen")
}
