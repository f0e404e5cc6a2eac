package markdown

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// FuzzHTML checks the HTML as a browser reads it: parsed by HTML's own rules, whatever the source was.
func FuzzHTML(f *testing.F) {
	for _, source := range []string{
		"a\nb\n\nc", "# a\n\n- b\n  1. c\n\n> d", "```x\ny\n```", "[a](http://x.org \"t\")", "<script>x</script>",
		"[a](javascript:x)", "<javascript:x>",
		"[a](java&Tab;script:x)", "![a](data:text/html,x)", "<b onclick=x>", `[a](http://x/"onclick="x)`,
		"`<svg/onload=x>`", "<!--><img src=x onerror=x>", "www.x.org me@x.org",
		"[a]\n\n[a]: <javascript:x> 'y'", "&lt;script&gt;", "<![CDATA[<script>]]>", "<?php <b>?>", "a\x00<\x00script>",
		"[![a](x)](y)", "![](http://x.org)", "![a ![b](x) [c](y)](z)", "![a](https://img.example/x)",
		"![a](https://img.example@x.org/)", "![a](https://img.example:1/)", "![a](//img.example/x)",
		"![a](HTTPS://IMG.EXAMPLE/)", "![a](https://img.example\\/)", "[![](https://img.example/)](x)",
		"![a][b]\n\n[b]: https://img.example/x 'y'", "![a](https://img.exampl\u0435/)", "![www.x.org](y)",
		"http://intranet:80/", "'HTTP://m\u00fc.example/o'b'", `"http://x/"onclick="a`, `"me@x.org" "www.x.org"`,
	} {
		f.Add(source)
	}
	r, unbounded := NewRenderer(imageHost), newUnbounded()
	f.Fuzz(func(t *testing.T, source string) {
		out, err := r.HTML(source)
		errortest.None(t, err, "%q", source)
		if out != "" && !strings.HasSuffix(out, "\n") {
			t.Errorf("%q does not end with a newline: %q", source, out)
		}
		assertHarmless(t, out)
		if want, err := unbounded.HTML(source); err != nil || (out != want && isShort(source, want)) {
			t.Errorf("%q: %q, without bounds %q, %v", source, out, want, err)
		}
	})
}

// attributes are all that elements may have.
var attributes = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil,
	"ul": nil, "ol": {"start"}, "li": nil,
	"pre": nil, "code": {"class"}, "em": nil, "strong": nil, "a": {"href", "title"}, "img": {"src", "alt", "title"},
}

// assertHarmless parses text as the contents of a page's body and fails the test for any element, attribute, scheme
// or comment that notes don't have.
func assertHarmless(t *testing.T, text string) {
	t.Helper()
	valuetest.Lacks(t, strings.ToLower(text), "<script", "a script in %q", text)
	for _, link := range strings.Split(text, "<a ")[1:] {
		valuetest.Has(t, link, "</a>", "a link in a link in %q", text)
	}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(text), body)
	errortest.None(t, err)
	for _, root := range nodes {
		assertHarmlessNode(t, root, text)
		for n := range root.Descendants() {
			assertHarmlessNode(t, n, text)
		}
	}
}

func assertHarmlessNode(t *testing.T, n *html.Node, text string) {
	t.Helper()
	switch n.Type {
	case html.TextNode:
		return
	case html.ElementNode:
	default:
		t.Errorf("a node of type %v in %q", n.Type, text)
		return
	}
	allowed, known := attributes[n.Data]
	if !known {
		t.Errorf("element %s in %q", n.Data, text)
	}
	for _, a := range n.Attr {
		if !slices.Contains(allowed, a.Key) || strings.HasPrefix(a.Key, "on") {
			t.Errorf("attribute %s of %s in %q", a.Key, n.Data, text)
		}
		if a.Key == "href" || a.Key == "src" {
			assertHarmlessURL(t, a.Val, text)
		}
		if u, err := url.Parse(a.Val); a.Key == "src" && (err != nil || u.Scheme != "https" || u.User != nil ||
			!strings.EqualFold(u.Host, imageHost)) {
			t.Errorf("an image from %q in %q", a.Val, text)
		}
	}
}

func assertHarmlessURL(t *testing.T, address, text string) {
	t.Helper()
	// Browsers drop these before they look for the scheme.
	stripped := strings.NewReplacer("\t", "", "\n", "", "\r",
		"").Replace(strings.TrimFunc(address, func(r rune) bool { return r <= ' ' }))
	u, err := url.Parse(stripped)
	if err != nil {
		t.Errorf("no URL: %q in %q", address, text)
		return
	}
	if u.Scheme != "" && !slices.Contains(schemes, u.Scheme) {
		t.Errorf("scheme of %q in %q", address, text)
	}
}
