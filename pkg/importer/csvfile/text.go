package csvfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// mark is how a file in an encoding begins.
type mark struct {
	begins  func(start []byte) bool
	skip    int
	charset encoding.Encoding // nil for UTF-8
}

// marks are the byte order marks, and the beginnings of UTF-16 without one, whose first two characters are ASCII.
var marks = []mark{
	{beginsWith("\xef\xbb\xbf"), 3, nil},
	{beginsWith("\xff\xfe"), 2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{beginsWith("\xfe\xff"), 2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{func(s []byte) bool { return len(s) == 4 && s[0] != 0 && s[1] == 0 && s[2] != 0 && s[3] == 0 }, 0,
		unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{func(s []byte) bool { return len(s) == 4 && s[0] == 0 && s[1] != 0 && s[2] == 0 && s[3] != 0 }, 0,
		unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

func beginsWith(mark string) func([]byte) bool {
	return func(start []byte) bool { return bytes.HasPrefix(start, []byte(mark)) }
}

// text returns the file as UTF-8. Spreadsheets write UTF-8, UTF-16 ("Unicode text") and Windows-1252, of which Latin-1
// is a part. It returns nil, after a fault, when the encoding is unclear.
func (p *Pass) text(file io.ReadSeeker) (*bufio.Reader, error) {
	start := make([]byte, 4)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	skip := 0
	if i := slices.IndexFunc(marks, func(m mark) bool { return m.begins(start[:n]) }); i >= 0 {
		skip, p.charset = marks[i].skip, marks[i].charset
	} else if western, err := p.western(file); err != nil || p.stopped {
		return nil, err
	} else if western {
		p.charset = charmap.Windows1252
	}
	if _, err := file.Seek(int64(skip), io.SeekStart); err != nil {
		return nil, err
	}
	if p.charset == nil {
		return bufio.NewReaderSize(file, headSize), nil
	}
	return bufio.NewReaderSize(p.charset.NewDecoder().Reader(file), headSize), nil
}

// western reports whether a file without a byte order mark is Windows-1252: nowhere UTF-8, and without a byte that
// points to another encoding. Such a byte is a fault.
func (p *Pass) western(file io.ReadSeeker) (bool, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	invalid, suspect, suspectLine := false, byte(0), 0
	line, before, at := 1, byte(0), byte(0)
	for text := bufio.NewReaderSize(file, headSize); ; {
		r, size, err := text.ReadRune()
		next, ended := byte(r), errors.Is(err, io.EOF) // next is 0 then
		if r == utf8.RuneError && size == 1 {
			invalid = true
			if err = text.UnreadRune(); err == nil {
				next, err = text.ReadByte()
			}
		}
		switch {
		case err != nil && !ended:
			return false, err
		case size > 1:
			return false, nil // UTF-8; other cells are faults
		case suspect == 0 && unclear(before, at, next):
			suspect, suspectLine = at, line
		}
		if ended {
			break
		}
		if at == '\n' {
			line++
		}
		before, at = at, next
	}
	if suspect != 0 {
		p.stop(suspectLine, "file", fmt.Sprintf("is not UTF-8, and with a byte %#x in this line it may be in one of "+
			"several encodings; save the file as \"CSV UTF-8\"", suspect))
	}
	return invalid && suspect == 0, nil
}

// unclear reports whether a byte between two others speaks against Windows-1252: what are letters in Mac OS Roman, DOS
// and Central European encodings is mostly punctuation there, which does not occur inside words.
func unclear(before, at, after byte) bool {
	switch {
	case at < 0x80:
		return false
	case at == 0xd7 || at == 0xf7: // × and ÷
		return isLetter(before) || isLetter(after)
	case at >= 0xc0: // a letter; of other alphabets whole words are such letters
		return before >= 0xc0 && after >= 0xc0
	case at == 0x92: // the apostrophe of O’Brien
		return false
	case at == 0x91: // ‘ before a word
		return isLetter(before)
	case strings.IndexByte("\x85\x93\x94\x96\x97\xa0", at) >= 0: // … “ ” – — and the space that doesn't break
		return isLetter(before) && isLetter(after)
	// € £ § © « ® ° ´ · » ¼ ½ ¾
	case strings.IndexByte("\x80\xa3\xa7\xa9\xab\xae\xb0\xb4\xb7\xbb\xbc\xbd\xbe", at) >= 0:
		return isLetter(before) || isLetter(after)
	}
	return true
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0xc0 }

// headSize bounds the head of a file in bytes: its blank lines and the line that names the columns.
const headSize = 1 << 16

// separators are those that spreadsheets write, by country and format, and then one that is not read.
var separators = []struct {
	rune
	name string
}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', `"|"`}}

// separator returns the separator by which the first line names most columns. If a cell of that line contains columns
// with another separator, that is a fault, and the file is not read.
func (p *Pass) separator(text *bufio.Reader) (rune, error) {
	head, line, err := firstLine(text)
	if err != nil {
		return 0, err
	}
	var best []string
	comma, most := ',', -1
	for _, s := range separators[:3] {
		reader := csv.NewReader(strings.NewReader(head))
		reader.Comma, reader.LazyQuotes = s.rune, true
		cells, err := reader.Read()
		if err != nil {
			continue // a line of quotes alone
		}
		n := p.knows(cells)
		if p.sheet.Headless {
			n = len(cells)
		}
		if n > most {
			best, comma, most = cells, s.rune, n
		}
	}
	if p.sheet.Headless {
		return comma, nil
	}
	for _, cell := range best {
		if p.column(cell) != "" {
			continue
		}
		for _, other := range separators {
			if other.rune == comma || p.knows(strings.Split(cell, string(other.rune))) == 0 {
				continue
			}
			reason := "the columns look separated by " + other.name
			if most > 0 {
				reason = "the columns are separated partly by " + other.name
			}
			p.stop(line, "header", reason+"; save the file as CSV, separated by commas")
			return 0, nil
		}
	}
	return comma, nil
}

// firstLine returns the first line that is not blank, and its number, without consuming it. It is cut at headSize.
func firstLine(text *bufio.Reader) (string, int, error) {
	head, err := text.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", 0, err
	}
	line := 1
	for {
		first, rest, more := bytes.Cut(head, []byte("\n"))
		if len(bytes.Trim(first, " ,;\t\r\"")) > 0 || !more {
			return string(first), line, nil
		}
		head = rest
		line++
	}
}

// knows counts the cells that name columns.
func (p *Pass) knows(cells []string) int {
	n := 0
	for _, cell := range cells {
		if p.column(cell) != "" {
			n++
		}
	}
	return n
}
