// Package hostile sends a running Belfry concurrent requests that are generated from its OpenAPI document: valid,
// invalid and malicious ones, with the ids, versions and cursors of earlier answers, as every kind of user. No answer
// may be a fault (5xx) or undocumented, and memory must not grow. After each success it checks RESTler's rules
// (Atlidakis, Godefroid, Polishchuk: "Checking Security Properties of Cloud Service REST APIs"): no record outlives its
// deletion, a refused creation leaves no record, and no child is reached by another parent or another user.
//
//	go test ./test/hostile                                       # 2,000 requests
//	go test ./test/hostile -timeout 2h -v -requests 100000
//
// No Go library generates requests from OpenAPI 3.1, so the generator is this package's own; the answers are checked
// by pkg/testing/apidoctest, by kin-openapi and jsonschema.
package hostile
