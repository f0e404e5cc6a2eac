package web

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// smallest is the size up to which an answer is not compressed: it fits one packet.
	smallest = 1 << 10
	// compressorsAtMost bounds how many answers a process compresses at a time, whatever its processors. The others
	// wait, without a bound of their own: each takes as long as its few megabytes of processor time.
	compressorsAtMost = 4
	// window is how far back zstd looks for repetitions, in bytes. Records repeat within less.
	window = 128 << 10
)

// encoding is the encoding of an answer (RFC 9110, 8.4).
type encoding uint8

const (
	identity encoding = iota
	gzipped
	zstandard
)

// String returns its name in headers.
func (e encoding) String() string { return [...]string{"identity", "gzip", "zstd"}[e] }

// variesBy are the headers on which the encoding of an answer depends.
const variesBy = "Accept-Encoding, Origin, Sec-Fetch-Site"

// compressors compress whole answers. Their memory and their number are bounded.
type compressors struct {
	zstd *zstd.Encoder
	gzip chan *gzip.Writer // nil: not made yet
}

func newCompressors() *compressors {
	n := min(runtime.GOMAXPROCS(0), compressorsAtMost)
	// The fastest levels: docs/performance.md compares. The options are valid, so there is no error.
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(n),
		zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	c := &compressors{zstd: encoder, gzip: make(chan *gzip.Writer, n)}
	for range n {
		c.gzip <- nil
	}
	return c
}

// compress returns the text compressed. It waits while too many goroutines compress.
func (c *compressors) compress(e encoding, text []byte) []byte {
	out := make([]byte, 0, len(text)/4)
	if e == zstandard {
		return c.zstd.EncodeAll(text, out)
	}
	w := <-c.gzip
	defer func() { c.gzip <- w }()
	buffer := bytes.NewBuffer(out)
	if w == nil {
		w, _ = gzip.NewWriterLevel(buffer, gzip.BestSpeed) // the level is valid
	} else {
		w.Reset(buffer)
	}
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	return buffer.Bytes()
}

// chooseEncoding remembers how the request's answer will be sent if it has more than smallest bytes. Answers to
// requests that a page from elsewhere makes a browser send are not compressed: from the length, which others on the way
// can see, such a page could find out their contents (the BREACH attack).
func chooseEncoding(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		// a copy: the next call overwrites what PeekAll returns
		accepted := string(bytes.Join(c.Request().Header.PeekAll(fiber.HeaderAcceptEncoding), []byte(",")))
		e := identity
		if accepted != "" && !o.fromElsewhere(c) {
			e = negotiate(accepted)
		}
		c.Locals(encodingKey, e)
		return c.Next()
	}
}

// encodingOf returns the encoding of an answer with a body of that length, and false when it depends on no header.
func encodingOf(c *fiber.Ctx, length int) (encoding, bool) {
	e, chosen := c.Locals(encodingKey).(encoding)
	return e, chosen && length > smallest
}

// compressed compresses the answer of later handlers.
func compressed(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := c.Next(); err != nil {
			return err
		}
		compress(c, o.Bounds.compressors)
		return nil
	}
}

// compress compresses an answer that is a success. Streams, whose length is unknown, are sent as they are.
func compress(c *fiber.Ctx, all *compressors) {
	answer := c.Response()
	if answer.IsBodyStream() || answer.StatusCode() >= fiber.StatusMultipleChoices {
		return
	}
	body := answer.Body()
	e, varies := encodingOf(c, len(body))
	if !varies {
		return
	}
	c.Vary(variesBy) // beside what the handler has named
	if e == identity {
		return
	}
	answer.SetBodyRaw(all.compress(e, body))
	c.Set(fiber.HeaderContentEncoding, e.String())
}

// negotiate returns the encoding for a client that accepts these encodings (RFC 9110, 12.5.3): the one that it prefers,
// or else zstd. Invalid parts accept nothing.
func negotiate(accepted string) encoding {
	const unnamed = -1
	weights := [...]float64{identity: unnamed, gzipped: unnamed, zstandard: unnamed}
	others := 0.0
	for part := range strings.SplitSeq(accepted, ",") {
		name, parameter, weighted := strings.Cut(part, ";")
		weight := 1.0
		if weighted {
			weight = readWeight(parameter)
		}
		switch strings.ToLower(strings.Trim(name, " \t")) {
		case "zstd":
			weights[zstandard] = weight
		case "gzip", "x-gzip":
			weights[gzipped] = weight
		case "identity":
			weights[identity] = weight
		case "*":
			others = weight
		}
	}
	best := identity
	for e, weight := range weights {
		if weight == unnamed && encoding(e) != identity {
			weight, weights[e] = others, others
		}
		if weight > 0 && weight >= weights[best] {
			best = encoding(e)
		}
	}
	return best
}

// readWeight reads "q=0.5", and returns 0 for an invalid one.
func readWeight(parameter string) float64 {
	name, text, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
	weight, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.EqualFold(name, "q") || !(weight >= 0 && weight <= 1) {
		return 0
	}
	return weight
}
