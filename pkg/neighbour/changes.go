package neighbour

import (
	"context"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// Changes is what each service with a log of changes answers about it.
var Changes = Question[fact.ChangesQuestion, change.Part]{Path: "/internal/changes", Field: "changes"}

// Changes returns the changes of elements and memberships.
func (e *Elements) Changes(ctx context.Context, q fact.ChangesQuestion) (change.Part, error) {
	return ask(ctx, e.peer, Changes, q)
}

// Changes returns the changes of notes.
func (n *Notes) Changes(ctx context.Context, q fact.ChangesQuestion) (change.Part, error) {
	return ask(ctx, n.peer, Changes, q)
}
