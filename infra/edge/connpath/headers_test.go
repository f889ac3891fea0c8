package connpath

import (
	"strings"
	"testing"
)

func TestForgeable(t *testing.T) {
	forged := []string{
		"CF-Connecting-IP", "cf-ray", "Cf_Connecting_Ip", "cF-iPcOuNtRy", "MF-CF-Blob", "mf_cf_blob", "MF-Anything",
		"True-Client-IP", "true_client_ip", "X-Real-IP", "x_real_ip", "Forwarded", "X-Forwarded-For", "X_Forwarded_Proto",
		"x-forwarded-anything", "X.Forwarded.For", "CF.Connecting.IP", "mf.cf.blob", "True.Client.IP",
	}
	// Every character that a name may have (RFC 9110, section 5.6.2) besides letters and digits.
	for _, between := range "!#$%&'*+-.^_`|~" {
		forged = append(forged, strings.ReplaceAll("X-Forwarded-For", "-", string(between)), strings.ReplaceAll("x-real-ip", "-", string(between)))
	}
	for _, name := range forged {
		if !forgeable(name) {
			t.Errorf("%s passes", name)
		}
	}
	for _, name := range []string{"Cookie", "Accept", "X-Cf", "CFO", "Host", "X-Realm", "Via", "Cdn-Loop"} {
		if forgeable(name) {
			t.Errorf("%s does not pass", name)
		}
	}
}
