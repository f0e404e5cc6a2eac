package markdown

import (
	"net/url"
	"regexp"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// languageClass is what a fenced code block's info string becomes.
var languageClass = regexp.MustCompile(`^language-\S+$`)

// purge removes from a parsed document what must not be shown: raw HTML, and links and images whose scheme is not
// allowed; their text stays. A paragraph of which nothing is left goes too. Images become links, but for those that
// readers may load.
type purge struct{ images images }

func (p purge) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	var unwanted, paragraphs, links []ast.Node
	// The walk does not fail: its function returns no error.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering:
		case !allowed(n, reader.Source()):
			unwanted = append(unwanted, n)
		case n.Kind() == ast.KindParagraph:
			paragraphs = append(paragraphs, n)
		case n.Kind() == ast.KindLink || n.Kind() == ast.KindAutoLink || n.Kind() == ast.KindImage:
			links = append(links, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range unwanted {
		unwrap(n, reader.Source())
	}
	for _, n := range links { // the outer ones first
		p.images.link(n, reader.Source())
	}
	for _, n := range paragraphs {
		if len(unwanted) > 0 && !n.HasChildren() {
			n.Parent().RemoveChild(n.Parent(), n)
		}
	}
}

func allowed(n ast.Node, source []byte) bool {
	switch n := n.(type) {
	case *ast.HTMLBlock, *ast.RawHTML, *ast.LinkReferenceDefinition:
		return false
	case *ast.Link:
		return allowedURL(n.Destination)
	case *ast.Image:
		return allowedURL(n.Destination)
	case *ast.AutoLink:
		return n.AutoLinkType == ast.AutoLinkEmail || allowedURL(n.URL(source))
	}
	return true
}

// allowedURL checks the URL as the renderer will write it: character references resolved, all but printable ASCII
// escaped. So a browser finds the scheme where this does. A URL that is empty or none at all is not allowed.
func allowedURL(destination []byte) bool {
	u, err := url.Parse(string(util.URLEscape(destination, true)))
	return err == nil && *u != (url.URL{}) && (u.Scheme == "" || slices.Contains(schemes, u.Scheme))
}

// unwrap puts the children of n in its place: none for raw HTML, the label for an automatic link.
func unwrap(n ast.Node, source []byte) {
	parent := n.Parent()
	if link, ok := n.(*ast.AutoLink); ok {
		label := ast.NewString(link.Label(source))
		label.SetRaw(true) // as it is, but for HTML's special characters: nothing in it is Markdown
		parent.InsertBefore(parent, n, label)
	}
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		parent.InsertBefore(parent, n, child)
	}
	parent.RemoveChild(parent, n)
}
