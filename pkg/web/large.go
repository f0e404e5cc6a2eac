package web

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web/room"
)

const (
	// maxList bounds a list, in bytes. Other services may get twice as much.
	maxList      = 8 << 20
	maxListInner = 2 * maxList
	// aroundList bounds the rest of an answer around its list.
	aroundList = 4 << 10

	// stallTime is how long the next sentAtOnce bytes of a large answer may take.
	stallTime  = 5 * time.Second
	sentAtOnce = 64 << 10
)

// tooLong refuses a list that has no pages.
func tooLong() error {
	return problem.New(problem.Malformed, "the list would have more than %d bytes: ask for less", maxList)
}

// OKPage answers 200 with a page of a list: the items, or as many as fit below 8 MiB. next is where the page after all
// items begins, and place returns where the page after the item of an index begins. Items of one place stay together.
func OKPage[T any](c *fiber.Ctx, name string, items []T, next Field, place func(i int) Field) error {
	var list []byte
	var err error
	ends := make([]int, 0, len(items))
	for i := range items {
		if list, err = appendItem(list, i, &items[i]); err != nil {
			return err
		}
		if ends = append(ends, len(list)); len(list) > maxList-aroundList {
			for i > 0 && place(i-1) == place(i) {
				i--
			}
			if i == 0 {
				return tooLong()
			}
			list = list[:ends[i-1]]
			next = place(i - 1)
			break
		}
	}
	if hold := room.Of(c.UserContext()); len(list) > room.Small && hold.Size() == 0 {
		if err := hold.Take(c.UserContext(), int64(len(list))); err != nil {
			return err
		}
	}
	LinkNext(c, next)
	return OK(c, listField(name, list), next)
}

// OKList is OKPage for a list in order of id, unless there is an error, which it returns. next is the id after which
// the page after all items begins, 0 after the last page.
func OKList[T, F any](
	c *fiber.Ctx, name string, items []T, next int64, err error, shape func(T) F, id func(T) int64,
) error {
	if err != nil {
		return err
	}
	return OKPage(c, name, sequence.Map(items, shape), Next(c, next),
		func(i int) Field { return Next(c, id(items[i])) })
}

// listField is the list of items that were written one by one.
func listField(name string, list []byte) Field {
	if len(list) == 0 {
		list = append(list, '[')
	}
	return Field{name, json.RawMessage(append(list, ']'))}
}

// OKEach answers 200 with a list that has no pages and whose items are made one by one. As soon as it exceeds 8 MiB, it
// returns Malformed. Its handler must have called TakeRoom.
func OKEach[T any](c *fiber.Ctx, name string, items iter.Seq[T]) error {
	var list []byte
	var err error
	i := 0
	for item := range items {
		if list, err = appendItem(list, i, &item); err != nil {
			return err
		}
		if i++; len(list) > maxList-aroundList {
			return tooLong()
		}
	}
	return OK(c, listField(name, list))
}

// TakeRoom takes room for the largest answer, for a list that may be larger than its sources. Call it before asking for
// anything, so that no request that waits for room already holds some.
func TakeRoom(c *fiber.Ctx) error { return room.Of(c.UserContext()).Take(c.UserContext(), maxList) }

// makeRoom gives a request a Hold for a large answer, which keeps its room until the answer is sent. An answer that is
// too long is refused.
func makeRoom(o Options, r Route) fiber.Handler {
	most := maxList
	if r.Access == Neighbour {
		most = maxListInner
	}
	return func(c *fiber.Ctx) error {
		hold, sending := o.Bounds.answers.For(Principal(c).UserID), false
		defer func() {
			if !sending {
				hold.Release()
			}
		}()
		c.SetUserContext(room.With(c.UserContext(), hold))
		if err := c.Next(); err != nil {
			return err
		}
		if c.Response().IsBodyStream() {
			return nil
		}
		body := c.Response().Body()
		if len(body) > most {
			return tooLong()
		}
		// Answers without a user are not counted: anyone could block everyone's room by reading them slowly.
		if hold.Size() == 0 && len(body) > room.Small && Principal(c).UserID != 0 {
			if err := hold.Take(c.UserContext(), int64(len(body))); err != nil {
				return err
			}
		}
		compress(c, o.Bounds.compressors)
		body = c.Response().Body()
		if hold.Size() == 0 || len(body) <= room.Small {
			return nil
		}
		hold.Shrink(int64(len(body)))
		c.Context().Response.SetBodyStream(&heldBody{bytes.NewBuffer(body), hold, c.Context().Conn()}, len(body))
		sending = true
		return nil
	}
}

// heldBody is an answer that is being sent. The server closes it when it is sent, or when its connection has ended.
type heldBody struct {
	*bytes.Buffer
	hold       *room.Hold
	connection net.Conn
}

// WriteTo implements io.WriterTo. The room is shared: a client that reads nothing for stallTime loses its connection.
func (b *heldBody) WriteTo(w io.Writer) (written int64, err error) {
	for end := time.Now().Add(writeTimeout); b.Len() > 0 && err == nil; {
		deadline := time.Now().Add(stallTime)
		if deadline.After(end) {
			deadline = end
		}
		if err = b.connection.SetWriteDeadline(deadline); err == nil {
			var n int
			n, err = w.Write(b.Next(sentAtOnce)) // io.Copy would write as little at once as the server's buffer holds
			written += int64(n)
		}
	}
	return written, err
}

func (b *heldBody) Close() error {
	b.hold.Release()
	return nil
}
