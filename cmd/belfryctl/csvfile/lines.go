package csvfile

import "hash/maphash"

// Lines are the values of a column that has none twice, each with its line. A value takes some 35 bytes, however long
// it is, since its hash is kept and not the value: a bundle has hundreds of thousands of keys. The hash has 128 bits,
// of two seeds that are drawn in each process. That two of a million values have the same one has a chance of 1
// in 10 to the 26, even for chosen values.
type Lines struct {
	lines map[[2]uint64]int
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(value string) [2]uint64 {
	return [2]uint64{maphash.String(seeds[0], value), maphash.String(seeds[1], value)}
}

// add keeps a value of a line, and returns the line of an earlier one that is the same.
func (l *Lines) add(value string, line int) (first int, twice bool) {
	hash := hashOf(value)
	if first, twice = l.lines[hash]; !twice {
		l.lines[hash] = line
	}
	return first, twice
}

// Of returns the line of a value. The lines of a column that was not asked to be unique, nil, have none.
func (l *Lines) Of(value string) (line int, ok bool) {
	if l == nil {
		return 0, false
	}
	line, ok = l.lines[hashOf(value)]
	return line, ok
}
