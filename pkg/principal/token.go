package principal

import "strings"

// TokenScope says what a token for programs may be used for. It never gives more than the rights of the token's user.
type TokenScope string

// The scopes of tokens.
const (
	ReadElement TokenScope = "read_element" // the bookings and free times of one element
	Read        TokenScope = "read"         // all that is no administration
	Book        TokenScope = "book"         // reads too
	Administer  TokenScope = "administer"   // all that needs no session
)

// TokenScopes lists every scope, each with less rights than the next.
func TokenScopes() []TokenScope { return []TokenScope{ReadElement, Read, Book, Administer} }

// Token is the token for programs that a request came with.
type Token struct {
	ID        int64      `json:"id"` // 0: the request came with a session
	Name      string     `json:"name"`
	Scope     TokenScope `json:"scope"`
	ElementID int64      `json:"element,omitempty"` // that of ReadElement
}

// The form of tokens, by which scanners for secrets recognise them: the prefix, then 260 random bits in base32.
const (
	TokenPrefix = "belfry_"
	tokenDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	tokenLength = 52
)

// IsToken says whether text has the form of a token.
func IsToken(text string) bool {
	digits, prefixed := strings.CutPrefix(text, TokenPrefix)
	return prefixed && len(digits) == tokenLength && strings.Trim(digits, tokenDigits) == ""
}
