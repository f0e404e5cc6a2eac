package markdown

import (
	"strings"
	"testing"
)

func TestDecisionsPart6_Markdown(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"the documented example", "a\nb\n\nc", "<p>a<br>\nb</p>\n\n<p>c</p>\n"},
		{"empty", "", ""},
		{"only blank lines", " \n\n\t\n", ""},
		{"one paragraph ends with a newline", "a", "<p>a</p>\n"},
		{"line ends of Windows", "a\r\nb\r\n\r\nc", "<p>a<br>\nb</p>\n\n<p>c</p>\n"},
		{"line breaks of CommonMark", "a  \nb\\\nc", "<p>a<br>\nb<br>\nc</p>\n"},
		{"emphasis and code", "*a* **b** `c  d`", "<p><em>a</em> <strong>b</strong> <code>c  d</code></p>\n"},
		{"special characters", `a < b & "c" isn't > d`, "<p>a &lt; b &amp; &quot;c&quot; isn't &gt; d</p>\n"},
		{"character references", "&copy; &#34; &amp;lt;", "<p>© &quot; &amp;lt;</p>\n"},
		{"backslash", `\*a\* \"`, "<p>*a* &quot;</p>\n"},
		{"other scripts", "Zoë 日本語 🚌", "<p>Zoë 日本語 🚌</p>\n"},
		{"NUL", "a\x00b", "<p>a\uFFFDb</p>\n"},
		{"not an extension of CommonMark", "|a|\n|-|\n\n~~b~~ [^1] - [ ] c",
			"<p>|a|<br>\n|-|</p>\n\n<p>~~b~~ [^1] - [ ] c</p>\n"},

		{"blocks are separated", "# a\nb\n\n---\n> c\n\n- d\n\n1. e",
			"<h1>a</h1>\n\n<p>b</p>\n\n<hr>\n\n<blockquote>\n<p>c</p>\n</blockquote>\n\n" +
				"<ul>\n<li>d</li>\n</ul>\n\n<ol>\n<li>e</li>\n</ol>\n"},
		{"paragraphs in a quotation are separated", "> a\n>\n> b",
			"<blockquote>\n<p>a</p>\n\n<p>b</p>\n</blockquote>\n"},
		{"tight list", "- a\n- b\n  - c\n- d",
			"<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n<li>d</li>\n</ul>\n"},
		{"loose list", "- a\n\n  b\n- c", "<ul>\n<li>\n<p>a</p>\n\n<p>b</p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ul>\n"},
		{"numbers", "7. a\n8. b", "<ol start=\"7\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		{"code keeps its lines", "```go\nx := 1\n\n\n<b>y\n```\n\nz",
			"<pre><code class=\"language-go\">x := 1\n\n\n&lt;b&gt;y\n</code></pre>\n\n<p>z</p>\n"},
		{"indented code keeps its lines", "    a\n\n\n    b\n\nc", "<pre><code>a\n\n\nb\n</code></pre>\n\n<p>c</p>\n"},
		{"code that looks like a paragraph's end", "```\n</p>\n<p>\n```",
			"<pre><code>&lt;/p&gt;\n&lt;p&gt;\n</code></pre>\n"},
		{"definitions leave no gap", "[a]: http://x.org\n\n[a]\n\nb",
			"<p><a href=\"http://x.org\">a</a></p>\n\n<p>b</p>\n"},

		{"link", `[a](https://x.org/?b=1&c=2 "t")`,
			"<p><a href=\"https://x.org/?b=1&amp;c=2\" title=\"t\">a</a></p>\n"},
		{"relative link", "[a](/b#c)", "<p><a href=\"/b#c\">a</a></p>\n"},
		{"telephone", "[a](tel:+4412345)", "<p><a href=\"tel:+4412345\">a</a></p>\n"},
		{"automatic link", "<https://x.org/?a=1&b> <me@x.org>",
			"<p><a href=\"https://x.org/?a=1&amp;b\">https://x.org/?a=1&amp;b</a> <a " +
				"href=\"mailto:me@x.org\">me@x.org</a></p>\n"},
		{"bare links", "see http://x.org/a?b=1&c, www.x.org. or me@x.org",
			"<p>see <a href=\"http://x.org/a?b=1&amp;c\">http://x.org/a?b=1&amp;c</a>, <a " +
				"href=\"http://www.x.org\">www.x.org</a>. or <a href=\"mailto:me@x.org\">me@x.org</a></p>\n"},
		{"no bare link in code", "`http://x.org`", "<p><code>http://x.org</code></p>\n"},
		{"image", `![a *b*](http://x.org/c.png "d")`,
			"<p><img src=\"http://x.org/c.png\" alt=\"a b\" title=\"d\"></p>\n"},
	} {
		t.Run(c.name, func(t *testing.T) { assertHTML(t, c.source, c.want) })
	}
}

func TestDecisionsPart6_RawHTMLAndUnsafeSchemesAreRemoved(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"raw HTML in a line", "a <b onclick=\"x()\">c</b> <!-- d --> e<br/>f", "<p>a c  ef</p>\n"},
		{"raw HTML block", "<div onload=x>\na\n</div>\n\nb", "<p>b</p>\n"},
		{"script", "<script>alert(1)</script>\n\na", "<p>a</p>\n"},
		{"script in a line", "a <script>alert(1)</script>", "<p>a alert(1)</p>\n"},
		{"nothing else in the paragraph", "a\n\n<b></b>\n\nc", "<p>a</p>\n\n<p>c</p>\n"},
		{"nothing else at all", "<img src=x onerror=alert(1)>", ""},
		{"raw HTML between blocks leaves no gap", "a\n\n<hr>\n\nb", "<p>a</p>\n\n<p>b</p>\n"},
		{"half a tag", "<img src=\"x\" onerror=\"y\" a", "<p>&lt;img src=&quot;x&quot; onerror=&quot;y&quot; a</p>\n"},
		{"tag in a code span", "`<b>`", "<p><code>&lt;b&gt;</code></p>\n"},

		{"javascript", "[a *b*](javascript:alert(1))", "<p>a <em>b</em></p>\n"},
		{"letter case", "[a](JaVaScRiPt:alert(1))", "<p>a</p>\n"},
		{"character references", "[a](java&#115;cript&colon;alert(1))", "<p>a</p>\n"},
		{"tab inside", "[a](java&Tab;script:alert(1))", "<p>a</p>\n"},
		{"newline inside", "[a](java&NewLine;script:alert(1))", "<p>a</p>\n"},
		{"leading control character", "[a](&#1;javascript:alert(1))", "<p>a</p>\n"},
		{"by reference", "[a]\n\n[a]: javascript:alert(1)", "<p>a</p>\n"},
		{"automatic link", "<javascript:alert(1)&amp;>", "<p>javascript:alert(1)&amp;amp;</p>\n"},
		{"vbscript, data, file", "[a](vbscript:x) [b](data:text/html,x) [c](file:///x)", "<p>a b c</p>\n"},
		{"a scheme that nobody knows", "[a](made-up:x) <made-up:y>", "<p>a made-up:y</p>\n"},
		{"image", "![a](javascript:x) ![b](data:image/png;base64,AA) ![c](ftp://x.org/y)", "<p>a b c</p>\n"},
		{"attribute from a title", `[a](http://x.org "b\" onclick=\"x")`,
			"<p><a href=\"http://x.org\" title=\"b&quot; onclick=&quot;x\">a</a></p>\n"},
		{"attribute from a URL", `[a](http://x.org/"onclick="x)`,
			"<p><a href=\"http://x.org/%22onclick=%22x\">a</a></p>\n"},
		{"attribute from a language", "```a\" onclick=\"x\nb\n```",
			"<pre><code class=\"language-a&quot;\">b\n</code></pre>\n"},
		{"attribute from an image's text", `![" onerror="x](http://x.org)`,
			"<p><img src=\"http://x.org\" alt=\"&quot; onerror=&quot;x\"></p>\n"},
		{"a link to nothing", "[a]() [b](<>)", "<p>a b</p>\n"},
		{"not a URL", "[a](http://[::1) [b](http://x.org:y)", "<p>a b</p>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assertHTML(t, c.source, c.want)
			assertHarmless(t, c.want)
		})
	}
}

func assertHTML(t *testing.T, source, want string) {
	t.Helper()
	got, err := NewRenderer().HTML(source)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("%q\n got %q\nwant %q", source, got, want)
	}
}

func BenchmarkHTML(b *testing.B) {
	r := NewRenderer()
	source := strings.Repeat("The *whole* class of 9A\nmeets at http://school.example/x, see [the "+
		"plan](https://a.example).\n\n", 8)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := r.HTML(source); err != nil {
			b.Fatal(err)
		}
	}
}
