package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// markup is a note's contents and the expected HTML.
type markup struct{ contents, html string }

// wantMarkup makes a note of each and compares its HTML in the answer and in a following GET.
func (s *School) wantMarkup(t *testing.T, all []markup) {
	t.Helper()
	c := s.Booker(t)
	event := s.Event(t, c, nil).Int(t, "event.id")
	for _, m := range all {
		a := c.Post(t, notesPath(event), object{"note": object{"contents": m.contents}}).Must(t, http.StatusOK)
		equal(t, fmt.Sprintf("the HTML of %q", m.contents), quoted(a.Text(t, "note.formatted_contents")),
			quoted(m.html))
		equal(t, fmt.Sprintf("%q as it is read", m.contents), c.Get(t,
			notePaths(a.Int(t, "note.id"))[0]).At(t, "note.formatted_contents"), a.At(t, "note.formatted_contents"))
	}
}

func TestDecisionsPart6_Markdown(t *testing.T) {
	proves(t, "decisions 6 markdown: CommonMark, hard line breaks, bare links become links",
		"decisions 6 blank lines: paragraphs separated by a blank line; a newline at the end", "2.5 formatted_contents")
	school.wantMarkup(t, []markup{
		{"a\nb\n\nc", "<p>a<br>\nb</p>\n\n<p>c</p>\n"}, // the example of the decisions
		{"", ""}, {" \n\n\t\n", ""}, {"a", "<p>a</p>\n"}, {"a\n\n\n\nb\n\n", "<p>a</p>\n\n<p>b</p>\n"},
		{"a\r\nb\r\n\r\nc", "<p>a<br>\nb</p>\n\n<p>c</p>\n"}, {"a  \nb\\\nc", "<p>a<br>\nb<br>\nc</p>\n"},
		{"*a* **b** _c_ `d  e`", "<p><em>a</em> <strong>b</strong> <em>c</em> <code>d  e</code></p>\n"},
		{"***a***", "<p><em><strong>a</strong></em></p>\n"}, {"snake_case_name", "<p>snake_case_name</p>\n"},
		{"a < b & \"c\" isn't > d", "<p>a &lt; b &amp; &quot;c&quot; isn't &gt; d</p>\n"},
		{"&copy; &amp;lt;", "<p>© &amp;lt;</p>\n"}, {`\*a\*`, "<p>*a*</p>\n"}, {"Zoë 日本語 🚌", "<p>Zoë 日本語 🚌</p>\n"},
		{"# a\n## b\n\nc", "<h1>a</h1>\n\n<h2>b</h2>\n\n<p>c</p>\n"}, {"a\n===", "<h1>a</h1>\n"},
		{"a\n\n---\n\nb", "<p>a</p>\n\n<hr>\n\n<p>b</p>\n"},
		{"> a\n>\n> b", "<blockquote>\n<p>a</p>\n\n<p>b</p>\n</blockquote>\n"},
		{"- a\n- b\n  - c", "<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n"},
		{"7. a\n8. b", "<ol start=\"7\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		{"1. a\n2. b\n\nc", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n\n<p>c</p>\n"},
		{"```\nx\n\n\n<b>y\n```\n\nz", "<pre><code>x\n\n\n&lt;b&gt;y\n</code></pre>\n\n<p>z</p>\n"},
		{"    a\n\n    b\n\nc", "<pre><code>a\n\nb\n</code></pre>\n\n<p>c</p>\n"},
		{`[a](https://x.example/?b=1&c=2 "t")`,
			"<p><a href=\"https://x.example/?b=1&amp;c=2\" title=\"t\">a</a></p>\n"}, {"[a](/b#c)",
			"<p><a href=\"/b#c\">a</a></p>\n"},
		{"[a]\n\n[a]: http://x.example", "<p><a href=\"http://x.example\">a</a></p>\n"},
		{"<https://x.example/a>", "<p><a href=\"https://x.example/a\">https://x.example/a</a></p>\n"},
		{"see http://x.example/a?b=1&c, www.x.example. or me@x.example",
			"<p>see <a href=\"http://x.example/a?b=1&amp;c\">http://x.example/a?b=1&amp;c</a>, " +
				"<a href=\"http://www.x.example\">www.x.example</a>." +
				" or <a href=\"mailto:me@x.example\">me@x.example</a></p>\n"},
		{"https://x.example/(a)_b", "<p><a href=\"https://x.example/(a)_b\">https://x.example/(a)_b</a></p>\n"},
		{"`http://x.example`", "<p><code>http://x.example</code></p>\n"},
		{"![a](http://x.example/c.png \"d\")", "<p><a href=\"http://x.example/c.png\" title=\"d\">a</a></p>\n"},
		{"~~a~~ | b", "<p>~~a~~ | b</p>\n"}, // CommonMark has neither
	})
}

func TestDecisionsPart6_UnsafeMarkupIsRemoved(t *testing.T) {
	proves(t, "decisions 6 unsafe: raw HTML and unsafe schemes are removed")
	school.wantMarkup(t, []markup{
		{"a <b onclick=\"x()\">c</b> <!-- d --> e<br/>f", "<p>a c  ef</p>\n"},
		{"<div onload=x>\na\n</div>\n\nb", "<p>b</p>\n"}, {"<script>alert(1)</script>\n\na", "<p>a</p>\n"},
		{"<img src=x onerror=alert(1)>", ""}, {"a\n\n<b></b>\n\nc", "<p>a</p>\n\n<p>c</p>\n"},
		{"<iframe src=\"http://x.example\"></iframe>", ""}, {"<style>p{}</style>", ""},
		{"`<b>`", "<p><code>&lt;b&gt;</code></p>\n"},
		{"[a *b*](javascript:alert(1))", "<p>a <em>b</em></p>\n"}, {"[a](JaVaScRiPt:alert(1))", "<p>a</p>\n"},
		{"[a](java&#115;cript&colon;alert(1))", "<p>a</p>\n"}, {"[a](java&Tab;script:alert(1))", "<p>a</p>\n"},
		{"[a](&#1;javascript:alert(1))", "<p>a</p>\n"}, {"[a]\n\n[a]: javascript:alert(1)", "<p>a</p>\n"},
		{"[a](vbscript:x) [b](data:text/html,x) [c](file:///x)", "<p>a b c</p>\n"},
		{"![a](javascript:x) ![b](data:image/png;base64,AA)", "<p>a b</p>\n"},
		{`[a](http://x.example "b\" onclick=\"x")`,
			"<p><a href=\"http://x.example\" title=\"b&quot; onclick=&quot;x\">a</a></p>\n"},
		{`[a](http://x.example/"onclick="x)`, "<p><a href=\"http://x.example/%22onclick=%22x\">a</a></p>\n"},
	})
}

func TestPart2_5_SpecialCharactersAreJSONEscapes(t *testing.T) {
	proves(t, "2.5 formatted_contents: HTML of the contents, special characters as JSON Unicode escapes",
		"decisions 1 escapes")
	c := school.Booker(t)
	event := school.Event(t, c, nil).Int(t, "event.id")
	const contents = "<&>\u2028\u2029 \"a\""
	a := c.Post(t, notesPath(event), object{"note": object{"contents": contents}}).Must(t, http.StatusOK)
	equal(t, "the contents, as sent over", a.At(t, "note.contents"), `"\u003c\u0026\u003e\u2028\u2029 \"a\""`)
	equal(t, "the HTML, as sent over", a.At(t, "note.formatted_contents"),
		`"\u003cp\u003e\u0026lt;\u0026amp;\u0026gt;\u2028\u2029 \u0026quot;a\u0026quot;\u003c/p\u003e\n"`)
	for _, special := range []string{"<", ">", "&", "\u2028", "\u2029"} {
		equal(t, fmt.Sprintf("%q is in the answer", special), strings.Contains(a.Body, special), false)
	}
}
