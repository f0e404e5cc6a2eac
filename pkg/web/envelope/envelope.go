// Package envelope has the parts that all answers share (decisions, part 1): the request's id and the headers for
// browsers. Package web adds them to the answers of services, a proxy in front of them to its own answers.
package envelope

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// HeaderRequestID names a request in the logs; clients may choose it.
const HeaderRequestID = "X-Request-Id"

// ContentType is the type of every answer in JSON.
const ContentType = "application/json; charset=utf-8"

// Security are the headers, with their values, that say what a browser may do with an answer.
var Security = [...][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{"Referrer-Policy", "no-referrer"},
	{"Cache-Control", "no-store"},
}

// requestIDPattern is what a client may choose: other texts could look like log text.
var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9-]{8,64}$`)

// RequestID returns the id that a client chose for its request, or a new one.
func RequestID(chosen string) string {
	if requestIDPattern.MatchString(chosen) {
		return chosen
	}
	raw := make([]byte, 12)
	_, _ = rand.Read(raw) // never fails, says its documentation
	return hex.EncodeToString(raw)
}

// Refuse answers a request in a service's stead.
func Refuse(w http.ResponseWriter, r *http.Request, kind problem.Kind) {
	w.Header().Set(HeaderRequestID, RequestID(r.Header.Get(HeaderRequestID)))
	for _, h := range Security {
		w.Header().Set(h[0], h[1])
	}
	w.Header().Set("Content-Type", ContentType)
	w.WriteHeader(kind.Code())
	_, _ = fmt.Fprintf(w, `{"status":%q}`, kind.Status()) // an error means that the client has gone
}
