// Package directory lets services keep what they read of the directory in memory: elements, who belongs to which group,
// event categories, and facts of users. Nothing is served from memory because it is young, only because its version is
// current: the versions are in Redis, and a request asks for them in the round trip that loads its session.
// docs/decisions/0014-the-directory-in-memory.md says how, what happens when a process or a store fails at any step,
// and why no answer is ever from before another one.
//
// [Versions] are asked and moved, [Memory] keeps what was read. Writers go through package journal, which opens a mark
// before a write, stamps the documents with it, and closes it before the write is answered.
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
)

// ErrAway says that Redis did not answer, or not as it should.
var ErrAway = errors.New("directory: no versions")

const (
	// shards is how many versions there are. A change moves those of the records that it is about.
	shards = 1 << shardBits
	// shardBits is the logarithm of that.
	shardBits = 12

	// patience is how long a write may take before others take its writer for dead.
	patience = 30 * time.Second
	// closeTimeout bounds the end of a mark, which is tried even when the request's time is over.
	closeTimeout = 3 * time.Second
	// maxSettled bounds the documents of which a process remembers that it has settled them.
	maxSettled = 20_000
	// settleBatch is how many documents one script settles: Redis serves nobody else meanwhile.
	settleBatch = 250
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

// shard is the same in all processes, of every release. Ids that follow each other have different shards.
func (k Key) shard() int {
	const spread = 0x9E3779B97F4A7C15
	return int((uint64(k.ID)<<2 | uint64(k.Kind)) * spread >> (64 - shardBits))
}

// shardsOf returns the shards of keys as texts, each once.
func shardsOf(keys []Key) []string {
	numbers := make([]int, len(keys))
	for i, k := range keys {
		numbers[i] = k.shard()
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}

// Stamp names the mark under which a document was written last.
type Stamp struct {
	Epoch string `bson:"epoch"`
	Seq   int64  `bson:"seq"`
}

// Options of New.
type Options struct {
	Redis  redis.UniversalClient
	Prefix string
	// Patience is how long a write may take before others take its writer for dead; 30 seconds when zero.
	Patience time.Duration
}

// Versions are those of the directory in Redis, and what this process knows of them. They are safe for concurrent use,
// by any number of processes.
type Versions struct {
	o    Options
	keys []string
	life atomic.Pointer[life]
}

// New returns the versions below the prefix.
func New(o Options) *Versions {
	if o.Patience == 0 {
		o.Patience = patience
	}
	v := &Versions{o: o}
	for _, name := range []string{"state", "moves", "marks", "mark:", "settled"} {
		v.keys = append(v.keys, o.Prefix+"directory:"+name)
	}
	v.life.Store(newLife("", &state{}))
	return v
}

// life is what a process knows of one epoch. Two lives share nothing: what was read in one is not used in another.
type life struct {
	epoch   string
	floor   int64 // what was read before is not used: moves up to here are not known
	moved   [shards]atomic.Int64
	newest  atomic.Pointer[state]
	settled *otter.Cache[string, struct{}]
}

// state is the answer of one look: the number of the last step in Redis, and the marks that were open.
type state struct {
	seq  int64
	open []int64
}

func newLife(epoch string, s *state) *life {
	l := &life{epoch: epoch, floor: s.seq}
	l.settled = otter.Must(&otter.Options[string, struct{}]{MaximumSize: maxSettled})
	l.newest.Store(s)
	return l
}

// closed says whether a mark was closed when the life's newest look was taken. A closed mark stays closed.
func (l *life) closed(s *Stamp) bool {
	if s == nil || s.Epoch != l.epoch || s.Epoch == "" {
		return false
	}
	newest := l.newest.Load()
	return s.Seq <= newest.seq && !slices.Contains(newest.open, s.Seq)
}

// advance adds the answer of a look. Its moves are known before anybody can know of its step.
func (l *life) advance(s *state, moved []shardMove) {
	for _, m := range moved {
		at := &l.moved[m.shard]
		for known := at.Load(); known < m.seq && !at.CompareAndSwap(known, m.seq); known = at.Load() {
		}
	}
	for newest := l.newest.Load(); newest.seq < s.seq; newest = l.newest.Load() {
		if l.newest.CompareAndSwap(newest, s) {
			return
		}
	}
}

type shardMove struct {
	shard int
	seq   int64
}

// Moment is what was current when a request looked. Memory is used by the versions of a moment alone.
type Moment struct {
	life *life
	seq  int64
}

// holds says whether what was read of a key at a moment is still so at m. Moves that became known since then count,
// too.
func (m *Moment) holds(read *Moment, key Key) bool {
	return read.life == m.life && read.seq >= m.life.floor && m.life.moved[key.shard()].Load() <= read.seq
}

// token returns a name for an epoch, should one begin.
func token() string { return rand.Text() }

// Look asks for the versions. It returns nil when Redis does not answer.
func (v *Versions) Look(ctx context.Context) *Moment {
	known := v.life.Load()
	answer, _ := lookAlone.Run(ctx, v.o.Redis, v.keys, v.known(known)...).Slice() // no answer is no moment
	return v.momentOf(known, answer)
}

// known are the first arguments of a script that reports.
func (v *Versions) known(l *life) []any { return []any{token(), l.epoch, l.newest.Load().seq} }

// along runs a script and asks for the versions, in one command.
func (v *Versions) along(
	ctx context.Context, s *Script, keys []string, args ...any,
) (answer any, m *Moment, err error) {
	known := v.life.Load()
	both, err := s.both.Run(ctx, v.o.Redis, slices.Concat(v.keys, keys), slices.Concat(v.known(known), args)...).Slice()
	const all = 2
	if err != nil || len(both) != all {
		return nil, nil, err
	}
	looked, _ := both[1].([]any)
	if both[0] == nil {
		err = redis.Nil
	}
	return both[0], v.momentOf(known, looked), err
}

// momentOf returns the moment of a report to who knew the life, nil when it is none.
func (v *Versions) momentOf(known *life, parts []any) *Moment {
	const all = 4
	if len(parts) != all {
		return nil
	}
	epoch, _ := parts[0].(string)
	seq, _ := parts[1].(int64)
	s := &state{seq: seq}
	open, _ := parts[2].([]any)
	for _, mark := range open {
		n, _ := mark.(int64)
		s.open = append(s.open, n)
	}
	if known.epoch != epoch {
		fresh := newLife(epoch, s)
		v.life.CompareAndSwap(known, fresh) // another may have been faster, with a life of its own
		return &Moment{fresh, seq}
	}
	pairs, _ := parts[3].([]any)
	moved := make([]shardMove, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		shard, err := strconv.Atoi(fmt.Sprint(pairs[i]))
		at, err2 := strconv.ParseInt(fmt.Sprint(pairs[i+1]), 10, 64)
		if err != nil || err2 != nil || shard < 0 || shard >= shards {
			return nil
		}
		moved = append(moved, shardMove{shard, at})
	}
	known.advance(s, moved)
	return &Moment{known, seq}
}

// Open marks what a write is about to change, before it is written. The documents carry the stamp. The rest of the
// context's request uses nothing from memory.
func (v *Versions) Open(ctx context.Context, keys []Key) (Stamp, error) {
	forget(ctx)
	answer, err := open.Run(ctx, v.o.Redis, v.keys,
		token(), v.o.Patience.Milliseconds(), strings.Join(shardsOf(keys), " ")).Slice()
	if err != nil {
		return Stamp{}, fmt.Errorf("%w: open a mark: %w", ErrAway, err)
	}
	epoch, _ := answer[0].(string)
	seq, _ := answer[1].(int64)
	return Stamp{epoch, seq}, nil
}

// Close moves the versions of what a write has changed, and ends its mark. It is called once the write is stored, and
// before it is answered. When it fails, the mark stays and runs out.
func (v *Versions) Close(ctx context.Context, s Stamp, keys []Key) error {
	args := []any{token(), s.Epoch, s.Seq}
	for _, shard := range shardsOf(keys) {
		args = append(args, shard)
	}
	return v.end(ctx, args)
}

// Cancel ends the mark of a write that has certainly not been stored, and never will be.
func (v *Versions) Cancel(ctx context.Context, s Stamp) error {
	return v.end(ctx, []any{token(), s.Epoch, s.Seq})
}

func (v *Versions) end(ctx context.Context, args []any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := end.Run(ctx, v.o.Redis, v.keys, args...).Err(); err != nil {
		return fmt.Errorf("%w: close a mark: %w", ErrAway, err)
	}
	return nil
}

// Document is a document as it was read.
type Document struct {
	Name  string // of its collection, its id and its version
	Stamp *Stamp // nil: written by a release without stamps
	Keys  []Key
}

// Closed says whether this process knows that the mark of a stamp is closed. Otherwise the document has to be settled.
func (v *Versions) Closed(s *Stamp) bool { return v.life.Load().closed(s) }

// Settle makes sure that nobody answers from before the documents any more, as the end of their marks does. It is
// called for documents whose marks may be open, after they were read from the store and before anything is answered
// from them.
func (v *Versions) Settle(ctx context.Context, documents []Document) error {
	l := v.life.Load()
	documents = slices.DeleteFunc(documents, func(d Document) bool {
		_, settled := l.settled.GetIfPresent(d.Name)
		return settled
	})
	for batch := range slices.Chunk(documents, settleBatch) {
		if err := v.settle(ctx, l, batch); err != nil {
			return err
		}
	}
	return nil
}

func (v *Versions) settle(ctx context.Context, l *life, documents []Document) error {
	args := v.known(l)
	for _, d := range documents {
		stamp := Stamp{}
		if d.Stamp != nil {
			stamp = *d.Stamp
		}
		own := shardsOf(d.Keys)
		args = append(args, d.Name, stamp.Epoch, stamp.Seq, len(own))
		for _, shard := range own {
			args = append(args, shard)
		}
	}
	answer, err := settle.Run(ctx, v.o.Redis, v.keys, args...).Slice()
	if err != nil {
		return fmt.Errorf("%w: settle documents: %w", ErrAway, err)
	}
	m := v.momentOf(l, answer)
	if m == nil {
		return fmt.Errorf("%w: settle documents: an answer of another shape", ErrAway)
	}
	for _, d := range documents {
		m.life.settled.Set(d.Name, struct{}{})
	}
	return nil
}
