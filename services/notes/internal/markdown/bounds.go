package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What a source may ask of the parser. goldmark takes time that is quadratic in the length of hostile text: it asks
// each open block about each line, and each mark of inline markup may go through its whole paragraph. Within these
// bounds the HTML is CommonMark's to the byte. Markup beyond them is shown as plain text.
const (
	// maxDepth is how deep quotations and lists nest.
	maxDepth = 16
	// maxContinued bounds the sum, over all lines, of the quotations and lists that go on in one.
	maxContinued = 64 << 10
	// maxSteps bounds the sum, over all marks of inline markup, of the bytes that the parser may go through for one: a
	// paragraph of 4 KB may consist of marks, one of 64 KB may have some 250.
	maxSteps = 16 << 20
	// maxDefinitions is how many lines a paragraph has that may begin with definitions of links.
	maxDefinitions = 512
	// maxReferred bounds the bytes that references take from definitions, so that a short source has no long HTML.
	maxReferred = 256 << 10
)

// container is a parser of blocks that have blocks inside: it opens none below maxDepth, and none goes on when all have
// gone on often enough.
type container struct{ parser.BlockParser }

func (c container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	// goldmark asks about the next item of a list as about a list inside it, and needs to hear its own answer
	if parent.Kind() != ast.KindList && (depth(parent) >= maxDepth || !spend(pc, continuedKey, 0, maxContinued)) {
		return nil, parser.NoChildren
	}
	return c.BlockParser.Open(parent, reader, pc)
}

func (c container) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if !spend(pc, continuedKey, 1, maxContinued) {
		return parser.Close
	}
	return c.BlockParser.Continue(n, reader, pc)
}

// depth counts the quotations and lists that n is in, itself included.
func depth(n ast.Node) int {
	count := 0
	for ; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindBlockquote || n.Kind() == ast.KindList {
			count++
		}
	}
	return count
}

// metered is a parser of inline markup that no longer finds any when the steps are spent.
type metered struct {
	parser.InlineParser
	inWord bool // it goes no further than the next space
}

func (m metered) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if !spend(pc, stepsKey, 1, maxSteps) {
		return nil
	}
	reach := 0
	if m.inWord {
		line, _ := block.PeekLine()
		reach = wordLength(line)
	} else if lines := parent.Lines(); lines.Len() > 0 {
		reach = lines.At(lines.Len()-1).Stop - lines.At(0).Start
	}
	if !spend(pc, stepsKey, reach, maxSteps) {
		return nil
	}
	n := m.InlineParser.Parse(parent, block, pc)
	switch link := n.(type) {
	case *ast.Link:
		boundReference(pc, &link.Destination, &link.Title, link.Reference)
	case *ast.Image:
		boundReference(pc, &link.Destination, &link.Title, link.Reference)
	}
	return n
}

func (m metered) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := m.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// boundReference takes the address from a reference when references have taken enough; its text stays, as that of
// every link to nothing.
func boundReference(pc parser.Context, destination, title *[]byte, reference *ast.ReferenceLink) {
	if reference != nil && !spend(pc, referredKey, len(*destination)+len(*title), maxReferred) {
		*destination, *title = nil, nil
	}
}

// wordLength returns how many bytes there are to the next space, not counting the first byte.
func wordLength(line []byte) int {
	for i, c := range line {
		if i > 0 && (c == ' ' || c == '\t' || c == '\n') {
			return i
		}
	}
	return len(line)
}

var stepsKey, referredKey, continuedKey = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

// spend adds to what a document has spent, and returns false, from then on, when it is more than it may.
func spend(pc parser.Context, key parser.ContextKey, amount, bound int) bool {
	spent, _ := pc.Get(key).(int)
	spent = min(spent+amount, bound+1)
	pc.Set(key, spent)
	return spent <= bound
}

// definitions are those of links, at the beginning of a paragraph that is not too long.
type definitions struct{ parser.ParagraphTransformer }

func (d definitions) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if n.Lines().Len() <= maxDefinitions {
		d.ParagraphTransformer.Transform(n, reader, pc)
	}
}
