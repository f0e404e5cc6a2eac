package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// spaced writes a blank line between neighbouring blocks, at every depth: a newline before each block that follows
// another, as each ends with one. goldmark itself writes none. The contents of blocks are untouched. Items of a list
// are not separated, nor is the text of an item of a tight list from what follows it.
type spaced struct{ renderer.NodeRenderer }

func (s spaced) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	s.NodeRenderer.RegisterFuncs(spacedRegister{register})
}

type spacedRegister struct {
	renderer.NodeRendererFuncRegisterer
}

func (s spacedRegister) Register(kind ast.NodeKind, render renderer.NodeRendererFunc) {
	s.NodeRendererFuncRegisterer.Register(kind,
		func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && followsBlock(n) {
				if err := w.WriteByte('\n'); err != nil {
					return ast.WalkStop, err
				}
			}
			return render(w, source, n, entering)
		})
}

func followsBlock(n ast.Node) bool {
	if n.Type() != ast.TypeBlock || n.Kind() == ast.KindListItem {
		return false
	}
	previous := n.PreviousSibling()
	return previous != nil && previous.Kind() != ast.KindTextBlock
}
