package csvfile

import "hash/maphash"

// Lines are the distinct values of a column, each with its line. A bundle has hundreds of thousands of keys, so Lines
// keeps a hash of each value, some 30 bytes, and not the value. The hash has 128 bits, from two seeds that are random
// in each process: two of a million values collide with a probability of 1 in 10 to the 26, even if they are chosen.
type Lines struct {
	lines map[[2]uint64]int32
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(value string) [2]uint64 {
	return [2]uint64{maphash.String(seeds[0], value), maphash.String(seeds[1], value)}
}

// Add keeps a value of a line, and returns the line of an earlier one that is the same.
func (l *Lines) Add(value string, line int) (first int, twice bool) {
	if l.lines == nil {
		l.lines = map[[2]uint64]int32{}
	}
	hash := hashOf(value)
	earlier, twice := l.lines[hash]
	if !twice {
		l.lines[hash] = int32(line)
	}
	return int(earlier), twice
}

// Of returns the line of a value. Nil Lines, of a column that need not be unique, have none.
func (l *Lines) Of(value string) (line int, ok bool) {
	if l == nil {
		return 0, false
	}
	found, ok := l.lines[hashOf(value)]
	return int(found), ok
}
