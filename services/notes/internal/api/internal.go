package api

import (
	"context"
	"errors"

	"github.com/belfry-schools/belfry/pkg/fact"
	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/record"
)

// create answers neighbour.NewNote. An invalid note is an answer too: events shows it to the client.
func (h handlers) create(ctx context.Context, q fact.NewNote) (form.Note, error) {
	n, err := h.notes.Create(ctx, q)
	if invalid, ok := errors.AsType[*record.InvalidError[form.Note]](err); ok {
		return invalid.Record, nil
	}
	return n, err
}
