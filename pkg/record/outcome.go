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

// Outcome is the outcome of one row of an import.
type Outcome struct {
	Result Result
	ID     int64          // of the record; 0 when it failed, or would be created by a dry run
	Faults problem.Fields // of a failed row, by column
}

// ImportRows returns the outcomes of the rows. Run imports rows and returns, besides, the positions of those that
// another import has stored first, or whose unique field another record has got, since it read them. These are run once
// more: then they are compared with what is stored.
func ImportRows[R any](rows []R, run func([]R) (outcomes []Outcome, late []int, err error)) ([]Outcome, error) {
	outcomes, late, err := run(rows)
	if err != nil || len(late) == 0 {
		return outcomes, err
	}
	again := make([]R, len(late))
	for n, i := range late {
		again[n] = rows[i]
	}
	compared, _, err := run(again)
	if err != nil {
		return nil, err
	}
	for n, i := range late {
		outcomes[i] = compared[n]
	}
	return outcomes, nil
}

// Fail returns the outcome of an invalid row.
func Fail(faults problem.Fields) Outcome { return Outcome{Result: Failed, Faults: faults} }
