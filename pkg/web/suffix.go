package web

import "strings"

// suffix is what clients of Xronos Scheduler may write after a path.
const suffix = ".json"

// WithoutSuffix returns a path without the .json that a client may write after it. It keeps the paths of
// administration, of the interface's description, of feeds and of services, and paths whose last segment has another
// dot.
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
