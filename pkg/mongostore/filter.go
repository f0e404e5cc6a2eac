package mongostore

import "go.mongodb.org/mongo-driver/v2/bson"

// Exists is the condition that a document has the field, such as that of a partial index.
func Exists(field string) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: "$exists", Value: true}}}}
}

// WhereExists compares a field by that operator ("$eq", "$in", …). The filter has the condition of Exists too, without
// which servers would not use the partial index of the field.
func WhereExists(field, operator string, value any) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: operator, Value: value}, {Key: "$exists", Value: true}}}}
}
