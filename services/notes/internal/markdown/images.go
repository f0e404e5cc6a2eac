package markdown

import (
	"bytes"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// images are those that readers load, by their addresses; nil: none. The owner of an image's host learns the address
// of each reader, so a school names the hosts.
type images struct{ *regexp.Regexp }

// hostName is a name of a host as URLs have it, in small letters.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// CheckImageHost says whether a text is the name of a host in ASCII, without scheme, port and path.
func CheckImageHost(name string) bool { return hostName.MatchString(strings.ToLower(name)) }

// newImages allows those on the hosts, over https and at its own port.
func newImages(hosts []string) images {
	if len(hosts) == 0 {
		return images{}
	}
	names := sequence.Map(hosts, regexp.QuoteMeta)
	return images{regexp.MustCompile("^(?i:https://(" + strings.Join(names, "|") + ")/)")}
}

// version names what HTML makes of a source with these hosts.
func version(hosts []string) int {
	if len(hosts) == 0 {
		return Version
	}
	names := strings.Split(strings.ToLower(strings.Join(hosts, "/")), "/")
	slices.Sort(names)
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(strings.Join(slices.Compact(names), "/"))) // never fails
	return Version<<32 | int(hash.Sum32())
}

// load says whether readers load an image from an address. It checks the address as the renderer will write it, which
// is all ASCII, so a browser finds the same host.
func (i images) load(destination []byte) bool {
	return i.Regexp != nil && i.Match(util.URLEscape(destination, true))
}

// link makes an image a link to its address, unless readers load it. The link's text is the image's, and the address
// where that is blank. In a link, where HTML allows no other, links and images leave their text alone.
func (i images) link(n ast.Node, source []byte) {
	image, isImage := n.(*ast.Image)
	if isImage && i.load(image.Destination) {
		return
	}
	if isImage && len(bytes.TrimSpace(shown(n, source))) == 0 {
		address := ast.NewString(util.URLEscape(image.Destination, true))
		address.SetRaw(true)
		n.AppendChild(n, address)
	}
	switch {
	case inLink(n):
		unwrap(n, source)
	case isImage:
		link := ast.NewLink()
		link.Destination, link.Title = image.Destination, image.Title
		n.Parent().ReplaceChild(n.Parent(), n, link)
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			link.AppendChild(link, child)
		}
	}
}

func inLink(n ast.Node) bool {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if n.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

// shown is the text inside n.
func shown(n ast.Node, source []byte) (text []byte) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			text = append(text, child.Value(source)...)
		case *ast.String:
			text = append(text, child.Value...)
		case *ast.AutoLink:
			text = append(text, child.Label(source)...)
		default:
			text = append(text, shown(child, source)...)
		}
	}
	return text
}
