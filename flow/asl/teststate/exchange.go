package teststate

import "context"

// An Exchange is what an HTTP task sent and received when it was last tried.
type Exchange struct {
	Request  *HTTPRequest  // nil if nothing was sent
	Response *HTTPResponse // nil if nothing was received
}

// An HTTPRequest is the request of an HTTP task. Its JSON has AWS's names.
type HTTPRequest struct {
	Protocol string `json:"protocol,omitempty"` // http or https
	Method   string `json:"method,omitempty"`
	URL      string `json:"url,omitempty"`
	Headers  string `json:"headers,omitempty"` // [name: value, …]
	Body     string `json:"body,omitempty"`
}

// An HTTPResponse is the response to an HTTP task. Its JSON has AWS's names.
type HTTPResponse struct {
	Protocol      string `json:"protocol,omitempty"` // http or https
	StatusCode    string `json:"statusCode,omitempty"`
	StatusMessage string `json:"statusMessage,omitempty"`
	Headers       string `json:"headers,omitempty"` // [name: value, …]
	Body          string `json:"body,omitempty"`
}

type exchangeKey struct{}

// WithExchange returns a context in which an HTTP task records its exchange.
func WithExchange(ctx context.Context, e *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// ExchangeIn returns where an HTTP task records its exchange; nil if it need not.
func ExchangeIn(ctx context.Context) *Exchange {
	e, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return e
}
