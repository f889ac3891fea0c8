package extension

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"adaptive-h3/bench/instrument/k6/load"
	"adaptive-h3/bench/instrument/k6/session"
)

// visitOptions are the second argument of visit; all may be left out.
type visitOptions struct {
	FirstProtocol session.Protocol `json:"firstProtocol"` // h2
	Switch        session.Switch   `json:"switch"`        // background, as browsers do
	// Paths that every page loads after its document.
	Subresources []string `json:"subresources"`
	// How often the page is loaded within the session, and the pause between.
	Pages         int               `json:"pages"` // 1
	PauseMs       float64           `json:"pauseMs"`
	Parallel      int               `json:"parallel"`
	TimeoutMs     float64           `json:"timeoutMs"` // 60,000
	ClientAddress string            `json:"clientAddress"`
	CAFile        string            `json:"caFile"`
	Tags          map[string]string `json:"tags"`
}

func (o visitOptions) spec(text string) (load.Spec, error) {
	target, err := url.Parse(text)
	if err != nil {
		return load.Spec{}, err
	}
	if target.Scheme != "https" || target.Hostname() == "" {
		return load.Spec{}, fmt.Errorf("%q is no https URL, and only those have alternatives over HTTP/3", text)
	}
	port := 443
	if target.Port() != "" {
		if port, err = strconv.Atoi(target.Port()); err != nil {
			return load.Spec{}, fmt.Errorf("%q: %w", text, err)
		}
	}
	if o.Pages < 0 {
		return load.Spec{}, errors.New("pages must be above 0")
	}
	page := load.PageSpec{Document: target.RequestURI(), Subresources: o.Subresources, PauseAfterMs: o.PauseMs}
	return load.Spec{
		ID:            text,
		ClientAddress: o.ClientAddress,
		Origin:        load.Origin{Host: target.Hostname(), Port: port, CAFile: o.CAFile},
		TimeoutMs:     cmp.Or(o.TimeoutMs, 60_000),
		Switch:        cmp.Or(o.Switch, session.SwitchBackground),
		Parallel:      o.Parallel,
		Tags:          o.Tags,
		Sessions: []load.SessionSpec{{
			Timed:         true,
			FirstProtocol: cmp.Or(o.FirstProtocol, session.H2),
			Pages:         slices.Repeat([]load.PageSpec{page}, cmp.Or(o.Pages, 1)),
		}},
	}, nil
}
