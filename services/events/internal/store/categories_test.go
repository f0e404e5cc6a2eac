package store

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
)

// MongoDB's message has the refused value too: a second category of such a name was an internal error.
func TestClients_ASecondCategoryNamedLikeAnIndexHasATakenName(t *testing.T) {
	err := takenBy(mongo.WriteError{Code: 11000, Message: "E11000 duplicate key error collection: " +
		`belfry.event_categories index: name_school dup key: { name: "import_key", school_id: 4 }`})
	valuetest.Holds(t, errors.Is(err, category.ErrNameTaken), "%v", err)
}
