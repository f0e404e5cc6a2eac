// Package apidoc describes Belfry's whole interface: an OpenAPI 3.1 document and a page that shows it. Each service
// has a file here; shared parts are in components.yaml. The files are embedded in the program and merged at the first
// request for the document or the page. Neither needs any other site.
package apidoc

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

//go:embed *.yaml
var files embed.FS

//go:embed page.css
var style string

//go:embed page.tmpl
var pageTemplate string

// services are listed in the order of their paths in the document.
var services = []string{"identity", "elements", "events", "notes"}

// Document returns the merged document as JSON. It is made at the first call; each process of one version makes the
// same bytes. An error means that the files contradict each other.
func Document() ([]byte, error) { return document() }

var document = sync.OnceValues(func() ([]byte, error) {
	tree, err := read()
	if err != nil {
		return nil, err
	}
	return append(encode(tree), '\n'), nil
})

// documentPage is the HTML page of the document.
func documentPage() ([]byte, error) {
	tree, err := read()
	if err != nil {
		return nil, err
	}
	return render(tree, style)
}

// read merges the files.
func read() (object, error) {
	frame, err := files.ReadFile(componentsFile)
	if err != nil {
		return nil, err
	}
	parts := make([]part, len(services))
	for i, service := range services {
		text, err := files.ReadFile(service + ".yaml")
		if err != nil {
			return nil, err
		}
		parts[i] = part{service, text}
	}
	return merge(frame, parts)
}

// Routes serve the document and the page. Both need no session and no store.
func Routes() []web.Route {
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return []web.Route{
		{Method: fiber.MethodGet, Path: "/api/openapi.json", Access: web.Anyone,
			Handler: serve(Document, "application/json; charset=utf-8", "")},
		{Method: fiber.MethodGet, Path: "/api/docs", Access: web.Anyone,
			Handler: serve(documentPage, "text/html; charset=utf-8", policy)},
	}
}

// file is content that stays the same as long as the process runs.
type file struct {
	content []byte
	tag     string // its ETag
}

// serve answers with the result of create, which it calls at the first request. Clients may cache it but must
// revalidate each time, so that an upgrade shows at once.
func serve(create func() ([]byte, error), media, policy string) fiber.Handler {
	get := sync.OnceValues(func() (file, error) {
		content, err := create()
		sum := sha256.Sum256(content)
		return file{content, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
	})
	return func(c *fiber.Ctx) error {
		f, err := get()
		if err != nil {
			return fmt.Errorf("make the interface's document: %w", err)
		}
		c.Set(fiber.HeaderETag, f.tag)
		c.Set(fiber.HeaderCacheControl, "public, no-cache")
		if policy != "" {
			c.Set(fiber.HeaderContentSecurityPolicy, policy)
		}
		if c.Get(fiber.HeaderIfNoneMatch) == f.tag {
			return c.SendStatus(fiber.StatusNotModified)
		}
		c.Set(fiber.HeaderContentType, media)
		return c.Send(f.content)
	}
}
