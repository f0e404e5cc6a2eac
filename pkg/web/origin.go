package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// refuseElsewhere refuses state-changing requests that a page from elsewhere makes a browser send (decisions, part 2).
func refuseElsewhere(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch c.Method() {
		case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
			return c.Next()
		}
		// No page can make a browser send a token without a script that has it.
		if _, is := bearer(c); !is && o.fromElsewhere(c) {
			return problem.New(problem.Forbidden, "")
		}
		return c.Next()
	}
}

// fromElsewhere says whether a page of another origin, neither the address that was asked nor an allowed one, makes a
// browser send the request: by Sec-Fetch-Site, which today's browsers send, or by Origin, which older ones send except
// with GET. Programs send neither. net/http.CrossOriginProtection differs: it ignores Origin where Sec-Fetch-Site is
// same-origin.
func (o Options) fromElsewhere(c *fiber.Ctx) bool {
	site, oneSite := single(c, "Sec-Fetch-Site")
	origin, oneOrigin := single(c, fiber.HeaderOrigin)
	switch {
	case !oneSite || !oneOrigin:
		return true
	case origin != "" && slices.Contains(o.AllowedOrigins, canonical(origin)):
		return false
	case site != "" && site != "same-origin" && site != "none":
		return true
	}
	return origin != "" && !o.own(origin, string(c.Context().Host()))
}

// own says whether origin is the address of the request. TLS may have ended at a proxy, so the scheme is known only
// where the session's cookie needs https.
func (o Options) own(origin, host string) bool {
	scheme, _, _ := strings.Cut(origin, "://")
	if o.Cookies.Secure && !strings.EqualFold(scheme, "https") {
		return false
	}
	asked := canonical(scheme + "://" + host)
	return asked != "" && canonical(origin) == asked
}

// single returns the value of a header, "" when it is absent, and false when it comes more than once.
func single(c *fiber.Ctx, name string) (string, bool) {
	switch values := c.Request().Header.PeekAll(name); len(values) {
	case 0:
		return "", true
	case 1:
		return string(values[0]), true
	default:
		return "", false
	}
}

// canonical returns an origin in lower case without the port that its scheme implies; "" when it is invalid.
func canonical(origin string) string {
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	switch u.Scheme {
	case "http":
		return "http://" + strings.TrimSuffix(u.Host, ":80")
	case "https":
		return "https://" + strings.TrimSuffix(u.Host, ":443")
	}
	return ""
}

// CheckOrigin says whether text is an origin as AllowedOrigins takes them: a scheme, http or https, and a host.
func CheckOrigin(text string) bool { return canonical(text) != "" }

// allowed returns AllowedOrigins in the form in which they are compared, without those that CheckOrigin refuses.
func (o Options) allowed() []string {
	var origins []string
	for _, origin := range o.AllowedOrigins {
		if CheckOrigin(origin) {
			origins = append(origins, canonical(origin))
		}
	}
	return origins
}
