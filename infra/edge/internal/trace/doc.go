// Package trace writes files for looking into the transports: congestion windows over time, and qlogs. It is not for
// serving visitors. Of this module it imports errorlog, measure and visitor; of other modules, quic-go.
package trace
