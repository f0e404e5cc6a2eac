package markdown

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestDecisionsPart6_Markdown has what the test of that name in the conformance suite leaves out.
func TestDecisionsPart6_Markdown(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"emphasis and code", "*a* **b** `c  d`", "<p><em>a</em> <strong>b</strong> <code>c  d</code></p>\n"},
		{"character references", "&copy; &#34; &amp;lt;", "<p>© &quot; &amp;lt;</p>\n"},
		{"backslash", `\*a\* \"`, "<p>*a* &quot;</p>\n"},
		{"NUL", "a\x00b", "<p>a\uFFFDb</p>\n"},
		{"not an extension of CommonMark", "|a|\n|-|\n\n~~b~~ [^1] - [ ] c",
			"<p>|a|<br>\n|-|</p>\n\n<p>~~b~~ [^1] - [ ] c</p>\n"},

		{"blocks are separated", "# a\nb\n\n---\n> c\n\n- d\n\n1. e",
			"<h1>a</h1>\n\n<p>b</p>\n\n<hr>\n\n<blockquote>\n<p>c</p>\n</blockquote>\n\n" +
				"<ul>\n<li>d</li>\n</ul>\n\n<ol>\n<li>e</li>\n</ol>\n"},
		{"tight list", "- a\n- b\n  - c\n- d",
			"<ul>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n<li>d</li>\n</ul>\n"},
		{"loose list", "- a\n\n  b\n- c", "<ul>\n<li>\n<p>a</p>\n\n<p>b</p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ul>\n"},
		{"code keeps its lines", "```go\nx := 1\n\n\n<b>y\n```\n\nz",
			"<pre><code class=\"language-go\">x := 1\n\n\n&lt;b&gt;y\n</code></pre>\n\n<p>z</p>\n"},
		{"indented code keeps its lines", "    a\n\n\n    b\n\nc", "<pre><code>a\n\n\nb\n</code></pre>\n\n<p>c</p>\n"},
		{"code that looks like a paragraph's end", "```\n</p>\n<p>\n```",
			"<pre><code>&lt;/p&gt;\n&lt;p&gt;\n</code></pre>\n"},
		{"definitions leave no gap", "[a]: http://x.org\n\n[a]\n\nb",
			"<p><a href=\"http://x.org\">a</a></p>\n\n<p>b</p>\n"},

		{"telephone", "[a](tel:+4412345)", "<p><a href=\"tel:+4412345\">a</a></p>\n"},
		{"automatic link", "<https://x.org/?a=1&b> <me@x.org>",
			"<p><a href=\"https://x.org/?a=1&amp;b\">https://x.org/?a=1&amp;b</a> <a " +
				"href=\"mailto:me@x.org\">me@x.org</a></p>\n"},
	} {
		t.Run(c.name, func(t *testing.T) { assertHTML(t, c.source, c.want) })
	}
}

// TestDecisionsPart6_BareLinksOfAnyHost: only hosts of two ASCII labels or more were links, and none after a quote.
func TestDecisionsPart6_BareLinksOfAnyHost(t *testing.T) {
	link := func(address, text string) string { return `<a href="` + address + `">` + text + "</a>" }
	for source, want := range map[string]string{
		"http://localhost:8080/x":         link("http://localhost:8080/x", "http://localhost:8080/x"),
		"a http://10.0.0.5/, b":           "a " + link("http://10.0.0.5/", "http://10.0.0.5/") + ", b",
		"(http://intranet/)":              "(" + link("http://intranet/", "http://intranet/") + ")",
		"http://intranet.":                link("http://intranet", "http://intranet") + ".",
		"http://m\u00fcnchen.example/":    link("http://m%C3%BCnchen.example/", "http://m\u00fcnchen.example/"),
		"x:o'brien@school.example":        "x:o'brien@school.example",
		"http://x.example/m\u00fcnchen,":  link("http://x.example/m%C3%BCnchen", "http://x.example/m\u00fcnchen") + ",",
		"HTTPS://X.EXAMPLE":               link("https://X.EXAMPLE", "HTTPS://X.EXAMPLE"),
		`"http://x.example"`:              "&quot;" + link("http://x.example", "http://x.example") + "&quot;",
		`a "https://x.example/b?c", d`:    "a &quot;" + link("https://x.example/b?c", "https://x.example/b?c") + "&quot;, d",
		"'http://x.example/o'b'.":         "'" + link("http://x.example/o'b", "http://x.example/o'b") + "'.",
		`a "www.x.example/y" 'me@x.org'`:  "a &quot;" + link("http://www.x.example/y", "www.x.example/y") + "&quot; '" + link("mailto:me@x.org", "me@x.org") + "'",
		"ftp://me:a@x.example:21":         link("ftp://me:a@x.example:21", "ftp://me:a@x.example:21"),
		"http://x.example:y":              link("http://x.example", "http://x.example") + ":y",
		"http:// http://- http://.x a'b'": "http:// http://- http://.x a'b'",
		`"javascript:x" 'JAVASCRIPT://x'`: "&quot;javascript:x&quot; 'JAVASCRIPT://x'",
		`"http://x"onclick="a`:            "&quot;" + link("http://x", "http://x") + "&quot;onclick=&quot;a",
		`"http://x<b onclick=a>`:          "&quot;" + link("http://x", "http://x"),
		"[a \"http://x\"](http://y.org)":  link("http://y.org", "a &quot;http://x&quot;"),
		`"<http://x>"`:                    "&quot;" + link("http://x", "http://x") + "&quot;",
	} {
		assertHTML(t, source, "<p>"+want+"</p>\n")
		assertHarmless(t, want)
	}
}

// TestDecisionsPart6_RawHTMLAndUnsafeSchemesAreRemoved has what the conformance suite leaves out.
func TestDecisionsPart6_RawHTMLAndUnsafeSchemesAreRemoved(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"script in a line", "a <script>alert(1)</script>", "<p>a alert(1)</p>\n"},
		{"raw HTML between blocks leaves no gap", "a\n\n<hr>\n\nb", "<p>a</p>\n\n<p>b</p>\n"},
		{"half a tag", "<img src=\"x\" onerror=\"y\" a", "<p>&lt;img src=&quot;x&quot; onerror=&quot;y&quot; a</p>\n"},
		{"newline inside", "[a](java&NewLine;script:alert(1))", "<p>a</p>\n"},
		{"automatic link", "<javascript:alert(1)&amp;>", "<p>javascript:alert(1)&amp;amp;</p>\n"},
		{"an unknown scheme", "[a](made-up:x) <made-up:y>", "<p>a made-up:y</p>\n"},
		{"image", "![a](javascript:x) ![b](data:image/png;base64,AA) ![](data:image/png;base64,AA) c",
			"<p>a b  c</p>\n"},
		{"attribute from a language", "```a\" onclick=\"x\nb\n```",
			"<pre><code class=\"language-a&quot;\">b\n</code></pre>\n"},
		{"attribute from an image's text", `![" onerror="x](http://x.org)`,
			"<p><a href=\"http://x.org\">&quot; onerror=&quot;x</a></p>\n"},
		{"a link to nothing", "[a]() [b](<>)", "<p>a b</p>\n"},
		{"not a URL", "[a](http://[::1) [b](http://x.org:y)", "<p>a b</p>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assertHTML(t, c.source, c.want)
			assertHarmless(t, c.want)
		})
	}
}

// TestDecisionsPart6_Row16_ImagesAreLinks: notes loaded images from anywhere, so that anyone who wrote one learned the
// addresses of its readers.
func TestDecisionsPart6_Row16_ImagesAreLinks(t *testing.T) {
	link := func(address, text string) string { return `<a href="` + address + `">` + text + "</a>" }
	image := func(address, text string) string { return `<img src="` + address + `" alt="` + text + `">` }
	for _, c := range []struct{ name, source, want string }{
		{"text", "![a *b*](http://x.org/c.png)", link("http://x.org/c.png", "a <em>b</em>")},
		{"title", `![a](http://x.org/c.png "d")`, `<a href="http://x.org/c.png" title="d">a</a>`},
		{"no text", "![](http://x.org/?b&c)", link("http://x.org/?b&amp;c", "http://x.org/?b&amp;c")},
		{"blank text", "![ ](http://x.org/c)", link("http://x.org/c", " http://x.org/c")},
		{"by reference", "![a]\n\n[a]: http://x.org/c 'd'", `<a href="http://x.org/c" title="d">a</a>`},
		{"relative", "![a](/c.png)", link("/c.png", "a")},
		{"protocol of the page", "![a](//img.example/c)", link("//img.example/c", "a")},
		{"another host", "![a](https://x.org/img.example/c)", link("https://x.org/img.example/c", "a")},
		{"without TLS", "![a](http://img.example/c)", link("http://img.example/c", "a")},
		{"host below", "![a](https://a.img.example/c)", link("https://a.img.example/c", "a")},
		{"host above", "![a](https://img.example.org/c)", link("https://img.example.org/c", "a")},
		{"dots are dots", "![a](https://imgxexample/c)", link("https://imgxexample/c", "a")},
		{"user", "![a](https://img.example@x.org/c)", link("https://img.example@x.org/c", "a")},
		{"user of the host", "![a](https://u:p@img.example/c)", link("https://u:p@img.example/c", "a")},
		{"port", "![a](https://img.example:8443/c)", link("https://img.example:8443/c", "a")},
		{"backslash", `![a](https://x.org\\@img.example/c)`,
			link("https://x.org%5C@img.example/c", "a")},
		{"backslash as the path", `![a](https://img.example\\c)`, "a"},
		{"letters that look alike", "![a](https://img.exampl\u0435/c)", link("https://img.exampl%D0%B5/c", "a")},
		{"another alphabet", "![a](https://b\u00fccher.example/c)", link("https://b%C3%BCcher.example/c", "a")},

		{"a host of the setting", "![a *b*](https://img.example/c.png)", image("https://img.example/c.png", "a b")},
		{"letter case", "![a](HTTPS://IMG.Example/C)", image("https://IMG.Example/C", "a")},
		{"another host of it", "![](https://xn--bcher-kva.example/c)", image("https://xn--bcher-kva.example/c", "")},
		{"no text, a host of it", "![](https://img.example/c)", image("https://img.example/c", "")},

		{"in a link", "[![a](http://x.org/c)](http://y.org)", link("http://y.org", "a")},
		{"in a link, no text", "[![](http://x.org/c)](http://y.org)", link("http://y.org", "http://x.org/c")},
		{"in a link that must not be", "[![a](http://x.org/c)](javascript:x)", link("http://x.org/c", "a")},
		{"in a link, a host of it", "[![a](https://img.example/c)](http://y.org)",
			link("http://y.org", image("https://img.example/c", "a"))},
		{"in an image", "![a ![b](http://x.org/b) c](http://x.org/c)", link("http://x.org/c", "a b c")},
		{"in an image that must not be", "![a ![b](http://x.org/b)](data:x)", "a " + link("http://x.org/b", "b")},
		{"in an image, a host of it", "![a ![b](http://x.org/b)](https://img.example/c)",
			image("https://img.example/c", "a b")},
		{"a link in an image", "![a [b](http://x.org/b) <http://x.org/d>](http://x.org/c)",
			link("http://x.org/c", "a b http://x.org/d")},
		{"a bare link in an image", "![a www.x.org](http://x.org/c)", link("http://x.org/c", "a www.x.org")},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "<p>" + c.want + "</p>\n"
			assertHTML(t, c.source, want, "img.example", "xn--bcher-kva.example")
			if !strings.Contains(want, "<img") {
				assertHTML(t, c.source, want)
			}
		})
	}
	assertHTML(t, "![a](https://img.example/c)", `<p><a href="https://img.example/c">a</a></p>`+"\n")
}

// TestDecisionsPart6_Row16_TheVersionNamesTheHosts: stored HTML is old when the setting has changed.
func TestDecisionsPart6_Row16_TheVersionNamesTheHosts(t *testing.T) {
	versions := map[int]string{}
	for _, hosts := range [][]string{nil, {"a.example"}, {"b.example"}, {"a.example", "b.example"}} {
		v := NewRenderer(hosts...).Version()
		if earlier, twice := versions[v]; twice {
			t.Errorf("%v has the version of %s", hosts, earlier)
		}
		versions[v] = strings.Join(hosts, " ")
	}
	valuetest.Same(t, NewRenderer("b.example", "A.example").Version(), NewRenderer("a.example", "b.example").Version(),
		"order and letter case of the hosts count")
	valuetest.Same(t, NewRenderer().Version(), Version, "without hosts it is not the version of the package")
}

func assertHTML(t *testing.T, source, want string, imageHosts ...string) {
	t.Helper()
	got, err := NewRenderer(imageHosts...).HTML(source)
	errortest.None(t, err)
	valuetest.Same(t, got, want, "%q", source)
}

func BenchmarkHTML(b *testing.B) {
	r := NewRenderer()
	source := strings.Repeat("The *whole* class of 9A\nmeets at http://school.example/x, see [the "+
		"plan](https://a.example).\n\n", 8)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		errortest.None(b, errortest.Of(r.HTML(source)))
	}
}
