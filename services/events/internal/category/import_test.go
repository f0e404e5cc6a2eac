package category

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

const north = 4 // a school

// world is the store of one category, which another writer changes before the first change, and the elements.
type world struct {
	Store
	Elements
	stored Category
	other  func(*Category)
}

func (w *world) Find(context.Context, []int64, []string) ([]Category, error) {
	return []Category{w.stored}, nil
}

func (w *world) FindNamed(context.Context, []string) ([]Category, error) { return nil, nil }

func (*world) Insert(context.Context, []Category) ([]error, error) { return nil, nil }

func (w *world) Change(_ context.Context, _ int64, change func(*Category) error) (Category, error) {
	w.other(&w.stored)
	w.other = func(*Category) {}
	c := w.stored
	err := change(&c)
	if err == nil {
		w.stored = c
	}
	return c, err
}

func (*world) Facts(context.Context, fact.ElementsQuestion) ([]fact.Element, error) {
	return []fact.Element{{
		Element: form.Element{ID: north, EntityType: form.Group}, Key: "Group:north", Current: true, School: true,
	}}, nil
}

func (*world) Belonging(_ context.Context, q fact.BelongingQuestion) ([]int64, error) {
	return q.IDs, nil
}

// An import by an administrator of a school cleared a flag that an admin had set since the import read the category.
func TestDecisionsPart9_AnImportDecidesOnTheCategoryThatIsStored(t *testing.T) {
	name := "Visits"
	row := Row{Row: record.Row{Key: "visits", Hash: "2"}, School: "north",
		Fields: Fields{Name: &name, Faults: problem.Fields{}}}
	head := principal.Principal{UserID: 2, AdminOf: []int64{north}}
	for _, c := range []struct {
		name   string
		other  func(*Category)
		result record.Result
		faults problem.Fields
	}{
		{"nothing", func(*Category) {}, record.Updated, nil},
		{"the name", func(c *Category) { c.Name = "Trips" }, record.Updated, nil},
		{"confidential", func(c *Category) { c.Confidential = true }, record.Failed,
			problem.Fields{"key": {problem.ForAdmins}}},
		{"the school", func(c *Category) { c.School = 5 }, record.Failed,
			problem.Fields{"school": {problem.NotAdministered}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{stored: Category{ID: 1, Key: "visits", Name: "Visit", School: north, ImportHash: "1"}}
			w.other = c.other
			outcomes, err := New(Options{Store: w, Elements: w}).Import(t.Context(), head, []Row{row}, false)
			errortest.None(t, err)
			valuetest.Same(t, outcomes[0].Result, c.result, "the result")
			if diff := cmp.Diff(c.faults, outcomes[0].Faults); diff != "" {
				t.Error(diff)
			}
			valuetest.Same(t, w.stored.ImportHash == "2", c.result == record.Updated, "that it is stored")
		})
	}
}
