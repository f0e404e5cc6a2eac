package record_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// book is the record of the tests: its hash is that of its row.
type book struct {
	id   int64
	hash string
}

// shelf stores books by key. Before each of its first writes another writer acts.
type shelf struct {
	books  map[string]book
	others []func()
}

func (s *shelf) other() {
	if len(s.others) > 0 {
		s.others[0]()
		s.others = s.others[1:]
	}
}

// of returns an import of rows whose keys are the first letters of their hashes.
func (s *shelf) of() record.Import[record.Row, book] {
	return record.Import[record.Row, book]{
		Find:     func(context.Context, []record.Row) (map[string]book, error) { return s.books, nil },
		Imported: func(b book) (int64, string) { return b.id, b.hash },
		Apply:    func(r record.Row, stored book) (book, error) { return book{stored.id, r.Hash}, nil },
		Insert: func(_ context.Context, books []book) ([]problem.Fields, error) {
			s.other()
			refused := make([]problem.Fields, len(books))
			for i, b := range books {
				if _, taken := s.books[b.hash[:1]]; taken {
					refused[i] = problem.Fields{"key": {problem.Taken}}
					continue
				}
				books[i].id = int64(len(s.books) + 1)
				s.books[b.hash[:1]] = books[i]
			}
			return refused, nil
		},
		Replace: func(_ context.Context, books []book) error {
			for _, b := range books {
				s.books[b.hash[:1]] = b
			}
			if len(s.others) > 0 {
				s.other()
				return record.ErrOutdated
			}
			return nil
		},
	}
}

func TestImport_WritersThatInterfere(t *testing.T) {
	rows := []record.Row{{Key: "a", Hash: "a2"}, {Key: "b", Hash: "b1"}, {Key: "c", Hash: "c1"}}
	for name, c := range map[string]struct {
		others func(*shelf) []func()
		want   []record.Result
	}{
		"none": {func(*shelf) []func() { return nil },
			[]record.Result{record.Updated, record.Created, record.Unchanged}},
		"the same row first": {func(s *shelf) []func() {
			return []func(){func() { s.books["b"] = book{9, "b1"} }}
		}, []record.Result{record.Updated, record.Unchanged, record.Unchanged}},
		"another row of the key first": {func(s *shelf) []func() {
			return []func(){func() { s.books["b"] = book{9, "b0"} }}
		}, []record.Result{record.Updated, record.Updated, record.Unchanged}},
		"outdated": {func(*shelf) []func() { return []func(){func() {}, func() {}} },
			[]record.Result{record.Updated, record.Created, record.Unchanged}},
	} {
		s := &shelf{books: map[string]book{"a": {1, "a1"}, "c": {2, "c1"}}}
		s.others = c.others(s)
		outcomes, err := s.of().Run(t.Context(), rows)
		errortest.None(t, err, name)
		var got []record.Result
		for i, o := range outcomes {
			got = append(got, o.Result)
			if stored := s.books[rows[i].Key]; o.ID != stored.id || stored.hash != rows[i].Hash {
				t.Errorf("%s: row %d has %+v, stored is %+v", name, i, o, stored)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestImport_IsAConflictWhenOthersKeepInterfering(t *testing.T) {
	k := (&shelf{books: map[string]book{}}).of()
	k.Insert = func(context.Context, []book) ([]problem.Fields, error) { return nil, record.ErrOutdated }
	if _, err := k.Run(t.Context(), []record.Row{{Key: "a", Hash: "a1"}}); !problem.Is(err, problem.Conflict) {
		t.Errorf("%v", err)
	}
}
