package mongostore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A search through all texts of a collection, whatever its documents are, goes page by page in order of _id. A place is
// the _id after which it goes on; "" is the beginning, and after the last page the end.

const (
	// pageLength and pageBytes bound a page.
	pageLength = 1000
	pageBytes  = 16 << 20 // no document is larger
)

// Texts finds texts, and replaces what it finds.
type Texts interface {
	In(text []byte) bool
	Replace(text string) (string, bool)
}

// FindTexts returns the ids of the documents of a page in whose fields something is found, apart from the fields left
// out, and the next place.
func FindTexts(ctx context.Context, collection Reader, texts Texts, after string, leaveOut ...string) (
	ids []bson.RawValue, next string, err error) {
	fields := bson.D{}
	for _, name := range leaveOut {
		fields = append(fields, bson.E{Key: name, Value: 0})
	}
	page, next, err := findAfter(ctx, collection, after, fields)
	for _, document := range page {
		if texts.In(document) {
			ids = append(ids, document.Lookup("_id"))
		}
	}
	return ids, next, err
}

// RewriteTexts replaces what is found in the texts of a page of documents, those inside arrays, documents and binary
// values too, and returns how many documents it changed and the next place. A version rises by one. A text that others
// change at the same time is read again. It is for collections whose documents nothing else follows from.
func RewriteTexts(ctx context.Context, collection *mongo.Collection, texts Texts, after string) (
	next string, changed int, err error) {
	page, next, err := findAfter(ctx, collection, after, nil)
	if err != nil {
		return "", 0, err
	}
	for _, document := range page {
		if !texts.In(document) {
			continue
		}
		rewritten, err := rewriteTexts(ctx, collection, texts, document)
		if err != nil {
			return "", changed, err
		}
		if rewritten {
			changed++
		}
	}
	return next, changed, nil
}

// FindAfter reads the page of documents after a place, and returns the next place.
func FindAfter[D any](ctx context.Context, collection Reader, after string) (page []D, next string, err error) {
	raw, next, err := findAfter(ctx, collection, after, nil)
	page = make([]D, len(raw))
	for i := 0; i < len(raw) && err == nil; i++ {
		err = bson.Unmarshal(raw[i], &page[i])
	}
	return page, next, err
}

// findAfter is FindAfter that leaves out fields.
func findAfter(ctx context.Context, collection Reader, after string, fields bson.D) (
	page []bson.Raw, next string, err error) {
	filter := bson.D{}
	if after != "" {
		id, err := readPlace(after)
		if err != nil {
			return nil, "", err
		}
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: id}}}}
	}
	o := options.Find().SetSort(By("_id")).SetLimit(pageLength)
	if len(fields) > 0 {
		o.SetProjection(fields)
	}
	page, more, err := FindUpTo[bson.Raw](ctx, collection, pageBytes, filter, o)
	if err != nil || !more && len(page) < pageLength {
		return page, "", err
	}
	if len(page) == 0 { // a document of that size alone
		return nil, "", fmt.Errorf("a document of %s is too large to search", collection.Name())
	}
	return page, placeOf(page[len(page)-1].Lookup("_id")), nil
}

func placeOf(id bson.RawValue) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(id.Type)}, id.Value...))
}

func readPlace(text string) (bson.RawValue, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(bytes) == 0 {
		return bson.RawValue{}, errors.New("mongostore: no place in a collection")
	}
	id := bson.RawValue{Type: bson.Type(bytes[0]), Value: bytes[1:]}
	return id, id.Validate()
}

// rewriteTexts rewrites one document, and says whether there was something to rewrite.
func rewriteTexts(ctx context.Context, collection *mongo.Collection, texts Texts, document bson.Raw) (bool, error) {
	id := bson.D{{Key: "_id", Value: document.Lookup("_id")}}
	rewritten := false
	err := Retry(ctx, func() (done bool, err error) {
		if document == nil { // another writer was first
			document, err = collection.FindOne(ctx, id).Raw()
			if errors.Is(err, mongo.ErrNoDocuments) {
				return true, nil
			}
			if err != nil {
				return false, err
			}
		}
		filter, update, err := replacement(document, texts)
		if err != nil || len(update) == 0 {
			return true, err
		}
		document = nil
		result, err := collection.UpdateOne(ctx, append(slices.Clone(id), filter...), update)
		rewritten = err == nil && result.MatchedCount == 1
		return rewritten, err
	})
	if err != nil {
		return false, fmt.Errorf("rewrite the texts of %s: %w", collection.Name(), err)
	}
	return rewritten, nil
}

// replacement returns the update that replaces the texts of a document, empty when there is none, and the condition
// that these fields have not changed.
func replacement(document bson.Raw, texts Texts) (filter, update bson.D, err error) {
	all, err := document.Elements()
	if err != nil {
		return nil, nil, fmt.Errorf("read a document: %w", err)
	}
	var set bson.D
	for _, e := range all {
		if is, found := replaceIn(e.Value(), texts); found && e.Key() != "_id" {
			filter = append(filter, bson.E{Key: e.Key(), Value: e.Value()})
			set = append(set, bson.E{Key: e.Key(), Value: is})
		}
	}
	if len(set) == 0 {
		return nil, nil, nil
	}
	update = bson.D{{Key: "$set", Value: set}}
	if version, err := document.LookupErr("version"); err == nil && version.Type == bson.TypeInt64 {
		filter = append(filter, bson.E{Key: "version", Value: version})
		update = append(update, bson.E{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}})
	}
	return filter, update, nil
}

// replaceIn returns a value with its texts replaced, and whether there was any.
func replaceIn(v bson.RawValue, texts Texts) (is any, found bool) {
	switch v.Type {
	case bson.TypeString:
		return texts.Replace(v.StringValue())
	case bson.TypeBinary:
		if kind, data := v.Binary(); utf8.Valid(data) {
			text, found := texts.Replace(string(data))
			return bson.Binary{Subtype: kind, Data: []byte(text)}, found
		}
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return replaceInside(v, texts)
	}
	return v, false
}

// replaceInside is replaceIn of a document or an array.
func replaceInside(v bson.RawValue, texts Texts) (is any, found bool) {
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return v, false
	}
	document, array := bson.D{}, bson.A{}
	for _, e := range elements {
		one, changed := replaceIn(e.Value(), texts)
		found = found || changed
		document, array = append(document, bson.E{Key: e.Key(), Value: one}), append(array, one)
	}
	if v.Type == bson.TypeArray {
		return array, found
	}
	return document, found
}
