package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web/sealed"
)

// State identifies a version of a record: its kind ("event"), its id, and its version in the store.
type State struct {
	Kind    string
	ID      int64
	Version int64
	// Sealed says that the viewer may not learn the version, which hidden changes raise too.
	Sealed bool
}

// Record answers as OK does, with the state's entity tag: "event-12-3-" and a hash of the body, so that different
// answers have different tags, such as when another record's name changes. A GET whose If-None-Match has it is answered
// 304 without a body. A sealed version, "event-12.SEAL.", is written differently in each answer, and is left out of
// that comparison.
func Record(c *fiber.Ctx, s State, fields ...Field) error {
	if err := OK(c, fields...); err != nil {
		return err
	}
	of, sum := fmt.Sprintf("%s-%d", s.Kind, s.ID), sha256.Sum256(c.Response().Body())
	tag := fmt.Sprintf("%s-%d-%x", of, s.Version, sum[:8])
	if s.Sealed {
		tag = fmt.Sprintf("%s.%s.%x", of, sealVersion(c, s.Version, of), sum[:8])
	}
	tagAnswer(c, tag)
	return nil
}

// versionBytes is the length of a version in a seal, and of the random bytes before it.
const versionBytes = 8

// sealVersion seals the version of a record ("event-12") in a new text.
func sealVersion(c *fiber.Ctx, version int64, of string) string {
	text := make([]byte, versionBytes, 2*versionBytes)
	_, _ = rand.Read(text) // it never fails
	return c.Locals(versionsKey).(*sealed.Box).Seal(binary.BigEndian.AppendUint64(text, uint64(version)), of)
}

// openVersion returns the version that was sealed of a record ("event-12").
func openVersion(c *fiber.Ctx, seal, of string) (version int64, ok bool) {
	text, ok := c.Locals(versionsKey).(*sealed.Box).Open(seal, of)
	if !ok || len(text) != 2*versionBytes {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(text[versionBytes:])), true
}

// sealless is a tag without the sealed version that it may have.
func sealless(tag string) string {
	of, rest, _ := strings.Cut(tag, ".")
	if _, hash, has := strings.Cut(rest, "."); has {
		return of + "." + hash
	}
	return tag
}

// File answers with a file that is not JSON, which clients may keep but must revalidate each time. Its entity tag is a
// hash of it; a GET whose If-None-Match has that is answered 304 without a body.
func File(c *fiber.Ctx, media string, content []byte) error {
	c.Set(fiber.HeaderContentType, media)
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	if err := c.Send(content); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	tagAnswer(c, fmt.Sprintf("%x", sum[:16]))
	return nil
}

// tagAnswer gives the answer its entity tag, and removes its body when the client has it. The tag of a compressed
// answer ends with the encoding, since strong tags differ where bytes do (RFC 9110, 8.8.3.3).
func tagAnswer(c *fiber.Ctx, tag string) {
	e, varies := encodingOf(c, len(c.Response().Body()))
	if varies && e != identity {
		tag += "-" + e.String()
	}
	c.Set(fiber.HeaderETag, strconv.Quote(tag))
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return
	}
	known, star, _ := tags(c, fiber.HeaderIfNoneMatch) // an unreadable header does no harm: the answer is complete
	if !star && !slices.ContainsFunc(known, func(k string) bool { return sealless(k) == sealless(tag) }) {
		return
	}
	if varies {
		c.Set(fiber.HeaderVary, variesBy)
	}
	c.Response().ResetBody()
	c.Response().Header.Del(fiber.HeaderContentType)
	c.Status(fiber.StatusNotModified)
}

// IfMatch returns the request's If-Match for the record of that kind and id. Tags are compared by version alone: a
// change of a name that another service owns, or a proxy that made the tag a weak one, does not matter. Malformed when
// it is not a list of tags.
func IfMatch(c *fiber.Ctx, kind string, id int64) (record.Match, error) {
	known, star, err := tags(c, fiber.HeaderIfMatch)
	if err != nil || star || known == nil {
		return record.Match{}, err
	}
	var versions []int64
	of := fmt.Sprintf("%s-%d", kind, id)
	for _, tag := range known {
		version, ok := int64(0), false
		if text, plain := strings.CutPrefix(tag, of+"-"); plain {
			text, _, _ = strings.Cut(text, "-")
			version, ok = ParseID(text)
		} else if text, is := strings.CutPrefix(tag, of+"."); is {
			seal, _, _ := strings.Cut(text, ".")
			version, ok = openVersion(c, seal, of)
		}
		if ok {
			versions = append(versions, version)
		}
	}
	return record.Versions(versions...), nil
}

// tags reads a header that is a list of entity tags (RFC 9110, 8.8.3), without their quotes and W/, or a star. It
// returns nil when there is no such header.
func tags(c *fiber.Ctx, header string) (list []string, star bool, err error) {
	lines := c.Request().Header.PeekAll(header)
	if len(lines) == 0 {
		return nil, false, nil
	}
	texts := sequence.Map(lines, func(line []byte) string { return string(line) })
	list, star, ok := parseTags(strings.Join(texts, ","))
	if !ok {
		return nil, false, problem.New(problem.Malformed, "%s is not a list of entity tags", header)
	}
	return list, star, nil
}

// parseTags reads a list of at least one tag; tags may hold commas. Empty entries are skipped, as RFC 9110, 5.6.1 asks.
func parseTags(text string) (list []string, star, ok bool) {
	if strings.Trim(text, " \t") == "*" {
		return nil, true, true
	}
	for text = strings.TrimLeft(text, " \t,"); text != ""; text = strings.TrimLeft(text, " \t,") {
		rest, quoted := strings.CutPrefix(strings.TrimPrefix(text, "W/"), `"`)
		tag, rest, closed := strings.Cut(rest, `"`)
		rest = strings.TrimLeft(rest, " \t")
		if !quoted || !closed || strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == 0x7f }) ||
			(rest != "" && rest[0] != ',') {
			return nil, false, false
		}
		list = append(list, tag)
		text = rest
	}
	return list, false, len(list) > 0
}
