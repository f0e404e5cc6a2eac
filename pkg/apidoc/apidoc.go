// Package apidoc is the description of Belfry's whole interface: an OpenAPI 3.1 document and a page that shows it. Each service owns its part, in its
// openapi.yaml; what they share is in components.yaml here. `make gen` merges them into openapi.json and page.html, which are in the binary, so that
// neither showing nor reading them asks any other site.
package apidoc

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/web"
)

//go:embed openapi.json
var document []byte

//go:embed page.html
var page []byte

//go:embed page.css
var style []byte

// Document returns the merged document as JSON.
func Document() []byte { return document }

// Routes serve the document to programs and to people. Both need no session and no store.
func Routes() []web.Route {
	sum := sha256.Sum256(style)
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return []web.Route{
		{Method: fiber.MethodGet, Path: "/api/openapi.json", Access: web.Anyone, Handler: file(document, "application/json; charset=utf-8", "")},
		{Method: fiber.MethodGet, Path: "/api/docs", Access: web.Anyone, Handler: file(page, "text/html; charset=utf-8", policy)},
	}
}

// file answers with content that stays the same as long as the process runs. It may be kept, and is asked for again each time: an upgrade shows at once.
func file(content []byte, media, policy string) fiber.Handler {
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
