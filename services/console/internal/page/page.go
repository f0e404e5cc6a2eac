// Package page makes the console's pages: templates, the stylesheet, and the texts in each language. It asks nothing.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/web/catalogue"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/console/internal/week"
)

var (
	//go:embed html
	files embed.FS
	//go:embed style.css
	style string
	//go:embed script
	scripts embed.FS
	//go:embed texts
	texts embed.FS
)

// Scripts are the names of the scripts of pages.
func Scripts() []string {
	names, _ := fs.Glob(scripts, "script/*.js") // the pattern is right
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".js")
	}
	return names
}

// Script returns a script; "" for an unknown name.
func Script(name string) string {
	text, _ := scripts.ReadFile("script/" + name + ".js")
	return string(text)
}

// ScriptPath is where a script is. It changes with its content.
func ScriptPath(name string) string { return "/" + name + "-" + digest(Script(name)) + ".js" }

// Script is where a script of the page is.
func (Frame) Script(name string) string { return ScriptPath(name) }

// StylePath is where the stylesheet is. It changes with its content.
var StylePath = "/style-" + digest(style) + ".css"

// Style returns the stylesheet.
func Style() string { return style }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Options of New.
type Options struct {
	Zone   wiretime.Zone
	School string // its name, which may be empty
}

// Pages are all pages, in all languages.
type Pages struct {
	Options
	templates map[string]*template.Template // by the names of their files
	texts     catalogue.Catalogue
}

// New reads the templates and the texts.
func New(o Options) (*Pages, error) {
	texts, err := catalogue.Read(texts)
	if err != nil {
		return nil, err
	}
	p := &Pages{Options: o, templates: map[string]*template.Template{}, texts: texts}
	base, err := template.New("frame.html").ParseFS(files, "html/frame.html", "html/parts.html")
	if err != nil {
		return nil, fmt.Errorf("read the frame: %w", err)
	}
	names, err := fs.Glob(files, "html/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "frame" || name == "parts" {
			continue
		}
		own, err := base.Clone()
		if err == nil {
			_, err = own.ParseFS(files, file)
		}
		if err != nil {
			return nil, fmt.Errorf("read the page %s: %w", name, err)
		}
		p.templates[name] = own
	}
	return p, nil
}

// Me is who visits: the effective user, as the interface describes it, and what a page knows beside that.
type Me struct {
	User        api.User
	Kind        string // staff, pupil or guest
	Element     api.Element
	Permissions api.Permissions
	AdminOf     []int64       `json:"admin_of"` // the schools that it administers
	Pupils      []api.Element // that the user stands for
	Waiting     string        `json:"-"` // how much waits for its decision, such as 20+ for more; "" for nothing
	Switched    bool          `json:"-"` // another user acts as this one
}

// LooksAfter says whether the user administers the school, or a school.
func (m Me) LooksAfter() bool { return m.Permissions.Admin || len(m.AdminOf) > 0 }

// Frame is what every page shows around its body.
type Frame struct {
	*Texts
	Title string
	Me    *Me    // nil: not signed in
	Path  string // with the query
	Nonce string // of the page's own style
	Token string // of its forms
	Now   time.Time
	Body  any

	School, StylePath string // Render sets them
}

// Here says whether the page is that of a path, or below it.
func (f Frame) Here(at string) bool {
	own, _, _ := strings.Cut(f.Path, "?")
	return own == at || at != "/" && strings.HasPrefix(own, at+"/")
}

// Render returns a page.
func (p *Pages) Render(name string, f Frame) ([]byte, error) { return p.Part(name, "frame.html", f) }

// Part returns a part of a page, which the page's template defines.
func (p *Pages) Part(name, part string, f Frame) ([]byte, error) {
	found := p.templates[name]
	if found == nil {
		return nil, fmt.Errorf("there is no page %q", name)
	}
	f.School, f.StylePath = p.School, StylePath
	var b bytes.Buffer
	if err := found.ExecuteTemplate(&b, part, f); err != nil {
		return nil, fmt.Errorf("make %s of the page %s: %w", part, name, err)
	}
	return b.Bytes(), nil
}

// Item gives a template an event of the grid with the texts.
func (f Frame) Item(i week.Item) any {
	return struct {
		Item  week.Item
		Texts *Texts
	}{i, f.Texts}
}

// List is a list for a template.
func (f Frame) List(texts ...string) []string { return texts }
