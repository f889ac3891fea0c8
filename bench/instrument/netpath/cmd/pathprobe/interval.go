package main

import "math"

// clopperPearson is the exact interval of a ratio k/n. Both may be fractions: with losses in bursts, n packets tell
// as much as n/dispersion independent ones.
func clopperPearson(k, n, confidence float64) (low, high float64) {
	alpha := (1 - confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = betaQuantile(alpha, k, n-k+1)
	}
	if k < n {
		high = betaQuantile(1-alpha, k+1, n-k)
	}
	return low, high
}

func betaQuantile(p, a, b float64) float64 {
	low, high := 0.0, 1.0
	for range 200 {
		middle := (low + high) / 2
		if betaCDF(middle, a, b) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// betaCDF is the regularised incomplete beta function.
func betaCDF(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	if x > (a+1)/(a+b+2) { // where the fraction converges fast
		return 1 - betaCDF(1-x, b, a)
	}
	lab, _ := math.Lgamma(a + b)
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	return math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a * betaFraction(x, a, b)
}

// betaFraction is the continued fraction DLMF 8.17.22, by Lentz's method.
func betaFraction(x, a, b float64) float64 {
	const tiny = 1e-300
	notZero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / notZero(1-(a+b)*x/(a+1))
	result := d
	for m := 1.0; m <= 10_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / notZero(1+even*d)
		c = notZero(1 + even/c)
		result *= c * d
		d = 1 / notZero(1+odd*d)
		c = notZero(1 + odd/c)
		result *= c * d
		if math.Abs(c*d-1) < 1e-14 {
			break
		}
	}
	return result
}
