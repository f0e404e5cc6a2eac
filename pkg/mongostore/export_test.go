package mongostore

import "go.mongodb.org/mongo-driver/v2/mongo"

// ClientOptions are the options that Connect uses.
var ClientOptions = clientOptions

// Removal are the writes of Pending.Remove, in their order.
func Removal(p Pending, copied []Copied) []mongo.WriteModel { return p.removal(copied) }
