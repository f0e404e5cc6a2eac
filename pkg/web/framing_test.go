package web

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// firstEnd returns where the first request ends by our framing, and false where it is refused or incomplete.
func firstEnd(text []byte) (int, bool) {
	var f framing
	for i := range text {
		if _, err := f.check(text[i : i+1]); err != nil {
			return 0, false
		}
		if f.at == atStart {
			return i + 1, true
		}
	}
	return 0, false
}

// FuzzFraming searches for a request that our framing accepts and that net/http or fasthttp end elsewhere.
func FuzzFraming(f *testing.F) {
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n",
		"\r\nPOST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\nGET /",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\nGET / HTTP/1.1\r\n\r\n",
		"POST / HTTP/1.1\nHost: x\r\nContent-Length : 2\r\n folded\r\n\r\n{}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end, ok := firstEnd(text)
		if !ok {
			return
		}
		for name, read := range map[string]func(*bufio.Reader) error{"net/http": readStandard, "fasthttp": readFast} {
			source := bytes.NewReader(text)
			buffer := bufio.NewReader(source)
			if read(buffer) != nil {
				continue // it refuses what we accept
			}
			valuetest.Same(t, len(text)-source.Len()-buffer.Buffered(), end,
				"%q ends after %d bytes; for %s after …", text, end, name)
		}
	})
}

func readStandard(r *bufio.Reader) error {
	request, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err
}

func readFast(r *bufio.Reader) error {
	var request fasthttp.Request
	return request.Read(r)
}
