package mongostore

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// While a deployment is upgraded, pods of two releases write the same documents, and the older ones do not know the
// fields that the newer ones have added. So a document is never replaced by what this release knows of it alone:
// fields that the Go type does not have stay as they were read, in the document, in the documents inside it, and in
// those inside its arrays.
//
// An item of an array is recognised by all fields that the type has, or, when it was changed, by its first one. So
// the first field of a type that is stored in arrays is what identifies it, such as its id.
//
// A field that the type has and that is empty now is gone, and so is what was in it. A field that an earlier release
// had and this one wants removed stays in the type as
//
//	_ mongostore.Gone `bson:"name"`

// Gone is the type of a field that documents of an earlier release may have, and that goes when such a document is
// next written.
type Gone struct{}

// Stored is a document as it was read. Documents are changed in Document and written as Replacement.
type Stored[T any] struct {
	Document T
	raw      bsoncore.Document
}

// UnmarshalBSON implements bson.Unmarshaler.
func (s *Stored[T]) UnmarshalBSON(data []byte) error {
	s.raw = bytes.Clone(data)
	return bson.Unmarshal(s.raw, &s.Document)
}

// Replacement returns what is to be stored in place of the document that was read: Document, and what this release
// does not know. A tombstone keeps nothing of its record, so it has no unknown fields, but its items have.
func (s *Stored[T]) Replacement() (bson.Raw, error) {
	is, err := encode(&s.Document)
	if err != nil {
		return nil, err
	}
	l := layoutOf(reflect.TypeFor[T]())
	if !l.hasUnknown(s.raw) {
		return bson.Raw(is), nil
	}
	deleted, _ := is.Lookup("deleted").BooleanOK()
	return bson.Raw(l.merge(s.raw, is, !deleted)), nil
}

// encode does what a client of Connect does.
func encode(document any) (bsoncore.Document, error) {
	var b bytes.Buffer
	e := bson.NewEncoder(bson.NewDocumentWriter(&b))
	e.NilSliceAsEmpty()
	if err := e.Encode(document); err != nil {
		return nil, fmt.Errorf("encode a document: %w", err)
	}
	return b.Bytes(), nil
}

// layout is what a Go type knows of a stored document.
type layout struct {
	fields map[string]*layout // by name; nil: a value, which is replaced as a whole
	first  string             // the first field, which identifies an item of an array
}

// layouts are the known layouts, by type.
var layouts sync.Map

func layoutOf(t reflect.Type) *layout {
	known, ok := layouts.Load(t)
	if !ok {
		known, _ = layouts.LoadOrStore(t, describe(t))
	}
	return known.(*layout)
}

// describe returns the layout of a type whose values are stored as documents or as arrays of them, else nil.
func describe(t reflect.Type) *layout {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	l := &layout{fields: map[string]*layout{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("bson"), ",")
		switch {
		case name == "-" || !f.IsExported() && f.Type != reflect.TypeFor[Gone]():
			continue
		case strings.Contains(options, "inline"):
			inlined := describe(f.Type)
			maps.Copy(l.fields, inlined.fields)
			if l.first == "" {
				l.first = inlined.first
			}
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		l.fields[name] = describe(f.Type)
		if l.first == "" {
			l.first = name
		}
	}
	return l
}

// elements calls visit for each field of a document, as long as it returns true.
func elements(document bsoncore.Document, visit func(name []byte, value bsoncore.Value) bool) {
	_, rest, ok := bsoncore.ReadLength(document)
	for ok && len(rest) > 1 {
		var e bsoncore.Element
		if e, rest, ok = bsoncore.ReadElement(rest); ok && !visit(e.KeyBytes(), e.Value()) {
			return
		}
	}
}

// hasUnknown says whether a document, or one inside it, has a field that the type does not have.
func (l *layout) hasUnknown(document bsoncore.Document) (found bool) {
	elements(document, func(name []byte, v bsoncore.Value) bool {
		field, known := l.fields[string(name)]
		found = !known || field != nil && field.unknownIn(v)
		return !found
	})
	return found
}

func (l *layout) unknownIn(v bsoncore.Value) (found bool) {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return l.hasUnknown(v.Data)
	case bsoncore.TypeArray:
		elements(v.Data, func(_ []byte, item bsoncore.Value) bool {
			found = item.Type == bsoncore.TypeEmbeddedDocument && l.hasUnknown(item.Data)
			return !found
		})
	}
	return found
}

// merge returns a document as it is to be, with the unknown fields inside it as they were, and with its own if wanted.
func (l *layout) merge(was, is bsoncore.Document, own bool) bsoncore.Document {
	start, merged := bsoncore.AppendDocumentStart(make([]byte, 0, len(was)+len(is)))
	elements(is, func(name []byte, v bsoncore.Value) bool {
		if field := l.fields[string(name)]; field != nil {
			if old, err := was.LookupErr(string(name)); err == nil {
				v = field.mergeValue(old, v)
			}
		}
		merged = bsoncore.AppendValueElement(merged, string(name), v)
		return true
	})
	elements(was, func(name []byte, v bsoncore.Value) bool {
		if _, known := l.fields[string(name)]; !known && own {
			merged = bsoncore.AppendValueElement(merged, string(name), v)
		}
		return true
	})
	merged, _ = bsoncore.AppendDocumentEnd(merged, start) // fails only for a start that it did not return
	return merged
}

func (l *layout) mergeValue(was, is bsoncore.Value) bsoncore.Value {
	switch {
	case was.Type != is.Type || !l.unknownIn(was):
	case is.Type == bsoncore.TypeEmbeddedDocument:
		is.Data = l.merge(was.Data, is.Data, true)
	case is.Type == bsoncore.TypeArray:
		is.Data = bsoncore.BuildArray(nil, l.mergeItems(items(was), items(is))...)
	}
	return is
}

func items(array bsoncore.Value) []bsoncore.Value {
	all, _ := bsoncore.Array(array.Data).Values() // what the server and the encoder write is valid
	return all
}

// mergeItems finds the earlier form of each item of an array, and merges the two.
func (l *layout) mergeItems(was, is []bsoncore.Value) []bsoncore.Value {
	paired := make([]bool, len(is))
	left := was
	for _, same := range []func(bsoncore.Value) string{l.all, l.identity} {
		free := map[string][]int{}
		for i, item := range is {
			if !paired[i] {
				free[same(item)] = append(free[same(item)], i)
			}
		}
		var none []bsoncore.Value
		for _, old := range left {
			places := free[same(old)]
			if len(places) == 0 {
				none = append(none, old)
				continue
			}
			i := places[0]
			free[same(old)], paired[i] = places[1:], true
			is[i] = l.mergeValue(old, is[i])
		}
		left = none
	}
	return is
}

// all is the same for two items whose known fields are.
func (l *layout) all(item bsoncore.Value) string {
	var known []byte
	elements(item.Data, func(name []byte, v bsoncore.Value) bool {
		if _, ok := l.fields[string(name)]; ok {
			known = bsoncore.AppendValueElement(known, string(name), v)
		}
		return true
	})
	return string(known)
}

// identity is the same for two items whose first field is.
func (l *layout) identity(item bsoncore.Value) string {
	v, _ := bsoncore.Document(item.Data).LookupErr(l.first)
	return v.Type.String() + string(v.Data)
}
