package api

// keys lists the keys, in the order of the page.
func (h handlers) keys(v *visit) error {
	return v.show("keys", v.texts.T("keys.title"), []string{"/", "t", "←", "→", "r", "b", "i", "y", "n", "m", "?"})
}
