package category

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// Errors of a store for a category that a unique index refused.
var (
	ErrKeyTaken  = errors.New("another category has the import key")
	ErrNameTaken = errors.New("another category of the school has the name")
)

// Store keeps categories. Get and Change return record.ErrNotFound when there is no category with the id.
type Store interface {
	Get(ctx context.Context, id int64) (Category, error)
	// Find returns those of the categories that exist, by id and by import key, in no order.
	Find(ctx context.Context, ids []int64, keys []string) ([]Category, error)
	// FindNamed returns those of the categories that exist, by name, in no order.
	FindNamed(ctx context.Context, names []string) ([]Category, error)
	// List returns categories with an id above after, by id: at most limit, all when it is 0.
	List(ctx context.Context, after int64, limit int) ([]Category, error)
	// Insert stores new categories and sets their ids. Each is refused with ErrKeyTaken or ErrNameTaken, or nil.
	Insert(ctx context.Context, categories []Category) (refused []error, err error)
	// Change lets change decide on the category and stores the result, as one atomic step. ErrNameTaken.
	Change(ctx context.Context, id int64, change func(*Category) error) (Category, error)
}

// Elements is what is asked of the elements service.
type Elements interface {
	Facts(ctx context.Context, q fact.ElementsQuestion) ([]fact.Element, error)
	Reaches(ctx context.Context, q fact.ReachesQuestion) ([]fact.ElementReaches, error)
	Belonging(ctx context.Context, q fact.BelongingQuestion) ([]int64, error)
}

// Options of a Service; all are needed.
type Options struct {
	Store    Store
	Elements Elements
	Zone     wiretime.Zone
}

// Service has the use cases of categories. It is safe for concurrent use. It asks elements only about categories of
// schools.
type Service struct{ o Options }

// New returns the use cases.
func New(o Options) *Service { return &Service{o} }
