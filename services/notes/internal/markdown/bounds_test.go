package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// imageHost is the one whose images are shown.
const imageHost = "img.example"

// length is that of the longest note.
const length = 65536

// newUnbounded returns a renderer that does the same without bounds.
func newUnbounded() *Renderer {
	shown := newImages([]string{imageHost})
	links, quoted := newBareLinks()
	return newRenderer(goldmark.New(
		goldmark.WithParserOptions(
			parser.WithInlineParsers(util.Prioritized(links, 999), util.Prioritized(quoted, 999)),
			parser.WithASTTransformers(util.Prioritized(purge{shown}, 0)),
		),
	).Parser(), shown)
}

// isShort says whether a source, whose HTML without bounds is out, lies within all bounds.
func isShort(source, out string) bool {
	return len(source) <= 2048 && deepest(out) <= maxDepth
}

// deepest counts the quotations and lists of HTML that are open at once.
func deepest(out string) int {
	open, most := 0, 0
	for part := range strings.SplitSeq(out, "<") {
		name, _, _ := strings.Cut(part, ">")
		switch strings.Fields(name + " x")[0] {
		case "blockquote", "ul", "ol":
			open++
			most = max(most, open)
		case "/blockquote", "/ul", "/ol":
			open--
		}
	}
	return most
}

func render(t *testing.T, r *Renderer, source string) string {
	t.Helper()
	out, err := r.HTML(source)
	errortest.None(t, err)
	return out
}

// hostile are patterns on which goldmark takes long when they are repeated.
var hostile = []string{
	"[", ">", "> ", "*a_", "[a](", "1. ", "_*", "a@b.c ", "[a]: x\n", "*", "_", "`", "<", "- ", "![", "]", "[a]",
	"[](", "<a", "<!--",
	"<?", "*a ", "a* ", "a**b", "**a *b ", "`a``b", "\\", "&#", "-\n", "a\n", "a\n\n", ">\n", ">a\n\n", "- a\n",
	"- a\n- ", "1) a\n2. b\n",
	"# a\n", "a\n=\n", "```\n", "[a]: x '", "[a\n", "(", "[a](b \"", "[a](<", "http://a.b/(", "_www.", "*www.a",
	"(www.a.b", "_a@b.", "'http://a", "\"a", "'a@b.",
	"*a*", "***a***", "[a](b)", "![a](b)", "[*a](b)*", "<http:", "<a@b", "<a b='", "* *\n", "1. a\n   ", " - a\n",
	">- ", "- > ", "\t",
}

// TestHardToBreak_Row18_WithinTheBoundsNothingChanges compares with the parser without bounds, on the worst there is.
func TestHardToBreak_Row18_WithinTheBoundsNothingChanges(t *testing.T) {
	bounded, unbounded := NewRenderer(imageHost), newUnbounded()
	for _, pattern := range hostile {
		for _, n := range []int{8, 15, 400, 2000} {
			source := strings.Repeat(pattern, max(1, n/len(pattern)))
			want := render(t, unbounded, source)
			if !isShort(source, want) {
				continue
			}
			valuetest.Same(t, render(t, bounded, source), want, "%q, %d characters", pattern, len(source))
		}
	}
	note := strings.Repeat("The *whole* class of **9A**\nmeets at http://school.example/x, "+
		"see [the plan](https://a.example).\n\n"+
		"- bring `this`\n- and\n  1. that\n  2. too\n\n> A quotation\n> > of another\n\n", length/250)
	valuetest.Same(t, render(t, bounded, note), render(t, unbounded, note), "a long note of the usual kind is another")
}

// TestHardToBreak_Row18_DepthHasABound: 64 KiB of > took 2.2 seconds past a request's deadline.
func TestHardToBreak_Row18_DepthHasABound(t *testing.T) {
	r := NewRenderer()
	for _, pattern := range []string{">", "> ", "- ", "1. ", ">- ", "- > ", "* + - "} {
		out := render(t, r, strings.Repeat(pattern, length/len(pattern))+"a")
		valuetest.Same(t, deepest(out), maxDepth, "the depth of %q", pattern)
	}
	valuetest.Same(t, render(t, r, strings.Repeat(">", maxDepth+2)+"a"),
		strings.Repeat("<blockquote>\n", maxDepth)+
			"<p>&gt;&gt;a</p>\n"+strings.Repeat("</blockquote>\n", maxDepth))
}

// TestHardToBreak_Row18_MarksHaveABound: what is found in a paragraph of a whole note is what the steps allow, and the
// rest stands there as text.
func TestHardToBreak_Row18_MarksHaveABound(t *testing.T) {
	r := NewRenderer()
	for pattern, mark := range map[string]string{
		"*a* ": "<em>", "**a** ": "<strong>", "`a` ": "<code>", "[a](b) ": "<a ", "![a](b) ": "<a ",
		"<http:b> ": "<a ",
	} {
		out := render(t, r, strings.Repeat(pattern, length/len(pattern)))
		if got, most := strings.Count(out, mark), maxSteps/length; got == 0 || got > most && pattern != "<http:b> " {
			t.Errorf("%q: %d are found, %d at most", pattern, got, most)
		}
		if shown := strings.Count(out, "a") + strings.Count(out, "b"); shown < length/len(pattern) {
			t.Errorf("%q: something is lost: %d of %d", pattern, shown, length/len(pattern))
		}
	}
}

// TestHardToBreak_Row18_LinesOfListsHaveABound: each open list is asked about each line, empty ones too.
func TestHardToBreak_Row18_LinesOfListsHaveABound(t *testing.T) {
	r := NewRenderer()
	head := strings.Repeat("- ", maxDepth) + "a\n"
	inside := func(empty int) bool {
		out := render(t, r, head+strings.Repeat("\n", empty)+strings.Repeat("  ", maxDepth)+"b\n")
		valuetest.Has(t, out, "b", "after %d empty lines, b is lost", empty)
		return strings.Index(out, "b\n") < strings.Index(out, "</ul>") || strings.Contains(out, "<p>b</p>\n</li>")
	}
	valuetest.Holds(t, inside(1000), "after 1,000 empty lines the list has ended")
	valuetest.Holds(t, !inside(length-200), "a list goes on for 64 Ki lines")
}

func TestHardToBreak_Row18_ReferencesHaveABound(t *testing.T) {
	r := NewRenderer()
	address := "/" + strings.Repeat("x", length/2)
	out := render(t, r, fmt.Sprintf("[a]: %s\n\n%s", address, strings.Repeat("[a] ", length/8)))
	valuetest.Same(t, strings.Count(out, address), maxReferred/len(address), "times that the address stands there")
	if got := strings.Count(strings.ReplaceAll(out, address, ""), "a"); got < length/8 {
		t.Errorf("%d of %d texts are left", got, length/8)
	}
	lines := strings.Repeat("[a]: x\n", maxDefinitions)
	valuetest.Same(t, render(t, r, lines), "", "%d definitions are shown", maxDefinitions)
	got := render(t, r, lines+"[a]: x\n")
	valuetest.Same(t, strings.Count(got, "[a]: x"), maxDefinitions+1, "a definition more is %.100q", got)
}
