package neighbour

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Question is one that services ask the owner of records: Q is what is asked, in JSON, and A what is answered.
type Question[Q, A any] struct {
	Path    string         // on the owner's second port
	Field   string         // of the answer's envelope, in which A is
	Writes  bool           // it asks for a change and is sent once; any other is sent again when there is no answer
	MaxBody int            // bounds Q in bytes; as that of web.Route
	Nothing func(q Q) bool // q asks for nothing: there is no call, and the answer is A's zero value; nil: there always is one
}

// decode reads the answer's envelope.
func (question Question[Q, A]) decode(text []byte) (answer A, err error) {
	envelope := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Answer", Type: reflect.TypeFor[*A](), Tag: reflect.StructTag(fmt.Sprintf("json:%q", question.Field))},
	}))
	envelope.Elem().Field(0).Set(reflect.ValueOf(&answer))
	err = json.Unmarshal(text, envelope.Interface())
	return answer, err
}
