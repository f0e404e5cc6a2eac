package api

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
)

// maxContacts bounds the contacts of security.txt.
const maxContacts = 10

// Check reports what RFC 9116 does not allow.
func (s SecurityTxt) Check() error {
	if (len(s.Contacts) == 0) != (s.Expires == "") {
		return errors.New("BELFRY_SECURITY_EXPIRES: needed with BELFRY_SECURITY_CONTACTS, and only then")
	}
	if len(s.Contacts) > maxContacts {
		return fmt.Errorf("BELFRY_SECURITY_CONTACTS: more than %d", maxContacts)
	}
	for _, contact := range s.Contacts {
		address, err := url.Parse(contact)
		if err != nil || strings.ContainsAny(contact, " \t\r\n") {
			return errors.New("BELFRY_SECURITY_CONTACTS: not an address, such as mailto:security@school.example")
		}
		switch {
		case address.Scheme == "https" && address.Host != "":
		case address.Scheme == "mailto" && strings.Contains(address.Opaque, "@"):
		case address.Scheme == "tel" && address.Opaque != "":
		default:
			return errors.New("BELFRY_SECURITY_CONTACTS: each must be an https:, mailto: or tel: address")
		}
	}
	if _, err := time.Parse(time.RFC3339, s.Expires); s.Expires != "" && err != nil {
		return errors.New("BELFRY_SECURITY_EXPIRES: not a time, such as 2027-06-30T00:00:00Z")
	}
	return nil
}

// expired says whether readers must no longer rely on it.
func (s SecurityTxt) expired(now time.Time) bool {
	expires, err := time.Parse(time.RFC3339, s.Expires)
	return err == nil && expires.Before(now)
}

// show answers GET /.well-known/security.txt.
func (s SecurityTxt) show(c *fiber.Ctx) error {
	if len(s.Contacts) == 0 {
		return problem.New(problem.NotFound, "")
	}
	var text strings.Builder
	for _, contact := range s.Contacts {
		fmt.Fprintf(&text, "Contact: %s\n", contact)
	}
	fmt.Fprintf(&text, "Expires: %s\n", s.Expires)
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	return c.SendString(text.String())
}
