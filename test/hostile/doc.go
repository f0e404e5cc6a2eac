// Package hostile sends a running Belfry requests that are made from its own OpenAPI document: right ones, wrong ones
// and malicious ones, with the ids, versions and places that earlier answers had, as every kind of user, many at once.
// Whatever comes, no answer may be a fault (5xx), none may be outside the document, and memory stays. After what
// succeeds it looks for what RESTler looks for (Atlidakis, Godefroid, Polishchuk: "Checking Security Properties of
// Cloud Service REST APIs"): records that live on after their deletion, records that a refused creation left behind,
// children that another parent gives access to, and records that another user gets at.
//
//	go test ./test/hostile                                       # 2,000 requests
//	go test ./test/hostile -timeout 2h -v -requests 100000
//
// No library at hand makes requests from OpenAPI 3.1 in Go, so the maker is this package's own; the answers are checked
// by pkg/testing/apidoctest, by kin-openapi and jsonschema.
package hostile
