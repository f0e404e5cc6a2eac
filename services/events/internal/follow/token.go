package follow

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/belfry-schools/belfry/pkg/change"
	"github.com/belfry-schools/belfry/pkg/problem"
)

const (
	// tokenForm begins each token: those of another form are refused.
	tokenForm = 1
	// sealLength is how many bytes of a seal a token has: nobody finds one by trying.
	sealLength = 16
	// longestToken is longer than any token.
	longestToken = 200
)

// encoding has one text for each token.
var encoding = base64.RawURLEncoding.Strict()

// Token returns a place as a client keeps it. The same place has the same token.
func (s *Service) Token(p Place) string {
	text := []byte{tokenForm}
	for _, at := range p {
		text = binary.AppendUvarint(text, uint64(at.Page))
		text = binary.AppendUvarint(text, uint64(at.Mark))
		text = binary.AppendUvarint(text, uint64(at.Read))
	}
	return encoding.EncodeToString(append(text, s.seal(text)...))
}

// Parse returns the place of a token. An Invalid problem for what is no token of this deployment.
func (s *Service) Parse(token string) (Place, error) {
	refused := problem.InvalidFields(problem.Fields{"since": {"is no token of this deployment"}})
	if len(token) > longestToken {
		return Place{}, refused
	}
	text, err := encoding.DecodeString(token)
	if err != nil || len(text) <= sealLength {
		return Place{}, refused
	}
	text, seal := text[:len(text)-sealLength], text[len(text)-sealLength:]
	if !hmac.Equal(seal, s.seal(text)) || text[0] != tokenForm {
		return Place{}, refused
	}
	p, ok := placeOf(text[1:])
	if !ok || s.Token(p) != token { // a decoder may pass over what is no part of a text
		return Place{}, refused
	}
	return p, nil
}

func (s *Service) seal(text []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(text)
	return mac.Sum(nil)[:sealLength]
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
