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

	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sync/errgroup"
)

// Browsers of today send these (Fetch Metadata); the worker tells a navigation from a subresource by them.
var (
	documentHeader = requestHeader("document", "navigate", "none")
	imageHeader    = requestHeader("image", "no-cors", "same-origin")
)

func requestHeader(destination, mode, site string) http.Header {
	return http.Header{
		"Accept-Encoding": {"identity"},
		"Sec-Fetch-Dest":  {destination},
		"Sec-Fetch-Mode":  {mode},
		"Sec-Fetch-Site":  {site},
		// One for all protocols: the libraries' own differ in length.
		"User-Agent": {"adaptive-h3-k6"},
	}
}

// LoadPage loads the document and then its subresources, some of them at a time. It ends with the last byte, or with the
// first failure, which stops the rest.
func (s *Session) LoadPage(document string, subresources ...string) error {
	began := time.Now()
	if s.began.IsZero() {
		s.began = began
	}
	if err := s.fetch(s.ctx, document, documentHeader); err != nil {
		return err
	}
	s.mu.Lock()
	before := len(s.report.Protocols)
	s.mu.Unlock()
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(s.config.Parallel)
	for _, path := range subresources {
		group.Go(func() error { return s.fetch(ctx, path, imageHeader) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	took := MsOf(time.Since(began))
	s.mu.Lock()
	s.report.Pages = append(s.report.Pages, took)
	overH3 := 0
	for _, protocol := range s.report.Protocols[before:] {
		if protocol == H3 {
			overH3++
		}
	}
	s.report.FilesH3 = append(s.report.FilesH3, overH3)
	s.mu.Unlock()
	return nil
}

// fetch loads one resource to its last byte.
func (s *Session) fetch(ctx context.Context, path string, header http.Header) error {
	connection, err := s.route(ctx)
	if err != nil {
		return err
	}
	response, err := s.send(ctx, connection, path, header)
	if err != nil {
		return fmt.Errorf("%s over %s: %w", path, connection.Protocol, err)
	}
	defer response.Body.Close()
	s.takeHeader(response)
	body := timedBody{Reader: response.Body, window: s.config.Counted}
	bytes, err := s.readMoving(ctx, &body, connection)
	if errors.Is(err, errMoved) {
		var rest int64
		rest, connection, err = s.askForRest(ctx, path, header, bytes, connection)
		bytes += rest
	}
	if err == nil {
		// What a server says while the deadline closes the connection can look like the end of a body.
		err = ctx.Err()
	}
	counted := bytes
	if s.config.Counted != nil {
		counted = body.bytes
	}
	s.ended(counted, connection)
	switch {
	case err != nil:
		return fmt.Errorf("%s over %s, after %d bytes of the body: %w", path, connection.Protocol, bytes, err)
	case response.ContentLength >= 0 && bytes != response.ContentLength:
		return fmt.Errorf("%s over %s: the body has %d bytes of %d", path, connection.Protocol, bytes, response.ContentLength)
	case response.StatusCode >= 400:
		return fmt.Errorf("%s over %s: status %d", path, connection.Protocol, response.StatusCode)
	}
	s.release(connection)
	return nil
}

func (s *Session) send(ctx context.Context, over *connection, path string, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.authority+path, nil)
	if err != nil {
		return nil, err
	}
	if over.Protocol == H3 {
		// A GET at once, in 0-RTT where the handshake is not complete (RFC 9001, section 4.6): only with Resumption.EarlyData.
		request.Method = http3.MethodGet0RTT
	}
	request.Header = header.Clone()
	return over.RoundTrip(request)
}

// takeHeader acts on the Alt-Svc of a response as soon as its header is there.
func (s *Session) takeHeader(response *http.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report.FirstByte == 0 {
		s.report.FirstByte = MsOf(time.Since(s.began))
	}
	lines := response.Header["Alt-Svc"]
	if len(lines) > 0 {
		s.report.AltSvc = strings.Join(lines, ", ")
	}
	// RFC 9111, section 5.1; what is no number is as if absent.
	age, _ := strconv.ParseUint(response.Header.Get("Age"), 10, 31)
	// In a 421 the field is to be ignored (RFC 7838, section 6). A malformed one is reported as it came, and does nothing.
	if response.StatusCode != http.StatusMisdirectedRequest {
		s.cache.Update(lines, time.Duration(age)*time.Second, s.config.Now())
	}
}

// countBytes reads with a buffer of 64 KB: io.Discard's 8 KB would cost several times the calls at high rates.
func countBytes(body io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{io.Discard}, body, make([]byte, 64<<10))
}
