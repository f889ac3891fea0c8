package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Response is what is reported of a response.
type Response struct {
	Protocol Protocol
	Status   int
	// From the request, sent over an open connection, to the response's header.
	FirstByte time.Duration
	// Body bytes.
	Bytes int64
	// Alt-Svc as it came, its lines joined; empty where there was none.
	AltSvc string
}

// destination is what a request is for, as browsers say in Sec-Fetch-Dest (Fetch Metadata).
type destination string

const (
	toDocument destination = "document"
	toImage    destination = "image"
)

// Browsers of today send these; the worker tells a navigation from a subresource by them.
var requestHeader = map[destination]http.Header{
	toDocument: {
		"Accept-Encoding": {"identity"},
		"Sec-Fetch-Dest":  {"document"},
		"Sec-Fetch-Mode":  {"navigate"},
		"Sec-Fetch-Site":  {"none"},
		"User-Agent":      {userAgent},
	},
	toImage: {
		"Accept-Encoding": {"identity"},
		"Sec-Fetch-Dest":  {"image"},
		"Sec-Fetch-Mode":  {"no-cors"},
		"Sec-Fetch-Site":  {"same-origin"},
		"User-Agent":      {userAgent},
	},
}

// One for all protocols: the libraries' own differ in length.
const userAgent = "adaptive-h3-k6"

// fetch loads one resource to its last byte.
func (s *Session) fetch(ctx context.Context, path string, to destination) error {
	connection, err := s.route(ctx)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.authority+path, nil)
	if err != nil {
		return err
	}
	request.Header = requestHeader[to].Clone()
	sent := time.Now()
	response, err := connection.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s over %s: %w", path, connection.Protocol, err)
	}
	defer response.Body.Close()
	got := Response{Protocol: connection.Protocol, Status: response.StatusCode, FirstByte: time.Since(sent)}
	got.AltSvc = s.takeAltSvc(response)
	got.Bytes, err = s.readMoving(ctx, response.Body, connection)
	if errors.Is(err, errMoved) {
		var rest int64
		rest, connection, err = s.askForRest(ctx, path, to, got.Bytes, connection)
		got.Bytes += rest
	}
	if err == nil {
		// What a server says while the deadline closes the connection can look like the end of a body.
		err = ctx.Err()
	}
	s.note(got, connection)
	switch {
	case err != nil:
		return fmt.Errorf("%s over %s, after %d bytes of the body: %w", path, got.Protocol, got.Bytes, err)
	case response.ContentLength >= 0 && got.Bytes != response.ContentLength:
		return fmt.Errorf("%s over %s: the body has %d bytes of %d", path, got.Protocol, got.Bytes, response.ContentLength)
	case got.Status >= 400:
		return fmt.Errorf("%s over %s: status %d", path, got.Protocol, got.Status)
	}
	s.release(connection)
	return nil
}

// takeAltSvc acts on the Alt-Svc of a response as soon as its header is there.
func (s *Session) takeAltSvc(response *http.Response) string {
	lines := response.Header["Alt-Svc"]
	s.mu.Lock()
	if s.firstByte == 0 {
		s.firstByte = time.Since(s.began)
	}
	if len(lines) > 0 {
		s.altSvc = strings.Join(lines, ", ")
	}
	s.mu.Unlock()
	// In a 421 the field is to be ignored (RFC 7838, section 6). A malformed one is reported as it came, and does nothing.
	if response.StatusCode != http.StatusMisdirectedRequest {
		_ = s.cache.Update(s.origin, lines, age(response.Header), s.config.Now())
	}
	return strings.Join(lines, ", ")
}

// age reads Age (RFC 9111, section 5.1); what is no number is as if absent.
func age(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Age"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

func (s *Session) note(response Response, over *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.switched = s.switched || over.forAltSvc
	s.responses = append(s.responses, response)
}

// countBytes reads with a buffer of 64 KB: io.Discard's 8 KB would cost several times the calls at high rates.
func countBytes(body io.Reader) (int64, error) {
	buffer := make([]byte, 64<<10)
	var total int64
	for {
		n, err := body.Read(buffer)
		total += int64(n)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
