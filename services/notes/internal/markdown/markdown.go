// Package markdown turns the contents of notes into HTML (decisions, part 6): CommonMark with hard line breaks and
// bare links turned into links, blocks separated by a blank line, raw HTML and unsafe schemes removed.
package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Version names what HTML makes of a source where no images are shown. It rises with every change of that, also by a
// newer library, so that stored HTML is known to be old.
const Version = 4

// schemes are those that links may have; a link without a scheme is relative and stays.
var schemes = []string{"http", "https", "ftp", "mailto", "tel"}

// Renderer makes HTML of Markdown. It is safe for concurrent use.
type Renderer struct {
	markdown goldmark.Markdown
	wall     *bluemonday.Policy
	version  int
}

// NewRenderer returns a renderer that shows images of these hosts alone; others become links. A process needs one.
func NewRenderer(imageHosts ...string) *Renderer {
	shown := newImages(imageHosts)
	r := newRenderer(newParser(shown), shown)
	r.version = version(imageHosts)
	return r
}

// Version names what HTML makes of a source: the Version of the package, and the hosts of images.
func (r *Renderer) Version() int { return r.version }

func newRenderer(p parser.Parser, shown images) *Renderer {
	return &Renderer{
		markdown: goldmark.New(
			goldmark.WithParser(p),
			goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(
				util.Prioritized(spaced{html.NewRenderer(html.WithHardWraps())}, 0)))),
		),
		wall: newWall(shown),
	}
}

// newParser returns goldmark's parser of CommonMark, with bare links, within the bounds of this package.
func newParser(shown images) parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i, b := range blocks {
		if b.Value == parser.NewBlockquoteParser() || b.Value == parser.NewListParser() {
			blocks[i].Value = container{b.Value.(parser.BlockParser)}
		}
	}
	links, quoted := newBareLinks()
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(
			util.Prioritized(metered{parser.NewCodeSpanParser(), false}, 100),
			util.Prioritized(metered{parser.NewLinkParser(), false}, 200),
			util.Prioritized(metered{parser.NewAutoLinkParser(), true}, 300),
			util.Prioritized(metered{parser.NewRawHTMLParser(), false}, 400),
			util.Prioritized(metered{parser.NewEmphasisParser(), false}, 500),
			util.Prioritized(metered{links, true}, 999),
			util.Prioritized(metered{quoted, true}, 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer}, 100)),
		parser.WithASTTransformers(util.Prioritized(purge{shown}, 0)),
	)
}

// HTML returns the HTML of the Markdown source: "" when nothing of it is left to show, else text that ends with a
// newline. Whatever the source, the answer holds only the elements and attributes that newWall lists.
func (r *Renderer) HTML(source string) (string, error) {
	var out bytes.Buffer
	if err := r.markdown.Convert([]byte(source), &out); err != nil {
		return "", fmt.Errorf("render Markdown: %w", err)
	}
	return unescapeQuotes.Replace(r.wall.SanitizeReader(&out).String()), nil
}

// newWall is the second wall: what it lists is all that the first, the parser without raw HTML, can produce. It is
// here for the day on which that one has a hole.
func newWall(shown images) *bluemonday.Policy {
	wall := bluemonday.NewPolicy()
	wall.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre",
		"code", "em", "strong")
	wall.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	wall.AllowAttrs("class").Matching(languageClass).OnElements("code")
	wall.AllowAttrs("href", "title").OnElements("a")
	if shown.Regexp != nil {
		wall.AllowAttrs("src").Matching(shown.Regexp).OnElements("img")
		wall.AllowAttrs("alt", "title").OnElements("img")
	}
	wall.AllowURLSchemes(schemes...)
	wall.AllowRelativeURLs(true)
	wall.RequireParseableURLs(true)
	wall.RequireNoFollowOnLinks(false)
	return wall
}

// unescapeQuotes undoes how the wall writes quotes, to keep CommonMark's bytes: &quot; everywhere, and the apostrophe
// as it is. Attributes are in double quotes, so neither opens anything.
var unescapeQuotes = strings.NewReplacer("&#34;", "&quot;", "&#39;", "'")
