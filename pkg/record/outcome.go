package record

import "github.com/belfry-schools/belfry/pkg/problem"

// Result is what an import did with a record (administration: import).
type Result string

// The results. Unchanged means that the row equals the one that was imported last, even when the record was changed
// by hand since.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged"
	Failed    Result = "failed"
)

// Outcome is the outcome of one row of an import. The tags name its fields in answers.
type Outcome struct {
	Result Result         `json:"result"`
	ID     int64          `json:"id,omitempty"`     // of the record; 0 when it failed, or would be created by a dry run
	Faults problem.Fields `json:"errors,omitempty"` // of a failed row, by column
}

// Fail returns the outcome of an invalid row.
func Fail(faults problem.Fields) Outcome { return Outcome{Result: Failed, Faults: faults} }
