package mongostore

import "go.mongodb.org/mongo-driver/v2/mongo"

// ClientOptions are the options that Connect uses.
var ClientOptions = clientOptions

// Removal are the writes of RemovePending, in their order.
func Removal(copied []Copied) []mongo.WriteModel { return removal(copied) }
