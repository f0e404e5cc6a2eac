package record

import "github.com/belfry-schools/belfry/pkg/problem"

// Result is what an import did with a record (administration: import).
type Result string

// The results. Unchanged is a record whose row is the one that was imported last, whatever was changed by hand since.
const (
	Created   Result = "created"
	Updated   Result = "updated"
	Unchanged Result = "unchanged"
	Failed    Result = "failed"
)

// Outcome is what became of one row of an import.
type Outcome struct {
	Result Result
	ID     int64          // of the record; 0 when it failed, or would be created by a dry run
	Faults problem.Fields // of a failed row, by column
}

// Fail is the outcome of a row that is not right.
func Fail(faults problem.Fields) Outcome { return Outcome{Result: Failed, Faults: faults} }
