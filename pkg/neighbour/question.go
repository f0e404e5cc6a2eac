package neighbour

import (
	"context"
	"errors"
	"reflect"

	"github.com/segmentio/encoding/json"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
)

// Question is a question that services ask the owner of records. Q is the question and A the answer, in JSON.
type Question[Q, A any] struct {
	Path    string // on the owner's second port
	Field   string // of the answer's envelope; it has A
	Writes  bool   // it is sent once; any other question is sent again when there is no answer
	MaxBody int    // of Q in bytes, see web.Route
	Large   bool   // A may have megabytes, see web.Route
	// Nothing says whether q asks for nothing. Then there is no call, and the answer is A's zero value. It may be nil.
	Nothing func(q Q) bool
}

// decode reads the answer from its envelope. A json.RawMessage in it is a part of the text.
func (question Question[Q, A]) decode(text []byte) (answer A, err error) {
	envelope := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "Answer", Type: reflect.TypeFor[A](), Tag: reflect.StructTag(`json:"` + question.Field + `"`),
	}}))
	rest, err := json.Parse(text, envelope.Interface(), json.DontCopyRawMessage)
	if err == nil && len(rest) > 0 {
		err = errors.New("unexpected data after the answer")
	}
	if err != nil {
		return answer, err
	}
	return *envelope.Elem().Field(0).Addr().Interface().(*A), nil
}

// erasureQuestion asks for a step of an erasure, which may be repeated: so it is sent again when there is no answer.
func erasureQuestion(path string) Question[fact.ErasureQuestion, fact.ErasureStep] {
	return Question[fact.ErasureQuestion, fact.ErasureStep]{Path: path, Field: "step"}
}

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
