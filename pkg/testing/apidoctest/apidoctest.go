// Package apidoctest checks the requests and answers of tests against Belfry's OpenAPI document. Only tests may
// import it.
package apidoctest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/belfry-schools/belfry/pkg/apidoc"
	"github.com/belfry-schools/belfry/pkg/web"
)

// Exchange is a request with its answer.
type Exchange struct {
	Request *http.Request // its body is ignored
	Body    []byte        // of the request
	Code    int
	Header  http.Header // of the answer
	Answer  []byte      // its body
}

// Check returns nil when an exchange is as Belfry's document says, and otherwise an error with the operation and
// the fields. The answer must be documented. The request is checked only when the answer is a success, since tests
// send bad requests on purpose. The answer to an undocumented path or method must be 404 or 405, or an error that
// precedes routing.
func Check(e Exchange) error {
	checker, err := ours()
	if err != nil {
		return err
	}
	return checker.Check(e)
}

var ours = sync.OnceValues(func() (*Checker, error) { return NewChecker(apidoc.Document()) })

// Checker checks exchanges against one document. It is safe for concurrent use.
type Checker struct {
	router  routers.Router
	schemas schemas
}

// NewChecker returns a checker of an OpenAPI 3.1 document. kin-openapi validates the document and finds the
// operation and its parameters. jsonschema validates the bodies, with every schema compiled once. kin-openapi would
// compile a schema for each body, and use the rules of OpenAPI 3.0 for schemas that it can't compile.
func NewChecker(document []byte) (*Checker, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		return nil, fmt.Errorf("the document is no OpenAPI 3.1: %w", err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	compiler, err := newSchemas(document)
	if err != nil {
		return nil, err
	}
	return &Checker{router, compiler}, nil
}

// Check is the function Check for this document.
func (c *Checker) Check(e Exchange) error {
	method := e.Request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	asked := e.Request.Clone(e.Request.Context())
	asked.Method, asked.Body = method, http.NoBody
	asked.URL.Path = web.WithoutSuffix(asked.URL.Path)
	asked.URL.Host, asked.URL.Scheme, asked.Host = "", "", ""
	route, parameters, err := c.router.FindRoute(asked)
	if err != nil {
		return c.undocumented(e)
	}
	name := fmt.Sprintf("%s (%s %s)", route.Operation.OperationID, method, route.Path)
	answer := route.Operation.Responses.Status(e.Code)
	if answer == nil {
		return fmt.Errorf("%s: the document has no answer %d", name, e.Code)
	}
	at := pointer("paths", route.Path, strings.ToLower(method), "responses", fmt.Sprint(e.Code))
	if answer.Ref != "" {
		at = strings.TrimPrefix(answer.Ref, "#")
	}
	if err := c.checkAnswer(e, answer.Value, at); err != nil {
		return fmt.Errorf("%s: answer %d: %w", name, e.Code, err)
	}
	if e.Code >= http.StatusBadRequest || e.Code == http.StatusNotModified {
		return nil
	}
	if err := c.checkRequest(e, asked, route, parameters); err != nil {
		return fmt.Errorf("%s: the request succeeded, but by the document: %w", name, err)
	}
	return nil
}

// undocumented checks the answer to an undocumented call.
func (c *Checker) undocumented(e Exchange) error {
	name := fmt.Sprintf("%s %s", e.Request.Method, e.Request.URL.Path)
	shapes := map[int]string{
		http.StatusNotFound: "NotFound", http.StatusMethodNotAllowed: "MethodNotAllowed",
		// These errors precede routing.
		http.StatusBadRequest: "BadRequest", http.StatusForbidden: "Forbidden",
		http.StatusRequestEntityTooLarge: "TooLarge",
	}
	shape, refused := shapes[e.Code]
	if !refused {
		return fmt.Errorf("%s is not in the document, but the answer is %d", name, e.Code)
	}
	if e.Request.Method == http.MethodHead || isPage(e) {
		return nil
	}
	if err := c.schemas.check(pointer("components", "schemas", shape), e.Answer); err != nil {
		return fmt.Errorf("%s, which is not in the document: answer %d: %w", name, e.Code, err)
	}
	return nil
}

// isPage says whether an answer is a page of the console, which answers browsers outside of the interface.
func isPage(e Exchange) bool {
	return strings.Contains(e.Request.Header.Get("Accept"), "text/html") &&
		!strings.HasPrefix(e.Request.URL.Path, "/api/") && strings.HasPrefix(e.Header.Get("Content-Type"), "text/html")
}

func (c *Checker) checkAnswer(e Exchange, answer *openapi3.Response, at string) error {
	for name, header := range answer.Headers {
		if header.Value.Required && len(e.Header.Values(name)) == 0 { // one may be empty
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if e.Request.Method == http.MethodHead || len(answer.Content) == 0 {
		if len(e.Answer) > 0 {
			return errors.New("it has a body")
		}
		return nil
	}
	media, err := mediaOf(e.Header, answer.Content)
	if err != nil || media != "application/json" {
		return err
	}
	return c.schemas.check(at+pointer("content", media, "schema"), e.Answer)
}

// checkRequest checks path, query, cookie and body of a request that succeeded. Of an import it checks only the
// lines whose records succeeded, and of elements only those that are not among the failures.
func (c *Checker) checkRequest(e Exchange, asked *http.Request, route *routers.Route,
	parameters map[string]string) error {
	err := openapi3filter.ValidateRequest(asked.Context(), &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{ExcludeRequestBody: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
	})
	if err != nil {
		return err
	}
	body := route.Operation.RequestBody
	if body == nil {
		return nil
	}
	if len(bytes.TrimSpace(e.Body)) == 0 {
		if body.Value.Required {
			return errors.New("the body is missing")
		}
		return nil
	}
	media := "application/json" // the default type
	if e.Request.Header.Get("Content-Type") != "" {
		if media, err = mediaOf(e.Request.Header, body.Value.Content); err != nil {
			return err
		}
	}
	at := pointer("paths", route.Path, strings.ToLower(asked.Method), "requestBody", "content", media, "schema")
	switch media {
	case "application/x-ndjson":
		return c.checkLines(e, at)
	case "application/x-www-form-urlencoded": // only its type is checked
		return nil
	}
	return c.schemas.check(at, withoutFailures(e))
}

// withoutFailures returns the body of a request without those of its elements that failed by the answer.
func withoutFailures(e Exchange) []byte {
	var answer struct{ Failures []struct{ Index int } }
	var body map[string]json.RawMessage
	if json.Unmarshal(e.Answer, &answer) != nil || json.Unmarshal(e.Body, &body) != nil || len(answer.Failures) == 0 {
		return e.Body
	}
	var asked []json.RawMessage
	if json.Unmarshal(body["elements"], &asked) != nil {
		asked = []json.RawMessage{body["elements"]} // one without an array around it
	}
	kept := []json.RawMessage{}
	for index, element := range asked {
		if !slices.Contains(answer.Failures, struct{ Index int }{index}) {
			kept = append(kept, element)
		}
	}
	var err error
	if body["elements"], err = json.Marshal(kept); err != nil {
		return e.Body
	}
	text, err := json.Marshal(body)
	if err != nil {
		return e.Body
	}
	return text
}

func (c *Checker) checkLines(e Exchange, at string) error {
	var answer struct{ Records []struct{ Result string } }
	if err := json.Unmarshal(e.Answer, &answer); err != nil {
		return err
	}
	index := 0
	for line := range bytes.Lines(e.Body) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if index >= len(answer.Records) {
			return fmt.Errorf("record %d has no result", index)
		}
		if answer.Records[index].Result != "failed" {
			if err := c.schemas.check(at, line); err != nil {
				return fmt.Errorf("record %d: %w", index, err)
			}
		}
		index++
	}
	return nil
}

// mediaOf returns the media type of the header, or an error when content does not have it.
func mediaOf(header http.Header, content openapi3.Content) (string, error) {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || content[media] == nil {
		return "", fmt.Errorf("the Content-Type is %q", header.Get("Content-Type"))
	}
	return media, nil
}

// pointer returns a JSON pointer as a URL fragment, without the #.
func pointer(steps ...string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(step)))
	}
	return b.String()
}

// schemas compiles each schema of a document on first use.
type schemas struct {
	mu       *sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

const documentURL = "belfry:openapi.json"

func newSchemas(document []byte) (schemas, error) {
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return schemas{}, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(documentURL, content); err != nil {
		return schemas{}, err
	}
	return schemas{&sync.Mutex{}, compiler, map[string]*jsonschema.Schema{}}, nil
}

func (s schemas) at(pointer string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, done := s.compiled[pointer]; done {
		return schema, nil
	}
	schema, err := s.compiler.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil, err
	}
	s.compiled[pointer] = schema
	return schema, nil
}

// check returns nil when text is JSON that the schema allows, and otherwise an error with the field.
func (s schemas) check(pointer string, text []byte) error {
	schema, err := s.at(pointer)
	if err != nil {
		return err
	}
	content, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w in %s", err, shortened(text))
	}
	var invalid *jsonschema.ValidationError
	err = schema.Validate(content)
	if errors.As(err, &invalid) {
		return fmt.Errorf("%s\nin %s", strings.Join(faults(invalid), "\n"), shortened(text))
	}
	return err
}

// faults returns the innermost causes, each with its place in the body.
func faults(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		return []string{fmt.Sprintf("/%s: %s", strings.Join(e.InstanceLocation, "/"),
			e.ErrorKind.LocalizedString(english))}
	}
	var all []string
	for _, cause := range e.Causes {
		all = append(all, faults(cause)...)
	}
	return all
}

func shortened(text []byte) string {
	const enough = 2000
	if len(text) > enough {
		return string(text[:enough]) + "…"
	}
	return string(text)
}
