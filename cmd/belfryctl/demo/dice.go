package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// dice is the only source of randomness. It uses the generator directly, whose algorithm is fixed; the methods of
// rand.Rand may draw otherwise in another Go release.
type dice struct {
	source *rand.PCG
}

// newDice returns a sequence of its own for each topic, so that a change of one topic does not affect the others.
func newDice(seed uint64, topic string) dice {
	h := fnv.New64a()
	h.Write([]byte(topic)) // never fails
	return dice{rand.NewPCG(seed, h.Sum64())}
}

// below returns 0 to n-1. The bias of the remainder does not matter for numbers this small.
func (d dice) below(n int) int { return int(d.source.Uint64() % uint64(n)) }

// chance is true once in n times.
func (d dice) chance(n int) bool { return d.below(n) == 0 }

func pick[T any](d dice, list []T) T { return list[d.below(len(list))] }

// shuffled is a copy in another order.
func shuffled[T any](d dice, list []T) []T {
	mixed := slices.Clone(list)
	for i := len(mixed) - 1; i > 0; i-- {
		j := d.below(i + 1)
		mixed[i], mixed[j] = mixed[j], mixed[i]
	}
	return mixed
}
