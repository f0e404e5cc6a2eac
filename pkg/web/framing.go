package web

import (
	"errors"
	"strings"
)

// The faults of a connection's bytes. After one, nothing more of the connection is read.
var (
	errFraming  = errors.New("the end of the request is ambiguous, or it is not HTTP/1.1")
	errDeclared = errors.New("the declared body is larger than any route takes")
)

const (
	// maxExtension bounds the extension of one chunk, which is not read.
	maxExtension = 256
	// maxDigits bounds a chunk's size, in hexadecimal digits.
	maxDigits = 8
)

// place is where in a request the last byte was.
type place int

const (
	atStart place = iota // before a request: one empty line may come, as old clients send after a body
	afterEmptyCR
	inMethod
	inTarget
	inVersion
	afterLineCR
	atHeader // at the start of a header line, or of the empty line after the last one
	inName
	inValue
	afterValueCR
	afterHeadersCR
	inBody
	atChunkSize
	inChunkSize
	inExtension
	afterSizeCR
	inChunk
	afterChunk
	afterChunkCR
	afterLastChunk
	afterLastCR
)

// framing follows the requests of one connection, byte by byte, and accepts only those whose end is unambiguous (RFC
// 9112, sections 2, 5, 6 and 7): lines end in CR and LF, header lines are not folded, a body has one Content-Length or
// is chunked. fasthttp is more lenient: it takes LF for CR LF, unfolds lines, and prefers Transfer-Encoding where both
// are given. A proxy in front that decides otherwise would see a different request than Belfry.
type framing struct {
	at   place
	left int64 // bytes of the body or chunk that are to come
	used int   // digits of a chunk's size, or bytes of its extension, so far; in a method or target 1 when it has any

	word    word // the version, or the header's name
	value   word // of a header that says how long the body is
	http10  bool
	length  int64 // -1: not given
	chunked bool
}

// word keeps the first bytes of a text, in lower case: enough to know every text of interest and any number of 64 bits.
type word struct {
	text [len("transfer-encoding") + 2]byte
	n    int
}

func (w *word) add(b byte) {
	if w.n < len(w.text) {
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		w.text[w.n] = b
		w.n++
	}
}

func (w *word) is(text string) bool { return string(w.text[:w.n]) == text }

// whole returns the text without the spaces at its end, or nothing when it may have been longer.
func (w *word) whole() string {
	if w.n == len(w.text) {
		return ""
	}
	return strings.TrimRight(string(w.text[:w.n]), " \t")
}

// midBody says whether the connection is in the middle of a body, where its end would cut a request short.
func (f *framing) midBody() bool { return f.at >= inBody }

// quiet says whether fasthttp would take a fault here for a proper end: before a request, and after the last chunk.
func (f *framing) quiet() bool {
	switch f.at {
	case atStart, afterEmptyCR, afterLastChunk, afterLastCR:
		return true
	}
	return f.at == inMethod && f.used == 0
}

// check takes the next bytes and returns how many of them are valid. With an error, the next one is not.
func (f *framing) check(p []byte) (int, error) {
	for i := 0; i < len(p); {
		if f.at == inBody || f.at == inChunk {
			n := min(f.left, int64(len(p)-i))
			f.left -= n
			i += int(n)
			if f.left == 0 {
				f.pass()
			}
			continue
		}
		if err := f.next(p[i]); err != nil {
			return i, err
		}
		i++
	}
	return len(p), nil
}

// pass continues after the last byte of a body or chunk.
func (f *framing) pass() {
	if f.at == inChunk {
		f.at = afterChunk
		return
	}
	f.at = atStart
}

// next takes one byte that is not content of a body.
func (f *framing) next(b byte) error {
	switch f.at {
	case atStart, afterEmptyCR, inMethod, inTarget, inVersion, afterLineCR:
		return f.requestLine(b)
	case atHeader, inName, inValue, afterValueCR, afterHeadersCR:
		return f.header(b)
	default:
		return f.chunk(b)
	}
}

func (f *framing) requestLine(b byte) error {
	switch {
	case f.at == atStart && b == '\r':
		f.at = afterEmptyCR
	case f.at == afterEmptyCR && b == '\n':
		*f = framing{at: inMethod, length: -1}
	case f.at == atStart && isToken(b):
		*f = framing{at: inMethod, length: -1, used: 1}
	case f.at == inMethod && isToken(b):
		f.used = 1
	case f.at == inMethod && b == ' ' && f.used > 0:
		f.at, f.used = inTarget, 0
	case f.at == inTarget && b > ' ' && b != 0x7f:
		f.used = 1
	case f.at == inTarget && b == ' ' && f.used > 0:
		f.at = inVersion
	case f.at == inVersion && b == '\r' && (f.word.is("http/1.1") || f.word.is("http/1.0")):
		f.http10 = f.word.is("http/1.0")
		f.at = afterLineCR
	case f.at == inVersion && b > ' ':
		f.word.add(b)
	case f.at == afterLineCR && b == '\n':
		f.at = atHeader
	default:
		return errFraming
	}
	return nil
}

func (f *framing) header(b byte) error {
	switch {
	case f.at == atHeader && b == '\r':
		f.at = afterHeadersCR
	case f.at == afterHeadersCR && b == '\n':
		return f.endHeaders()
	case f.at == atHeader && isToken(b):
		f.at, f.word, f.value = inName, word{}, word{}
		f.word.add(b)
	case f.at == inName && isToken(b):
		f.word.add(b)
	case f.at == inName && b == ':':
		f.at = inValue
	case f.at == inValue && b == '\r':
		f.at = afterValueCR
	case f.at == inValue && (b == '\t' || b >= ' ' && b != 0x7f):
		if f.value.n > 0 || b != ' ' && b != '\t' {
			f.value.add(b)
		}
	case f.at == afterValueCR && b == '\n':
		f.at = atHeader
		return f.endHeader()
	default:
		return errFraming
	}
	return nil
}

// endHeader takes note of a header that says how long the body is. Each of the two may come once.
func (f *framing) endHeader() error {
	switch {
	case f.word.is("content-length"):
		value := f.value.whole()
		if f.length >= 0 || value == "" {
			return errFraming
		}
		f.length = 0
		for _, digit := range []byte(value) {
			if digit < '0' || digit > '9' {
				return errFraming
			}
			f.length = f.length*10 + int64(digit-'0')
		}
	case f.word.is("transfer-encoding"):
		if f.chunked || f.http10 || f.value.whole() != "chunked" {
			return errFraming
		}
		f.chunked = true
	}
	return nil
}

func (f *framing) endHeaders() error {
	switch {
	case f.chunked && f.length >= 0:
		return errFraming
	case f.length > maxBatch:
		return errDeclared
	case f.chunked:
		f.at, f.left = atChunkSize, 0
	case f.length > 0:
		f.at, f.left = inBody, f.length
	default:
		f.at = atStart
	}
	f.used = 0
	return nil
}

func (f *framing) chunk(b byte) error {
	digit, isDigit := hexDigit(b)
	switch {
	case (f.at == atChunkSize || f.at == inChunkSize) && isDigit && f.used < maxDigits:
		f.at = inChunkSize
		f.left = f.left<<4 | digit
		f.used++
	case f.at == inChunkSize && b == ';':
		f.at, f.used = inExtension, 0
	case f.at == inExtension && (b == '\t' || b >= ' ' && b != 0x7f) && f.used < maxExtension:
		f.used++
	case (f.at == inChunkSize || f.at == inExtension) && b == '\r':
		f.at = afterSizeCR
	case f.at == afterSizeCR && b == '\n' && f.left > 0:
		f.at = inChunk
	case f.at == afterSizeCR && b == '\n':
		f.at = afterLastChunk
	case f.at == afterChunk && b == '\r':
		f.at = afterChunkCR
	case f.at == afterChunkCR && b == '\n':
		f.at, f.left, f.used = atChunkSize, 0, 0
	case f.at == afterLastChunk && b == '\r': // trailer fields are not taken: they would come after the checks
		f.at = afterLastCR
	case f.at == afterLastCR && b == '\n':
		f.at = atStart
	default:
		return errFraming
	}
	return nil
}

func hexDigit(b byte) (int64, bool) {
	switch {
	case '0' <= b && b <= '9':
		return int64(b - '0'), true
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return int64(b|0x20-'a') + 10, true
	}
	return 0, false
}

// isToken says whether b may be in a method or a header's name (RFC 9110, section 5.6.2).
func isToken(b byte) bool {
	switch {
	case 'a' <= b|0x20 && b|0x20 <= 'z', '0' <= b && b <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}
