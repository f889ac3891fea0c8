package metadata

import "testing"

func TestForgeable(t *testing.T) {
	forged := []string{
		"CF-Connecting-IP", "cf-ray", "Cf_Connecting_Ip", "cF-iPcOuNtRy", "MF-CF-Blob", "mf_cf_blob", "MF-Anything",
		"True-Client-IP", "true_client_ip", "X-Real-IP", "x_real_ip", "Forwarded", "X-Forwarded-For", "X_Forwarded_Proto",
		"x-forwarded-anything",
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
