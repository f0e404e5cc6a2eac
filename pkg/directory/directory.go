// Package directory lets services keep in memory what they read of the directory: elements, memberships, event
// categories, and facts of users. An entry is used only if it is current: Redis has a version for each shard of the
// directory, and a request takes a snapshot of these versions in the round trip that loads its session. No answer is
// older than one that was given before; docs/decisions/0014-the-directory-in-memory.md has the protocol, the proof, and
// what happens when a process or a store fails.
//
// [Versions] takes snapshots and invalidates, [Memory] keeps what was read. Writers go through package journal, which
// opens a write intent before a write, names it in the documents, and closes it before the write is acknowledged.
package directory

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/redis/go-redis/v9"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// ErrAway says that Redis gave no valid answer.
var ErrAway = errors.New("directory: no versions")

const (
	// shards is the number of versions. A change invalidates the shards of its records.
	shards = 1 << shardBits
	// shardBits is the logarithm of that.
	shardBits = 12

	// patience is the time after which the writer of an open intent is taken for dead.
	patience = 30 * time.Second
	// closeTimeout bounds closing an intent, which is tried even after the request's deadline.
	closeTimeout = 3 * time.Second
	// snapshotTimeout bounds taking a snapshot by itself. When Redis hangs, the request must have time left to read the
	// store instead.
	snapshotTimeout = time.Second
	// maxResolved bounds the documents that a process remembers as resolved.
	maxResolved = 20_000
	// resolveBatch is the number of documents that one script resolves. Redis serves no other client meanwhile.
	resolveBatch = 250
)

// Kind is a kind of record that a change may be about.
type Kind uint8

// The kinds.
const (
	Element Kind = iota + 1
	Category
	User
)

// Key is a record that a change is about. A membership is about its group and its member.
type Key struct {
	Kind Kind
	ID   int64
}

// shard is the same in all processes, of every release. Consecutive ids have different shards.
func (k Key) shard() int {
	const spread = 0x9E3779B97F4A7C15
	return int((uint64(k.ID)<<2 | uint64(k.Kind)) * spread >> (64 - shardBits))
}

// shardsOf returns the shards of keys as texts, each once.
func shardsOf(keys []Key) []string {
	numbers := sequence.Map(keys, func(k Key) int { return k.shard() })
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return sequence.Map(numbers, strconv.Itoa)
}

// Intent names a write intent. A document names the intent of its last write.
type Intent struct {
	Epoch string `bson:"epoch"`
	Seq   int64  `bson:"seq"`
}

// Options of New.
type Options struct {
	Redis  redis.UniversalClient
	Prefix string
	// Patience is the time after which the writer of an open intent is taken for dead; 30 seconds when zero.
	Patience time.Duration
}

// Versions are the versions of the directory in Redis, and what this process knows of them. They are safe for
// concurrent use, by any number of processes.
type Versions struct {
	o     Options
	keys  []string
	epoch atomic.Pointer[epoch]
}

// New returns the versions below the prefix.
func New(o Options) *Versions {
	if o.Patience == 0 {
		o.Patience = patience
	}
	v := &Versions{o: o}
	for _, name := range []string{"state", "versions", "intents", "intent:", "resolved"} {
		v.keys = append(v.keys, o.Prefix+"directory:"+name)
	}
	v.epoch.Store(newEpoch("", &state{}))
	return v
}

// epoch is what a process knows of one epoch. Values read in one epoch are not used in another.
type epoch struct {
	name     string
	floor    int64 // changes up to this step are not known: what was read before is not used
	versions [shards]atomic.Int64
	newest   atomic.Pointer[state]
	resolved *otter.Cache[string, struct{}]
}

// state is what Redis reports for a snapshot: its last step, and the intents that are open.
type state struct {
	seq  int64
	open []int64
}

func newEpoch(name string, s *state) *epoch {
	e := &epoch{name: name, floor: s.seq}
	e.resolved = otter.Must(&otter.Options[string, struct{}]{MaximumSize: maxResolved})
	e.newest.Store(s)
	return e
}

// closed says whether an intent is closed in the newest state. A closed intent stays closed.
func (e *epoch) closed(i *Intent) bool {
	if i == nil || i.Epoch != e.name || i.Epoch == "" {
		return false
	}
	newest := e.newest.Load()
	return i.Seq <= newest.seq && !slices.Contains(newest.open, i.Seq)
}

// advance adds a reported state. It stores the changed versions first, so that they are known with the state.
func (e *epoch) advance(s *state, changed []shardVersion) {
	for _, c := range changed {
		version := &e.versions[c.shard]
		for known := version.Load(); known < c.seq && !version.CompareAndSwap(known, c.seq); known = version.Load() {
		}
	}
	for newest := e.newest.Load(); newest.seq < s.seq; newest = e.newest.Load() {
		if e.newest.CompareAndSwap(newest, s) {
			return
		}
	}
}

type shardVersion struct {
	shard int
	seq   int64
}

// Snapshot is the state of all versions at one step of Redis. A request uses entries that are current in its snapshot.
type Snapshot struct {
	epoch *epoch
	seq   int64
}

// holds says whether what was read of a key under an earlier snapshot is still current in s. Changes that became known
// later count, too.
func (s *Snapshot) holds(read *Snapshot, key Key) bool {
	return read.epoch == s.epoch && read.seq >= s.epoch.floor && s.epoch.versions[key.shard()].Load() <= read.seq
}

// token returns a name for an epoch that a script may have to begin.
func token() string { return rand.Text() }

// Snapshot takes a snapshot of the versions. It returns nil when Redis does not answer within a second.
func (v *Versions) Snapshot(ctx context.Context) *Snapshot {
	ctx, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	known := v.epoch.Load()
	reply, _ := snapshotAlone.Run(ctx, v.o.Redis, v.keys, v.known(known)...).Slice() // without a reply, no snapshot
	return v.snapshotOf(known, reply)
}

// known returns the first arguments of a script that reports.
func (v *Versions) known(e *epoch) []any { return []any{token(), e.name, e.newest.Load().seq} }

// along runs a script and takes a snapshot in one command.
func (v *Versions) along(
	ctx context.Context, s *Script, keys []string, args ...any,
) (answer any, taken *Snapshot, err error) {
	known := v.epoch.Load()
	both, err := s.both.Run(ctx, v.o.Redis, slices.Concat(v.keys, keys), slices.Concat(v.known(known), args)...).Slice()
	const all = 2
	if err != nil || len(both) != all {
		return nil, nil, err
	}
	report, _ := both[1].([]any)
	if both[0] == nil {
		err = redis.Nil
	}
	return both[0], v.snapshotOf(known, report), err
}

// snapshotOf returns the snapshot of a report, which was asked for when the epoch was known. It is nil when the report
// is invalid.
func (v *Versions) snapshotOf(known *epoch, report []any) *Snapshot {
	const all = 4
	if len(report) != all {
		return nil
	}
	name, _ := report[0].(string)
	seq, _ := report[1].(int64)
	s := &state{seq: seq}
	open, _ := report[2].([]any)
	for _, intent := range open {
		n, _ := intent.(int64)
		s.open = append(s.open, n)
	}
	if known.name != name {
		fresh := newEpoch(name, s)
		v.epoch.CompareAndSwap(known, fresh) // when another goroutine was first, its value stays
		return &Snapshot{fresh, seq}
	}
	pairs, _ := report[3].([]any)
	changed := make([]shardVersion, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		shard, err := strconv.Atoi(fmt.Sprint(pairs[i]))
		at, err2 := strconv.ParseInt(fmt.Sprint(pairs[i+1]), 10, 64)
		if err != nil || err2 != nil || shard < 0 || shard >= shards {
			return nil
		}
		changed = append(changed, shardVersion{shard, at})
	}
	known.advance(s, changed)
	return &Snapshot{known, seq}
}

// Open opens a write intent for records that are about to change, which their documents name. From then on, the
// context's request uses nothing from memory.
func (v *Versions) Open(ctx context.Context, keys []Key) (Intent, error) {
	forget(ctx)
	answer, err := open.Run(ctx, v.o.Redis, v.keys,
		token(), v.o.Patience.Milliseconds(), strings.Join(shardsOf(keys), " ")).Slice()
	if err != nil {
		return Intent{}, fmt.Errorf("%w: open an intent: %w", ErrAway, err)
	}
	name, _ := answer[0].(string)
	seq, _ := answer[1].(int64)
	return Intent{name, seq}, nil
}

// Close invalidates the records that a write has changed, and closes its intent. Call it after the write is stored and
// before it is acknowledged. If it fails, the intent expires later.
func (v *Versions) Close(ctx context.Context, i Intent, keys []Key) error {
	args := []any{token(), i.Epoch, i.Seq}
	for _, shard := range shardsOf(keys) {
		args = append(args, shard)
	}
	return v.end(ctx, args)
}

// Cancel closes the intent of a write that is not stored and never will be.
func (v *Versions) Cancel(ctx context.Context, i Intent) error {
	return v.end(ctx, []any{token(), i.Epoch, i.Seq})
}

func (v *Versions) end(ctx context.Context, args []any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := end.Run(ctx, v.o.Redis, v.keys, args...).Err(); err != nil {
		return fmt.Errorf("%w: close an intent: %w", ErrAway, err)
	}
	return nil
}

// Document is a document as it was read.
type Document struct {
	Name   string  // of its collection, its id and its version
	Intent *Intent // nil when the document names none
	Keys   []Key
}

// Closed says whether this process knows that an intent is closed. Otherwise the document has to be resolved.
func (v *Versions) Closed(i *Intent) bool { return v.epoch.Load().closed(i) }

// Resolve makes sure that no later answer is older than the documents: it invalidates their records, as closing their
// intents does. Call it for documents whose intents may be open, after they are read from the store and before they are
// shown.
func (v *Versions) Resolve(ctx context.Context, documents []Document) error {
	e := v.epoch.Load()
	documents = slices.DeleteFunc(documents, func(d Document) bool {
		_, resolved := e.resolved.GetIfPresent(d.Name)
		return resolved
	})
	for batch := range slices.Chunk(documents, resolveBatch) {
		if err := v.resolve(ctx, e, batch); err != nil {
			return err
		}
	}
	return nil
}

func (v *Versions) resolve(ctx context.Context, e *epoch, documents []Document) error {
	args := v.known(e)
	for _, d := range documents {
		intent := Intent{}
		if d.Intent != nil {
			intent = *d.Intent
		}
		own := shardsOf(d.Keys)
		args = append(args, d.Name, intent.Epoch, intent.Seq, len(own))
		for _, shard := range own {
			args = append(args, shard)
		}
	}
	report, err := resolve.Run(ctx, v.o.Redis, v.keys, args...).Slice()
	if err != nil {
		return fmt.Errorf("%w: resolve documents: %w", ErrAway, err)
	}
	s := v.snapshotOf(e, report)
	if s == nil {
		return fmt.Errorf("%w: resolve documents: invalid report", ErrAway)
	}
	for _, d := range documents {
		s.epoch.resolved.Set(d.Name, struct{}{})
	}
	return nil
}
