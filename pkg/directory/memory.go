package directory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"
)

// keeps is how long an entry is kept at most. No promise rests on it: it bounds the use of a wrong answer of the
// database.
const keeps = time.Minute

// overhead is roughly the bytes that an entry takes besides its value.
const overhead = 200

// MemoryOptions are the options of NewMemory.
type MemoryOptions struct {
	Versions *Versions
	Bytes    int64 // about how much the entries may take; 0: nothing is kept
	Meter    metric.MeterProvider
}

// Memory keeps values read from the directory, within a bound. It is safe for concurrent use.
type Memory struct {
	versions *Versions
	cache    *otter.Cache[place, entry] // nil: nothing is kept
	lookups  metric.Int64Counter
	flights  singleflight.Group
}

// place is where an entry is: its shelf, and the id that it is about.
type place struct {
	shelf string
	id    int64
}

type entry struct {
	read  *Snapshot // under which it was read
	value any
	bytes uint32
}

// NewMemory returns an empty memory.
func NewMemory(o MemoryOptions) (*Memory, error) {
	meter := o.Meter.Meter("github.com/belfry-schools/belfry/pkg/directory")
	m := &Memory{versions: o.Versions}
	var err error
	m.lookups, err = meter.Int64Counter("belfry.directory.lookups", metric.WithDescription(
		"Records looked up in memory, by shelf and outcome: hit, miss, or refused, when one there is not current"))
	if err != nil {
		return nil, fmt.Errorf("make the counter of lookups: %w", err)
	}
	if o.Bytes <= 0 {
		return m, nil
	}
	m.cache, err = otter.New(&otter.Options[place, entry]{
		MaximumWeight:    uint64(o.Bytes),
		Weigher:          func(_ place, e entry) uint32 { return e.bytes },
		ExpiryCalculator: otter.ExpiryWriting[place, entry](keeps),
	})
	if err != nil {
		return nil, fmt.Errorf("make the memory of the directory: %w", err)
	}
	_, err = meter.Int64ObservableGauge("belfry.directory.bytes", metric.WithUnit("By"),
		metric.WithDescription("About what is kept of the directory in memory"),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			observer.Observe(int64(m.cache.WeightedSize()))
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("make the gauge of bytes: %w", err)
	}
	return m, nil
}

// Shelf is a part of a memory: values of one type, one for each key.
type Shelf[V any] struct {
	memory                *Memory
	name                  string
	kind                  Kind
	bytes                 func(V) int
	hits, misses, refused metric.MeasurementOption
}

// NewShelf returns the shelf of that name, which must be unique in the memory. Bytes returns a value's approximate
// size. A nil memory keeps nothing.
func NewShelf[V any](m *Memory, name string, kind Kind, bytes func(V) int) *Shelf[V] {
	outcome := func(text string) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(attribute.String("shelf", name),
			attribute.String("outcome", text)))
	}
	return &Shelf[V]{memory: m, name: name, kind: kind, bytes: bytes,
		hits: outcome("hit"), misses: outcome("miss"), refused: outcome("refused")}
}

// Uses says whether values are used from memory in this context.
func (s *Shelf[V]) Uses(ctx context.Context) bool { return s.snapshot(ctx) != nil }

func (s *Shelf[V]) snapshot(ctx context.Context) *Snapshot {
	if s.memory == nil || s.memory.cache == nil {
		return nil
	}
	return s.memory.versions.of(ctx)
}

// Find returns the values of those ids that have one: those that are current from memory, and all others from load,
// which are kept. The values are shared and must not be changed. Load resolves what it reads, as package journal does,
// or asks a service that does.
func (s *Shelf[V]) Find(
	ctx context.Context, ids []int64, load func(ctx context.Context, ids []int64) (map[int64]V, error),
) (map[int64]V, error) {
	now := s.snapshot(ctx)
	if now == nil {
		return load(ctx, ids)
	}
	found := make(map[int64]V, len(ids))
	var missing []int64
	var hits, refused int64
	for _, id := range ids {
		if _, twice := found[id]; twice {
			continue
		}
		e, kept := s.memory.cache.GetIfPresent(place{s.name, id})
		switch {
		case kept && now.holds(e.read, Key{s.kind, id}):
			value, _ := e.value.(V) // a shelf has values of one type
			found[id] = value
			hits++
			continue
		case kept:
			refused++
		}
		missing = append(missing, id)
	}
	s.count(ctx, hits, int64(len(missing))-refused, refused)
	if len(missing) == 0 {
		return found, nil
	}
	loaded, err := load(ctx, missing)
	if err != nil {
		return nil, err
	}
	for id, value := range loaded {
		found[id] = value
		s.memory.cache.Set(place{s.name, id}, entry{now, value, uint32(overhead + s.bytes(value))})
	}
	return found, nil
}

func (s *Shelf[V]) count(ctx context.Context, hits, misses, refused int64) {
	for _, c := range []struct {
		n       int64
		outcome metric.MeasurementOption
	}{{hits, s.hits}, {misses, s.misses}, {refused, s.refused}} {
		if c.n > 0 {
			s.memory.lookups.Add(ctx, c.n, c.outcome)
		}
	}
}

// Derived is a part of a memory: values that were computed from records of one kind. A value is current while none of
// its records has changed.
type Derived[V any] struct {
	shelf *Shelf[derived[V]]
}

// derived is a value with the ids of its records.
type derived[V any] struct {
	value V
	from  []int64
}

// NewDerived returns the part of that name, which must be unique in the memory, of values computed from records of the
// kind. Bytes returns a value's approximate size. A nil memory keeps nothing.
func NewDerived[V any](m *Memory, name string, kind Kind, bytes func(V) int) *Derived[V] {
	const perID = 8
	return &Derived[V]{NewShelf(m, name, kind, func(d derived[V]) int { return bytes(d.value) + perID*len(d.from) })}
}

// Get returns the value of an id: from memory if it is current and fits, otherwise from compute, and then it is kept.
// Compute returns the ids of the value's records, and reads them with its context only, from shelves or the store. The
// value is shared and must not be changed. Get takes time in proportion to the number of these records.
func (d *Derived[V]) Get(
	ctx context.Context, id int64, fits func(V) bool, compute func(context.Context) (value V, from []int64, err error),
) (V, error) {
	s := d.shelf
	now := s.snapshot(ctx)
	if now == nil {
		value, _, err := compute(ctx)
		return value, err
	}
	find := func() (value V, kept, current bool) {
		e, kept := s.memory.cache.GetIfPresent(place{s.name, id})
		known, _ := e.value.(derived[V]) // a part has values of one type
		return known.value, kept, kept && fits(known.value) &&
			!slices.ContainsFunc(known.from, func(id int64) bool { return !now.holds(e.read, Key{s.kind, id}) })
	}
	value, kept, current := find()
	switch {
	case current:
		s.count(ctx, 1, 0, 0)
		return value, nil
	case kept:
		s.count(ctx, 0, 0, 1)
	default:
		s.count(ctx, 0, 1, 0)
	}
	return once(ctx, s.memory, place{s.name, id}, func() (V, bool) {
		value, _, current := find()
		return value, current
	}, func(ctx context.Context) (V, error) {
		value, from, err := compute(ctx)
		if err != nil {
			return value, err
		}
		made := derived[V]{value, from}
		s.memory.cache.Set(place{s.name, id}, entry{now, made, uint32(overhead + s.bytes(made))})
		return value, nil
	})
}

// once computes and keeps the value of a place for a request that found nothing current there. When several requests
// need it at once, one computes it and the others wait. A request for which the result is not current, or whose
// predecessor failed, computes its own.
func once[V any](
	ctx context.Context, m *Memory, at place, current func() (V, bool), compute func(context.Context) (V, error),
) (value V, err error) {
	computed := false
	_, _, _ = m.flights.Do(at.shelf+" "+strconv.FormatInt(at.id, 10), func() (any, error) {
		computed = true
		found := false
		if value, found = current(); !found { // another request may have ended just before
			value, err = compute(ctx)
		}
		return nil, nil
	})
	if computed {
		return value, err
	}
	if value, found := current(); found {
		return value, nil
	}
	return compute(ctx)
}

// Table is a part of a memory: sorted rows of one type, for lists of ids. It takes a fraction of a shelf's memory for
// as many values. When a record changes, only its row is read again.
type Table[R any] struct {
	shelf   *Shelf[rows[R]]
	idOf    func(R) int64
	compare func(a, b R) int
}

// rows are the rows of a list of ids.
type rows[R any] struct {
	ids    []int64 // sorted
	sorted []R     // some ids may have none
	// since is when the oldest row was read.
	since time.Time
}

// NewTable returns the part of that name, which must be unique in the memory, of rows of records of the kind. IDOf
// returns the id of a row's record, compare gives the order, and bytes returns a row's approximate size. A nil memory
// keeps nothing.
func NewTable[R any](
	m *Memory, name string, kind Kind, idOf func(R) int64, compare func(a, b R) int, bytes func(R) int,
) *Table[R] {
	const perID = 8
	size := func(kept rows[R]) int {
		all := perID * len(kept.ids)
		for _, row := range kept.sorted {
			all += bytes(row)
		}
		return all
	}
	return &Table[R]{NewShelf(m, name, kind, size), idOf, compare}
}

// Uses says whether rows are used from memory in this context.
func (t *Table[R]) Uses(ctx context.Context) bool { return t.shelf.Uses(ctx) }

// Get returns the rows of those ids that have one, in the table's order. The ids are sorted and distinct, and name
// identifies the list, such as that of a school. Rows that are current come from memory, all others from load, which
// resolves what it reads. They are kept until the list of that name is asked for with other ids. The rows are shared
// and must not be changed. Get takes time in proportion to the number of ids, and sorts only after a load.
func (t *Table[R]) Get(
	ctx context.Context, name int64, ids []int64, load func(ctx context.Context, ids []int64) ([]R, error),
) ([]R, error) {
	s := t.shelf
	now := s.snapshot(ctx)
	if now == nil {
		loaded, err := load(ctx, ids)
		slices.SortFunc(loaded, t.compare)
		return loaded, err
	}
	find := func() (known rows[R], missing []int64, current bool) {
		e, kept := s.memory.cache.GetIfPresent(place{s.name, name})
		known, _ = e.value.(rows[R]) // a part has values of one type
		if !kept || time.Since(known.since) > keeps {
			known = rows[R]{since: time.Now()}
		}
		stale := func(id int64) bool { return !now.holds(e.read, Key{s.kind, id}) }
		if slices.Equal(ids, known.ids) && !slices.ContainsFunc(ids, stale) {
			return known, nil, true
		}
		return known, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
			_, has := slices.BinarySearch(known.ids, id)
			return has && !stale(id)
		}), false
	}
	known, missing, current := find()
	s.count(ctx, int64(len(ids)-len(missing)), int64(len(missing)), 0)
	if current {
		return known.sorted, nil
	}
	return once(ctx, s.memory, place{s.name, name}, func() ([]R, bool) {
		known, _, current := find()
		return known.sorted, current
	}, func(ctx context.Context) ([]R, error) {
		known, missing, _ := find()
		fresh, err := t.renew(ctx, known, ids, missing, load)
		if err == nil {
			s.memory.cache.Set(place{s.name, name}, entry{now, fresh, uint32(overhead + s.bytes(fresh))})
		}
		return fresh.sorted, err
	})
}

// renew returns the rows of the ids: the known ones, and the missing ones from load.
func (t *Table[R]) renew(
	ctx context.Context, known rows[R], ids, missing []int64,
	load func(ctx context.Context, ids []int64) ([]R, error),
) (rows[R], error) {
	fresh := rows[R]{ids: ids, since: known.since}
	for _, row := range known.sorted {
		id := t.idOf(row)
		_, asked := slices.BinarySearch(ids, id)
		if _, stale := slices.BinarySearch(missing, id); asked && !stale {
			fresh.sorted = append(fresh.sorted, row)
		}
	}
	if len(missing) == 0 {
		return fresh, nil
	}
	loaded, err := load(ctx, missing)
	if err != nil {
		return rows[R]{}, err
	}
	fresh.sorted = append(fresh.sorted, loaded...)
	slices.SortFunc(fresh.sorted, t.compare)
	return fresh, nil
}
