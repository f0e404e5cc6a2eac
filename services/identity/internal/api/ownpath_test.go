package api

import (
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestOpenID_ALoginReturnsToAPathOfThisHostAlone has what browsers take for another host.
func TestOpenID_ALoginReturnsToAPathOfThisHostAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"/": true, "/api/me": true, "/a?b=c&d=%2F%2Fx#e": true, "/a//b": true,
		"/" + strings.Repeat("a", maxReturn-1): true,
		"":                                     false, "a": false, "//x.example": false, "/\\x.example": false,
		"\\\\x": false, "https://x.example": false,
		"javascript:alert(1)": false, "/a\r\nSet-Cookie: x=y": false, "/\t/x.example": false, " //x": false,
		"/api/login?uuid=x": false, "/api/logout": false, "/api/%6Cogin": false, "/a/..//api/Login.json": false,
		"/ä": false, "/%zz": false, "/" + strings.Repeat("a", maxReturn): false,
	} {
		valuetest.Same(t, ownPath(text), want, "%q", text)
	}
}
