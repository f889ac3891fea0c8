package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// answer is what the origin says. It depends on the request alone, so the client can tell whether every byte is right.
type answer struct {
	status int
	header http.Header
	body   []byte
	// lie says how the origin breaks HTTP's rules while it sends this answer; "": it keeps them.
	lie string
}

// The ways to lie. The path /lie/KIND/... asks for one.
const (
	lieLength = "length" // announces twice what it sends, then closes the connection
	lieChunk  = "chunk"  // closes the connection in the middle of a chunked body
	lieExcess = "excess" // sends more than it announced
)

var lies = []string{lieLength, lieChunk, lieExcess}

// answerTo gives the answer to a request. Paths are /KIND/SIZE/ID, and /lie/KIND/SIZE/ID. digest is the SHA-256 of the
// request's body, in hex; "" if the request has none.
func answerTo(method, path, digest string) answer {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	a := answer{status: http.StatusOK}
	kind := parts[0]
	if kind == "lie" && len(parts) > 1 {
		a.lie = parts[1]
		parts = parts[1:]
	}
	size := 0
	if len(parts) > 1 {
		size, _ = strconv.Atoi(parts[1])
	}
	seed := sha256.Sum256([]byte(method + " " + path + " " + digest))
	contentType := "application/octet-stream"
	switch kind {
	case "page":
		contentType = "text/html; charset=utf-8"
	case "missing":
		a.status = http.StatusNotFound
	case "unwell":
		a.status = http.StatusServiceUnavailable
	}
	a.body = bytesOf(path, size)
	if digest != "" {
		a.body = []byte(digest + " " + path)
	}
	a.header = http.Header{
		"Content-Type": {contentType},
		"Etag":         {`"` + hex.EncodeToString(seed[8:16]) + `"`},
		"Set-Cookie":   {"a=" + hex.EncodeToString(seed[16:20]), "b=" + hex.EncodeToString(seed[20:24])},
		"X-Origin":     {hex.EncodeToString(seed[:8])},
	}
	return a
}

// bytesOf gives the bytes that belong to a path.
func bytesOf(path string, size int) []byte {
	body := make([]byte, size)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(path))).Read(body)
	return body
}

// addedOnTheWay names the headers that an answer may have besides the origin's own. A page that is asked to report has Server-Timing.
var addedOnTheWay = map[string]bool{"Alt-Svc": true, "Connection": true, "Content-Length": true, "Date": true, "Server-Timing": true}

// got is what a client received of an answer.
type got struct {
	status int
	header http.Header
	body   []byte
	// length is the Content-Length, -1 if there was none.
	length int64
	err    error
}

// The outcomes of a request.
const (
	right   = "right"
	ours    = "own"     // a 502, 503 or 504 that is not the origin's
	aborted = "aborted" // visibly broken
	refused = "refused" // no connection was to be had
	wrong   = "wrong"
)

// judge compares what a client received with the origin's answer. Its second result says what is wrong.
func judge(method string, a answer, g got) (outcome, what string) {
	breaks := a.lie == lieLength || a.lie == lieChunk
	switch {
	case g.status == 0 && breaks:
		// The edge may learn that the answer breaks off before it has sent the header on.
		return right, ""
	case g.status == 0:
		return aborted, g.err.Error()
	}
	if g.header.Get("X-Origin") == "" && g.err == nil {
		switch g.status {
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return ours, string(g.body)
		}
	}
	if g.status != a.status {
		return wrong, "status " + strconv.Itoa(g.status) + " instead of " + strconv.Itoa(a.status) + ": " + string(g.body[:min(len(g.body), 100)])
	}
	for name, values := range a.header {
		if strings.Join(g.header[name], "|") != strings.Join(values, "|") {
			return wrong, "header " + name + ": " + strings.Join(g.header[name], "|")
		}
	}
	for name := range g.header {
		if a.header[name] == nil && !addedOnTheWay[name] {
			return wrong, "header " + name + " is not the origin's"
		}
	}
	want := a.body
	if method == http.MethodHead {
		if g.length >= 0 && g.length != int64(len(want)) {
			return wrong, "Content-Length of a HEAD " + strconv.FormatInt(g.length, 10)
		}
		want = nil
	}
	if !bytes.HasPrefix(want, g.body) {
		return wrong, "other bytes in the body"
	}
	switch {
	case g.err != nil && breaks:
		return right, ""
	case g.err != nil:
		return aborted, g.err.Error()
	case breaks:
		return wrong, "a broken answer (" + a.lie + ") came as a success of " + strconv.Itoa(len(g.body)) + " bytes"
	case len(g.body) < len(want):
		return wrong, "cut off without a sign after " + strconv.Itoa(len(g.body)) + " of " + strconv.Itoa(len(want)) + " bytes"
	}
	return right, ""
}
