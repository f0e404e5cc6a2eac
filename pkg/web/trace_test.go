package web_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/web"
)

func TestHardToBreak_Row23_TraceContextIsBelievedFromTrustedProxiesAndServicesAlone(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	const none = "00000000000000000000000000000000 sampled=false members=0"
	const taken = id + " sampled=true members=1"
	here := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	elsewhere := []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	for name, c := range map[string]struct {
		trusted []netip.Prefix
		headers []string
		want    string
	}{
		"a client":                      {nil, nil, none},
		"a client beside a proxy":       {elsewhere, nil, none},
		"a client that claims to be it": {elsewhere, []string{"X-Forwarded-For", "198.51.100.7"}, none},
		"a trusted proxy":               {here, []string{"X-Forwarded-For", "203.0.113.5"}, taken},
		"a service":                     {nil, []string{"Authorization", "Bearer " + internalToken}, taken},
		"a wrong token":                 {nil, []string{"Authorization", "Bearer " + internalToken + "x"}, none},
	} {
		t.Run(name, func(t *testing.T) {
			base := serveOptions(t, web.Options{Token: settings.NewSecret(internalToken), TrustedProxies: c.trusted},
				route("GET", "/trace", func(ctx *fiber.Ctx) error {
					span := trace.SpanContextFromContext(ctx.UserContext())
					return ctx.SendString(fmt.Sprintf("%s sampled=%t members=%d", span.TraceID(), span.IsSampled(),
						baggage.FromContext(ctx.UserContext()).Len()))
				}))
			code, got, _ := ask(t, "GET", base+"/trace", "", append(c.headers,
				"traceparent", "00-"+id+"-b7ad6b7169203331-01", "baggage", "user=somebody")...)
			if code != http.StatusOK || got != c.want {
				t.Errorf("%d %s, want %s", code, got, c.want)
			}
		})
	}
}
