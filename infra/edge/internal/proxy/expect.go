package proxy

import (
	"io"
	"net/http"
	"reflect"
	"strings"

	"adaptive-h3/infra/edge/internal/origin"
)

// passExpectation leaves in r's header what the origin has to know of an expectation, and says whether the visitor waits for 100
// (Continue). The servers say 100 by themselves when a handler first reads the body, HTTP/3's never.
func passExpectation(r *http.Request) bool {
	expects := strings.EqualFold(r.Header.Get("Expect"), "100-continue") || isAwaitedHTTP2(r.Body)
	if !expects {
		return false
	}
	// HTTP/1.0 has no interim responses; no body, nothing to wait for; and the worker's API never says 100.
	if !r.ProtoAtLeast(1, 1) || r.Body == nil || r.Body == http.NoBody || strings.HasPrefix(r.URL.Path, origin.OwnPrefix+"/") {
		r.Header.Del("Expect")
		return false
	}
	r.Header.Set("Expect", "100-continue")
	return true
}

// isAwaitedHTTP2 says whether HTTP/2's server will say 100 when body is read. It has taken the header away, and tells nobody else.
func isAwaitedHTTP2(body io.ReadCloser) bool {
	v := reflect.ValueOf(body)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return false
	}
	awaited := v.Elem().FieldByName("needsContinue")
	return awaited.IsValid() && awaited.Kind() == reflect.Bool && awaited.Bool()
}
