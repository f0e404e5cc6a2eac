package web

import (
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/belfry-schools/belfry/pkg/web/room"
)

const (
	// bodiesInAll bounds the bytes of all bodies that one process holds, bodiesAtOnce those of one of its listeners,
	// and bodiesOfOne those of one user, or of an address. Clients' bodies leave room for other services' questions:
	// otherwise two services that ask each other would wait for each other.
	bodiesInAll  = 32 << 20
	bodiesAtOnce = 24 << 20
	bodiesOfOne  = 8 << 20

	// answersInAll bounds the bytes of all large answers that one process holds, and answersOfOne those of one user.
	answersInAll = 24 << 20
	answersOfOne = 8 << 20

	// connectionsInAll bounds the connections of one process, the other those of one of its listeners.
	connectionsInAll = 2048
	maxConnections   = 1536
)

// Bounds limit what the listeners of one process hold in memory together.
type Bounds struct {
	bodies      *semaphore.Weighted
	answers     *room.Room
	compressors *compressors
	connections atomic.Int64
	streams     *streams
}

// NewBounds returns the bounds of a process that holds nothing yet.
func NewBounds() *Bounds {
	return &Bounds{
		bodies:  semaphore.NewWeighted(bodiesInAll),
		answers: room.New(room.Options{Bytes: answersInAll, Each: answersOfOne}),
		streams: newStreams(),

		compressors: newCompressors(),
	}
}

// connect says whether one more connection is allowed.
func (b *Bounds) connect() bool {
	if b.connections.Add(1) > connectionsInAll {
		b.connections.Add(-1)
		return false
	}
	return true
}
