package mongostore

import (
	"time"

	"github.com/google/uuid"
)

// FirstUUID is the smallest version 7 UUID that a document of that millisecond may have: they begin with the
// milliseconds since 1970 in 48 bits.
func FirstUUID(t time.Time) string {
	var id uuid.UUID
	ms := max(t.UnixMilli(), 0)
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}
