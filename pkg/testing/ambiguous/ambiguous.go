// Package ambiguous has requests whose end two programs may see in different places. A server that accepts one of them
// lets a client put a request into the connection of another (request smuggling).
package ambiguous

import "strings"

// Target is where the requests go: paths that take GET and POST, a path that takes DELETE, one that takes POST with a
// session alone, and one that does not exist.
type Target struct {
	Read, Write, Gone, Own, Nowhere string

	Headers string // lines that the requests have besides, each with its end
}

// Requests returns them by what is wrong with each. None has anything after it.
func Requests(o Target) map[string]string {
	const (
		body   = "2\r\n{}\r\n0\r\n\r\n"
		bad    = "2;\nxx\r\n{}\r\n0\r\n\r\n"
		spaces = "                    "
	)
	get := "GET " + o.Read + " HTTP/1.1\r\nHost: x\r\n" + o.Headers
	post := "POST " + o.Write + " HTTP/1.1\r\nHost: x\r\n" + o.Headers
	chunked := post + "Transfer-Encoding: chunked\r\n\r\n"
	return map[string]string{
		"two equal Content-Lengths":      post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		"two Content-Lengths":            post + "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
		"a list of Content-Lengths":      post + "Content-Length: 2, 2\r\n\r\n{}",
		"Content-Length with a sign":     post + "Content-Length: +2\r\n\r\n{}",
		"negative Content-Length":        post + "Content-Length: -2\r\n\r\n{}",
		"hexadecimal Content-Length":     post + "Content-Length: 0x2\r\n\r\n{}",
		"empty Content-Length":           post + "Content-Length: \r\n\r\n{}",
		"Content-Length with a fraction": post + "Content-Length: 2.0\r\n\r\n{}",
		"Content-Length of two words":    post + "Content-Length: 2 2\r\n\r\n{}",
		"Content-Length beyond 64 bits":  post + "Content-Length: 18446744073709551618\r\n\r\n{}",
		"Content-Length in other digits": post + "Content-Length: \u0662\r\n\r\n{}",
		"Content-Length, then chunked":   post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
		"chunked, then Content-Length": post + "Transfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n" +
			body,
		"chunked with a length of nothing": post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
		"unknown Transfer-Encoding":        post + "Transfer-Encoding: xchunked\r\n\r\n" + body,
		"Transfer-Encoding identity":       post + "Transfer-Encoding: identity\r\n\r\n" + body,
		"identity with Content-Length":     post + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
		"gzip before chunked":              post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + body,
		"chunked before identity":          post + "Transfer-Encoding: chunked, identity\r\n\r\n" + body,
		"chunked, far from identity": post + "Transfer-Encoding: chunked" + spaces + ", identity\r\n\r\n" +
			body,
		"chunked twice": post + strings.Repeat("Transfer-Encoding: chunked\r\n", 2) + "\r\n" +
			body,
		"chunked in quotes":                 post + "Transfer-Encoding: \"chunked\"\r\n\r\n" + body,
		"chunked after a vertical tab":      post + "Transfer-Encoding: \vchunked\r\n\r\n" + body,
		"empty Transfer-Encoding":           post + "Transfer-Encoding:\r\n\r\n" + body,
		"chunked in HTTP/1.0":               strings.Replace(chunked, "HTTP/1.1", "HTTP/1.0", 1) + body,
		"space before the colon":            post + "Content-Length : 2\r\n\r\n{}",
		"tab before the colon":              post + "Transfer-Encoding\t: chunked\r\n\r\n" + body,
		"space in a name":                   post + "Content Length: 2\r\nX: y\r\n\r\n",
		"no colon":                          post + "X\r\n\r\n",
		"no name":                           post + ": y\r\n\r\n",
		"name with NUL":                     post + "X\x00: y\r\n\r\n",
		"value with NUL":                    post + "X: y\x00\r\n\r\n",
		"folded line":                       post + "X: y\r\n z\r\n\r\n",
		"folded Transfer-Encoding":          post + "Transfer-Encoding:\r\n chunked\r\n\r\n" + body,
		"folded first line":                 "GET " + o.Read + " HTTP/1.1\r\n X: y\r\nHost: x\r\n\r\n",
		"bare LF after the request line":    "GET " + o.Read + " HTTP/1.1\nHost: x\r\n\r\n",
		"bare LF after a header":            "GET " + o.Read + " HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
		"bare LF at the end of the headers": get + "\n",
		"bare LFs throughout":               "GET " + o.Read + " HTTP/1.1\nHost: x\n\n",
		"bare LF first":                     "\n" + get + "\r\n",
		"two empty lines first":             "\r\n\r\n" + get + "\r\n",
		"bare CR in a value":                post + "X: y\rTransfer-Encoding: chunked\r\n\r\n" + body,
		"bare CR in a name":                 post + "X\rContent-Length: 2\r\n\r\n{}",
		"bare CR in the request line":       "GET " + o.Read + "\rHTTP/1.1\r\nHost: x\r\n\r\n",
		"two spaces in the request line":    "GET  " + o.Read + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"tab in the request line":           "GET\t" + o.Read + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"space after the version":           "GET " + o.Read + " HTTP/1.1 \r\nHost: x\r\n\r\n",
		"HTTP/0.9":                          "GET " + o.Read + "\r\n\r\n",
		"HTTP/1.2":                          "GET " + o.Read + " HTTP/1.2\r\nHost: x\r\n\r\n",
		"HTTP/2":                            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"no Host":                           "GET " + o.Read + " HTTP/1.1\r\n\r\n",
		"two Hosts":                         get + "Host: y\r\n\r\n",
		"garbage":                           "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"LF in a chunk's extension":         chunked + bad,
		"CR in a chunk's extension":         chunked + "2;x\rx\r\n{}\r\n0\r\n\r\n",
		"long extension of a chunk":         chunked + "2;" + strings.Repeat("x", 300) + "\r\n{}\r\n0\r\n\r\n",
		"bare LF after a chunk's size":      chunked + "2\n{}\r\n0\r\n\r\n",
		"bare LF after a chunk":             chunked + "2\r\n{}\n0\r\n\r\n",
		"chunk longer than its size":        chunked + "1\r\n{}\r\n0\r\n\r\n",
		"chunk's size with a sign":          chunked + "+2\r\n{}\r\n0\r\n\r\n",
		"negative chunk":                    chunked + "-2\r\n{}\r\n0\r\n\r\n",
		"chunk's size with 0x":              chunked + "0x2\r\n{}\r\n0\r\n\r\n",
		"chunk without size":                chunked + "\r\n{}\r\n0\r\n\r\n",
		"chunk's size after a space":        chunked + " 2\r\n{}\r\n0\r\n\r\n",
		"space after a chunk's size":        chunked + "2 \r\n{}\r\n0\r\n\r\n",
		"chunk's size beyond 32 bits":       chunked + "100000002\r\n{}\r\n0\r\n\r\n",
		"chunk's size beyond 64 bits":       chunked + "10000000000000002\r\n{}\r\n0\r\n\r\n",
		"trailer field":                     chunked + "2\r\n{}\r\n0\r\nX: y\r\n\r\n",
		"trailer ended by bare LFs":         chunked + "2\r\n{}\r\n0\r\nX: y\n\n",
		"bare LF after the last chunk":      chunked + "2\r\n{}\r\n0\r\n\n",
		"bad chunk of an unneeded body":     strings.Replace(chunked, "POST "+o.Write, "DELETE "+o.Gone, 1) + bad,
		"bad chunk without a session":       strings.Replace(chunked, o.Write, o.Own, 1) + bad,
		"bad chunk to an unknown path":      strings.Replace(chunked, o.Write, o.Nowhere, 1) + bad,
	}
}
