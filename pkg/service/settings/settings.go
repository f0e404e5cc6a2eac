// Package settings reads a process's configuration from the environment (envconfig), checks it at start, prints it
// with the secrets masked, and writes its table for the documentation. A settings struct names its variables with the
// tags of envconfig (envconfig, default, required) and describes them with desc, which also states units and zones.
package settings

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// mask is the printed form of every secret.
const mask = "********"

// Secret is a value that is never printed: every way of formatting or encoding it returns a mask. Only Reveal returns
// the text.
type Secret struct{ text string }

// NewSecret returns the secret with that text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text. Pass it only to the code that needs it.
func (s Secret) Reveal() string { return s.text }

// Set says whether there is a text at all.
func (s Secret) Set() bool { return s.text != "" }

// String returns a mask, and nothing for an empty secret.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return mask
}

// GoString returns a mask, so that %#v does not show the text.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns a mask.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets the text, without the newline at its end that a file or an editor may have added.
func (s *Secret) UnmarshalText(text []byte) error {
	s.text = strings.TrimRight(string(text), "\r\n")
	return nil
}

// URI is the address of a store. It may hold a password, so it is printed without user, password and query.
type URI struct{ Secret }

// String returns the scheme and the hosts only.
func (u URI) String() string {
	if !u.Set() {
		return ""
	}
	parsed, err := url.Parse(u.Reveal())
	if err != nil || parsed.Host == "" {
		return mask
	}
	return parsed.Scheme + "://" + parsed.Host
}

// GoString is String, so that %#v does not show the text.
func (u URI) GoString() string { return u.String() }

// MarshalText is String as bytes.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Checker is a settings struct that has rules beyond the types of its fields.
type Checker interface {
	// Check returns what is wrong, with the names of the variables; nil when nothing is.
	Check() error
}

// Load fills the structs that targets point to from the environment and checks each. All faults are reported at once,
// by variable and never with the value of a secret.
func Load(targets ...any) error {
	var faults []error
	for _, target := range targets {
		if err := envconfig.Process("", target); err != nil {
			faults = append(faults, explain(err, Variables(target)))
			continue
		}
		if c, ok := target.(Checker); ok {
			faults = append(faults, c.Check())
		}
	}
	return errors.Join(faults...)
}

// explain says what a variable means whose text can't be parsed. It leaves the text out of envconfig's error: it may be
// a secret that was put into the wrong variable.
func explain(err error, all []Variable) error {
	parse, ok := errors.AsType[*envconfig.ParseError](err)
	if !ok {
		return err
	}
	of := sequence.By(all, func(v Variable) string { return v.Name })[parse.KeyName]
	return fmt.Errorf("%s: not a valid %s: %s", parse.KeyName, parse.TypeName, of.Description)
}

// Variable is one line of a process's configuration.
type Variable struct {
	Name        string
	Default     string
	Required    bool
	Description string
	Value       string // as printed: masked where secret
}

// Variables lists the configuration that targets hold, in the order of their fields, fields of embedded structs
// included.
func Variables(targets ...any) []Variable {
	var list []Variable
	for _, target := range targets {
		list = append(list, variables(reflect.Indirect(reflect.ValueOf(target)))...)
	}
	return list
}

func variables(v reflect.Value) []Variable {
	var list []Variable
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name := field.Tag.Get("envconfig")
		if name == "" {
			if field.Anonymous && value.Kind() == reflect.Struct {
				list = append(list, variables(value)...)
			}
			continue
		}
		list = append(list, Variable{
			Name: name, Default: field.Tag.Get("default"), Required: field.Tag.Get("required") == "true",
			Description: field.Tag.Get("desc"), Value: printed(value),
		})
	}
	return list
}

func printed(v reflect.Value) string {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return mask
		}
		return string(text)
	}
	return fmt.Sprint(v.Interface())
}

// WriteTable writes the configuration as a Markdown table for the documentation, without the values of this process.
func WriteTable(w io.Writer, list []Variable) error {
	var b strings.Builder
	b.WriteString("| variable | default | meaning |\n|---|---|---|\n")
	for _, v := range list {
		fallback := "`" + v.Default + "`"
		switch {
		case v.Required:
			fallback = "required"
		case v.Default == "":
			fallback = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, fallback, v.Description)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
