package admission

import "net/netip"

const (
	networkBits = 48
	// A network has as much as so many clients.
	clientsOfNetwork = 2
)

// Client is what counts as one client where there are limits for each: an IPv4 address, or an IPv6 /64, which is what one
// customer has. An address that is invalid gives an invalid prefix.
func Client(address netip.Addr) netip.Prefix {
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // which is invalid where address is
	return prefix
}

// Tally counts places: in all, of each client, and of each network, which is an IPv6 /48. Whoever has one of these can ask from
// 65,536 /64s.
type Tally struct {
	all               int
	clients, networks map[netip.Prefix]int
}

// NewTally counts nothing yet.
func NewTally() Tally {
	return Tally{clients: map[netip.Prefix]int{}, networks: map[netip.Prefix]int{}}
}

// All returns how many places there are.
func (t *Tally) All() int { return t.all }

// Of returns how many are this client's.
func (t *Tally) Of(client netip.Prefix) int { return t.clients[client] }

// Room says whether another place of this client stays within what one client may have.
func (t *Tally) Room(client netip.Prefix, perClient int) bool {
	if t.clients[client] >= perClient {
		return false
	}
	network, is := networkOf(client)
	return !is || t.networks[network] < clientsOfNetwork*perClient
}

// Add counts a place of this client.
func (t *Tally) Add(client netip.Prefix) {
	t.all++
	t.clients[client]++
	if network, is := networkOf(client); is {
		t.networks[network]++
	}
}

// Remove counts it no more.
func (t *Tally) Remove(client netip.Prefix) {
	t.all--
	take(t.clients, client)
	if network, is := networkOf(client); is {
		take(t.networks, network)
	}
}

// take takes one away, and forgets who has none.
func take(of map[netip.Prefix]int, whose netip.Prefix) {
	if of[whose]--; of[whose] <= 0 {
		delete(of, whose)
	}
}

func networkOf(client netip.Prefix) (network netip.Prefix, is bool) {
	if !client.Addr().Is6() {
		return netip.Prefix{}, false
	}
	network, err := client.Addr().Prefix(networkBits)
	return network, err == nil
}

// Akin says whether two clients are the same, or of one network.
func Akin(a, b netip.Prefix) bool {
	if a == b {
		return true
	}
	network, is := networkOf(a)
	other, too := networkOf(b)
	return is && too && network == other
}
