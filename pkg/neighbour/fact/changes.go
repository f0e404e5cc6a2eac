package fact

import "github.com/belfry-schools/belfry/pkg/journal/change"

// ChangesQuestion asks for the changes of a service's records after a place in its log, up to limit, or, without one,
// where the log ends.
type ChangesQuestion struct {
	After *change.Position `json:"after,omitempty"`
	Limit int              `json:"limit"`
}
