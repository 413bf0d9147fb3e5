package server

import (
	"net/http"
	"net/netip"
)

// A Proxy is what stands between people and the console, and has them log in. It names the caller of each request in a
// header, which it must remove from what clients send.
type Proxy struct {
	Header string         // name of the header, such as X-Forwarded-User
	From   []netip.Prefix // addresses of the proxy; the header of others counts for nothing
}

// holder returns the caller whom the proxy names. It returns nil if the request did not come from the proxy, has
// no name, or is not for the console or the API.
func (p *Proxy) holder(r *http.Request) *holder {
	if p == nil || !isPage(r) {
		return nil
	}
	names := r.Header.Values(p.Header)
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || len(names) != 1 || names[0] == "" || len(names[0]) > maxCaller {
		return nil
	}
	for _, prefix := range p.From {
		if prefix.Contains(from.Addr().Unmap()) {
			return &holder{name: names[0], only: []string{forOperate}}
		}
	}
	return nil
}

// maxCaller is the maximum length of a caller's name in bytes.
const maxCaller = 200
