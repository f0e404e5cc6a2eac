package markdown

import (
	"regexp"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parts of a bare link. goldmark's own patterns take hosts of two ASCII labels alone, and quotes at a link's end.
const (
	user = `(?:[-\w.~%!$&+=:]{1,256}@)?`
	host = `[\pL\pN](?:[-\pL\pN\pM._]{0,254}[\pL\pN\pM])?`
	rest = `(?::\d+)?(?:[/#?](?:[-\pL\pN\pM@:%_+.~#$!?&/=();,>^{}\[\]` + "`" + `]|['"][\pL\pN])*)?`
)

var (
	bareURL = regexp.MustCompile(`^(?i:https?|ftp)://` + user + host + rest)
	bareWWW = regexp.MustCompile(`^www\.` + host + `\.\pL+` + rest)
)

// newBareLinks returns the parser of bare links, and of those after a quote.
func newBareLinks() (links, quoted parser.InlineParser) {
	links = extension.NewLinkifyParser(extension.WithLinkifyURLRegexp(bareURL), extension.WithLinkifyWWWRegexp(bareWWW),
		extension.WithLinkifyAllowedProtocols([]string{"h", "H", "f", "F"})) // with which bareURL begins
	return links, afterQuote{links}
}

// afterQuote finds, behind a quote, what its parser finds.
type afterQuote struct{ links parser.InlineParser }

// Trigger implements parser.InlineParser.
func (afterQuote) Trigger() []byte { return []byte{'"', '\''} }

func (q afterQuote) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, quote := block.PeekLine()
	before := block.PrecendingCharacter()
	if len(line) < 2 || !util.IsAlphaNumeric(line[1]) || unicode.IsLetter(before) || unicode.IsNumber(before) {
		return nil // in a word a quote is an apostrophe: o'brien@school.example is one address
	}
	block.Advance(1)
	n := q.links.Parse(parent, block, pc)
	if n != nil {
		ast.MergeOrAppendTextSegment(parent, quote.WithStop(quote.Start+1))
	}
	return n
}
