package main

// idealNs is what each packet's one-way delay would be on a perfect path: its wait for the bottleneck (Lindley's
// recursion over the times at which the packets were really sent), its own serialisation, the delay. It is written
// apart from netpath's shaper, so that a mistake there is not repeated here.
func idealNs(plan []planned, sentNs []int64, rateMbps, delayMs float64) []float64 {
	ideal := make([]float64, len(plan))
	var free float64 // when the bottleneck is next free, since the first packet
	for i, p := range plan {
		sent := float64(sentNs[i] - sentNs[0])
		done := sent
		if rateMbps > 0 {
			done = max(sent, free) + gapNs(int(p.size), rateMbps)
			free = done
		}
		ideal[i] = done - sent + delayMs*1e6
	}
	return ideal
}
