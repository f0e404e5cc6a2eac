package follow

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/problem"
)

// A token is sealed from its form, a salt, and the numbers of each position.
const (
	tokenForm = 1 // tokens of another form are refused
	saltBytes = 16
	tokenSize = 1 + saltBytes + logs*(8+4+4)
)

// Token returns the token of a place. Two tokens of one place differ, and all have the same length, so they do not
// reveal changes that the client may not see.
func (s *Service) Token(p Place) string {
	text := make([]byte, 1+saltBytes, tokenSize)
	text[0] = tokenForm
	_, _ = rand.Read(text[1:]) // never fails
	for _, at := range p {
		text = binary.BigEndian.AppendUint64(text, uint64(at.Page))
		text = binary.BigEndian.AppendUint32(text, at.Mark)
		text = binary.BigEndian.AppendUint32(text, uint32(at.Read))
	}
	return s.tokens.Seal(text, "")
}

// Parse returns the place of a token. Malformed for any text that is not a token of this deployment.
func (s *Service) Parse(token string) (p Place, err error) {
	text, ok := s.tokens.Open(token, "")
	if !ok || len(text) != tokenSize || text[0] != tokenForm {
		return Place{}, problem.New(problem.Malformed, "after is an invalid cursor")
	}
	text = text[1+saltBytes:]
	for i := range p {
		p[i] = change.Position{
			Page: int64(binary.BigEndian.Uint64(text)), Mark: binary.BigEndian.Uint32(text[8:]),
			Read: int(binary.BigEndian.Uint32(text[12:])),
		}
		text = text[16:]
	}
	return p, nil
}
