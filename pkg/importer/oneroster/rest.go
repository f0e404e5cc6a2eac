package oneroster

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
)

// Service is an information system that answers OneRoster's REST interface, version 1.2.
type Service struct {
	URL          string // such as https://sis.example/ims/oneroster/rostering/v1p2
	TokenURL     string // of OAuth 2, client credentials
	ClientID     string
	ClientSecret string
	Scope        string          // CoreScope when empty
	Wait         backoff.BackOff // between tries of a request; exponential when nil
}

// CoreScope is the scope of the collections that Belfry reads.
const CoreScope = "https://purl.imsglobal.org/spec/or/v1p2/scope/roster-core.readonly"

// Limits of what a service answers.
const (
	pageSize      = 1000
	maxPage       = 64 << 20  // bytes
	maxRecords    = 2_000_000 // of a collection
	pageTimeout   = time.Minute
	fetchPatience = time.Minute // for which a request is tried
)

// IsService reports whether a text is the address of a service.
func IsService(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// collection is a collection of a service, and where the columns of its table are in a record.
type collection struct {
	table  table
	fields []string // column, or column=path
}

var collections = []collection{
	{orgs, []string{"name", "type", "parentSourcedId=parent.sourcedId"}},
	{sessions, []string{"title", "type", "startDate", "endDate"}},
	{courses, []string{"title"}},
	{classes, []string{"title", "classCode", "courseSourcedId=course.sourcedId", "schoolSourcedId=school.sourcedId",
		"termSourcedIds=terms.sourcedId"}},
	{users, []string{"enabledUser", "givenName", "familyName", "preferredGivenName=preferredFirstName",
		"preferredFamilyName=preferredLastName", "email", "grades"}},
	{enrollments, []string{"classSourcedId=class.sourcedId", "userSourcedId=user.sourcedId", "role", "beginDate",
		"endDate"}},
}

// Columns of every row, and of roles, which are part of users in answers.
var (
	heads      = []string{"sourcedId", "status", "dateLastModified"}
	roleFields = []string{"roleType", "role", "orgSourcedId=org.sourcedId", "beginDate", "endDate"}
)

// Fetch reads all records that Belfry uses, as a zip file of OneRoster's files in bulk, one row for each record in the
// order of the answers. It is an error when a collection has fewer records than the service counts.
func (s Service) Fetch(ctx context.Context) ([]byte, error) {
	f, err := s.fetching(ctx)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	files := map[table]*csv.Writer{}
	text := map[table]*bytes.Buffer{}
	begin := func(t table, columns []string) {
		text[t] = &bytes.Buffer{}
		files[t] = csv.NewWriter(text[t])
		_ = files[t].Write(columns) // a buffer takes everything
	}
	begin(roles, append(heads[:len(heads):len(heads)], append([]string{"userSourcedId"}, names(roleFields)...)...))
	known := map[string]bool{}
	for _, c := range collections {
		begin(c.table, append(heads[:len(heads):len(heads)], names(c.fields)...))
		err := f.all(ctx, c.table, func(record map[string]any) {
			_ = files[c.table].Write(append(cells(record, heads), cells(record, c.fields)...))
			if c.table != users {
				return
			}
			for _, row := range rolesOf(record) {
				if !known[row[0]] {
					known[row[0]] = true
					_ = files[roles].Write(row)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	list := "propertyName,value\nmanifest.version,1.0\noneroster.version," + version12 + "\n"
	for _, t := range tables {
		files[t].Flush()
		list += fmt.Sprintf("file.%s,%s\n", t, bulk)
		if err := put(archive, t.file(), text[t].Bytes()); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(put(archive, manifest, []byte(list)), archive.Close()); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

func put(archive *zip.Writer, name string, text []byte) error {
	w, err := archive.Create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// names are the columns of fields.
func names(fields []string) (all []string) {
	for _, field := range fields {
		name, _, _ := strings.Cut(field, "=")
		all = append(all, name)
	}
	return all
}

// cells are the values of fields.
func cells(record map[string]any, fields []string) []string {
	all := make([]string, 0, len(heads)+len(fields))
	for _, field := range fields {
		name, path, apart := strings.Cut(field, "=")
		if !apart {
			path = name
		}
		all = append(all, valueAt(record, path))
	}
	return all
}

// valueAt is the text at a path; the parts of a list are separated by commas.
func valueAt(value any, path string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case []any:
		var all []string
		for _, part := range v {
			if text := valueAt(part, path); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, ",")
	case map[string]any:
		name, rest, _ := strings.Cut(path, ".")
		return valueAt(v[name], rest)
	}
	return fmt.Sprint(value)
}

// rolesOf are the rows of a user's roles. In answers roles have no sourcedId, so it is made of what they say.
func rolesOf(user map[string]any) (rows [][]string) {
	list, _ := user["roles"].([]any)
	for _, part := range list {
		role, _ := part.(map[string]any)
		row := append([]string{valueAt(user, "sourcedId")}, cells(role, roleFields)...)
		sum := sha256.Sum256([]byte(strings.Join(row, "\x00")))
		head := []string{hex.EncodeToString(sum[:16]), valueAt(user, "status"), valueAt(user, "dateLastModified")}
		rows = append(rows, append(head, row...))
	}
	return rows
}

// fetching calls a service.
type fetching struct {
	Service
	base   *url.URL
	client *http.Client
}

func (s Service) fetching(ctx context.Context) (*fetching, error) {
	f := &fetching{Service: s}
	for name, text := range map[string]string{"address": s.URL, "token's address": s.TokenURL} {
		address, err := url.Parse(text)
		if err != nil || address.Host == "" || address.Scheme != "https" && !loopback(address.Hostname()) {
			return nil, fmt.Errorf("the %s %q is not an https address", name, csvfile.Brief(text))
		}
		if text == s.URL {
			f.base = address
		}
	}
	config := clientcredentials.Config{ClientID: s.ClientID, ClientSecret: s.ClientSecret, TokenURL: s.TokenURL,
		Scopes: []string{s.Scope}}
	if s.Scope == "" {
		config.Scopes = []string{CoreScope}
	}
	// A redirect could take the token, or the secret, elsewhere.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	plain := &http.Client{Timeout: pageTimeout, CheckRedirect: stay}
	f.client = config.Client(context.WithValue(ctx, oauth2.HTTPClient, plain))
	f.client.Timeout, f.client.CheckRedirect = pageTimeout, stay
	return f, nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// all gives every record of a collection. Services may give fewer on a page than asked for.
func (f *fetching) all(ctx context.Context, t table, take func(record map[string]any)) error {
	count, last := 0, ""
	for {
		page, total, err := f.page(ctx, t, count)
		switch {
		case err != nil:
			return fmt.Errorf("reading %s of the service: %w", t, err)
		case total > maxRecords || count+len(page) > maxRecords:
			return fmt.Errorf("the service has more than %d %s", maxRecords, t)
		case len(page) == 0 && count < total:
			return fmt.Errorf("the service gave %d of %d %s", count, total, t)
		case len(page) == 0:
			return nil
		}
		first := valueAt(page[0], "sourcedId")
		if first == last {
			return fmt.Errorf("the service gives the same page of %s again at offset %d", t, count)
		}
		last = first
		for _, record := range page {
			take(record)
		}
		if count += len(page); total > 0 && count >= total {
			return nil
		}
	}
}

// page reads a page, and how many records the collection has; 0 when the service does not say.
func (f *fetching) page(ctx context.Context, t table, offset int) (page []map[string]any, total int, err error) {
	at := f.base.JoinPath(string(t))
	at.RawQuery = url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(offset)},
		"sort": {"sourcedId"}, "orderBy": {"asc"}}.Encode()
	options := []backoff.RetryOption{backoff.WithMaxElapsedTime(fetchPatience)}
	if f.Wait != nil {
		options = append(options, backoff.WithBackOff(f.Wait))
	}
	answer, err := backoff.Retry(ctx, func() (*answer, error) { return f.once(ctx, at.String()) }, options...)
	if err != nil {
		return nil, 0, err
	}
	var all map[string]json.RawMessage
	if err = json.Unmarshal(answer.text, &all); err == nil {
		err = json.Unmarshal(all[string(t)], &page)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("the answer is not in OneRoster's format: %w", err)
	}
	return page, answer.total, nil
}

type answer struct {
	text  []byte
	total int
}

// once asks once. An error that is not permanent may pass.
func (f *fetching) once(ctx context.Context, address string) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("Accept", "application/json")
	res, err := f.client.Do(request)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = fmt.Errorf("the token was refused: %s %s", refused.Response.Status, refused.ErrorCode)
		if refused.Response.StatusCode < http.StatusInternalServerError {
			err = backoff.Permanent(err)
		}
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			return nil, backoff.RetryAfter(seconds)
		}
		return nil, errors.New(res.Status)
	case res.StatusCode >= http.StatusInternalServerError:
		return nil, errors.New(res.Status)
	case res.StatusCode != http.StatusOK:
		return nil, backoff.Permanent(errors.New(res.Status))
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err == nil && len(text) > maxPage {
		return nil, backoff.Permanent(fmt.Errorf("a page has more than %d MiB", maxPage>>20))
	}
	total, _ := strconv.Atoi(res.Header.Get("X-Total-Count")) // optional
	return &answer{text, total}, err
}
