package web

import "strings"

// suffix is what clients of the known system may write after a path.
const suffix = ".json"

// WithoutSuffix returns a path without the .json that a client may write after it. Nothing is taken from paths of
// administration, of the interface's description, of feeds and of services, nor where another dot is in the last
// segment.
func WithoutSuffix(path string) string {
	bare, found := strings.CutSuffix(path, suffix)
	if !found || bare == "/api/openapi" || bare == "/api/docs" || strings.HasPrefix(bare, "/api/admin/") {
		return path
	}
	if !strings.HasPrefix(bare, "/api/") && !strings.HasPrefix(bare, "/sessions/") &&
		!strings.HasPrefix(bare, "/notes/") {
		return path
	}
	if last := bare[strings.LastIndexByte(bare, '/')+1:]; last == "" || strings.Contains(last, ".") {
		return path
	}
	return bare
}
