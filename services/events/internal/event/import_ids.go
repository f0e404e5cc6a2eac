package event

import "context"

// rowIDs are the ids that one row can need.
type rowIDs struct {
	ids
	event int64
}

// takeIDs takes the ids for all rows; a dry run counts from 1.
func (b *batch) takeIDs(ctx context.Context, rows []Row) error {
	commitments, requests := 0, 0
	needs := make([][2]int, len(rows))
	for i, row := range rows {
		c, r := b.needs(row)
		needs[i] = [2]int{c, r}
		commitments, requests = commitments+c, requests+r
	}
	store := b.service.store
	take := []func(context.Context, int) ([]int64, error){
		store.NewEventIDs,
		store.NewCommitmentIDs,
		store.NewRequestIDs,
	}
	if b.dryRun {
		take = []func(context.Context, int) ([]int64, error){countUp, countUp, countUp}
	}
	var taken [3][]int64
	for n, count := range []int{len(rows), commitments, requests} {
		var err error
		if taken[n], err = take[n](ctx, count); err != nil {
			return err
		}
	}
	b.ids = make(map[string]rowIDs, len(rows))
	for i, row := range rows {
		c, r := needs[i][0], needs[i][1]
		b.ids[row.Key] = rowIDs{event: taken[0][i], ids: ids{commitments: taken[1][:c], requests: taken[2][:r]}}
		taken[1], taken[2] = taken[1][c:], taken[2][r:]
	}
	return nil
}

func countUp(_ context.Context, n int) ([]int64, error) {
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(i + 1)
	}
	return numbers, nil
}

// needs counts the commitments and the requests that the row's elements become, and the allocations, whose ids are the
// last ones.
func (b *batch) needs(row Row) (commitments, requests int) {
	seen := map[string]bool{}
	for _, key := range row.Elements {
		fact, exists := b.elements[key]
		switch {
		case !exists || seen[key]:
		case fact.Resource:
			requests++
		default:
			commitments++
		}
		seen[key] = true
	}
	for _, d := range row.Decisions {
		if d.Request != "" {
			commitments++
		}
	}
	return commitments, requests
}
