package follow

import (
	"encoding/binary"
	"math"

	"github.com/belfry-schools/belfry/pkg/change"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// tokenForm begins each token: those of another form are refused.
const tokenForm = 1

// Token returns a place as a client keeps it. The same place has the same token.
func (s *Service) Token(p Place) string {
	text := []byte{tokenForm}
	for _, at := range p {
		text = binary.AppendUvarint(text, uint64(at.Page))
		text = binary.AppendUvarint(text, uint64(at.Mark))
		text = binary.AppendUvarint(text, uint64(at.Read))
	}
	return s.tokens.Seal(text, "")
}

// Parse returns the place of a token. An Invalid problem for what is no token of this deployment.
func (s *Service) Parse(token string) (Place, error) {
	refused := problem.InvalidFields(problem.Fields{"since": {"is no token of this deployment"}})
	text, ok := s.tokens.Open(token, "")
	if !ok || len(text) == 0 || text[0] != tokenForm {
		return Place{}, refused
	}
	p, ok := placeOf(text[1:])
	if !ok {
		return Place{}, refused
	}
	return p, nil
}

// placeOf reads the numbers of a token.
func placeOf(text []byte) (p Place, ok bool) {
	next := func(most uint64) uint64 {
		n, length := binary.Uvarint(text)
		if length <= 0 || n > most {
			ok = false
			return 0
		}
		text = text[length:]
		return n
	}
	ok = true
	for i := range p {
		page, mark, read := next(math.MaxInt64), next(math.MaxUint32), next(math.MaxInt32)
		p[i] = change.Position{Page: int64(page), Mark: uint32(mark), Read: int(read)}
	}
	return p, ok && len(text) == 0
}
