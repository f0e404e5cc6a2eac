// Package apidoc describes Belfry's whole interface: an OpenAPI 3.1 document and a page that shows it. Each service
// has a file here; shared parts are in components.yaml. The program bundle makes the document, the page, and the table
// of what each route reads of a request (pkg/web/documented.go) of them; `make gen` runs it. Neither needs another site.
package apidoc

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

// document is the bundled document as JSON, and page its HTML page, which has the style and the script in it.
var (
	//go:embed openapi.json
	document []byte
	//go:embed page.html
	page []byte
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// Document returns the document as JSON.
func Document() []byte { return document }

// policy lets the page use its own style and script, which may call this Belfry alone.
var policy = "default-src 'none'; style-src " + web.HashSource(style) + "; script-src " + web.HashSource(script) +
	"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Routes serve the document and the page. Both need no session and no store.
func Routes() []web.Route {
	return []web.Route{
		web.At("GET /api/openapi.json", web.Anyone, serve(document, "application/json; charset=utf-8", "")),
		web.At("GET /api/docs", web.Anyone, serve(page, "text/html; charset=utf-8", policy)),
	}
}

// serve answers with content that stays the same as long as the process runs. Clients may cache it but must revalidate
// each time, so that an upgrade shows at once.
func serve(content []byte, media, policy string) fiber.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderETag, tag)
		c.Set(fiber.HeaderCacheControl, "public, no-cache")
		if policy != "" {
			c.Set(fiber.HeaderContentSecurityPolicy, policy)
		}
		if c.Get(fiber.HeaderIfNoneMatch) == tag {
			return c.SendStatus(fiber.StatusNotModified)
		}
		c.Set(fiber.HeaderContentType, media)
		return c.Send(content)
	}
}
