package aws

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/sigv4"
)

// MaxSkew is how far the clock of a client may be from the server's.
//
//limit:protocol difference of a client's clock (`aws.MaxSkew`) | {} | `InvalidSignatureException`
const MaxSkew = 5 * time.Minute

// Types of the errors of signatures.
const (
	codeMissingToken = common + "MissingAuthenticationTokenException"
	codeIncomplete   = common + "IncompleteSignatureException"
	codeInvalid      = common + "InvalidSignatureException"
	codeUnrecognized = common + "UnrecognizedClientException"
)

// A claim is what a request says about its signature (Signature Version 4).
type claim struct {
	accessKey string
	secret    string // of that key
	scope     string // what the key that signs is derived for: date/region/service/terminator
	date      string
	signed    []string // names of headers
	signature string
}

// claim returns the claim of a request. It checks all but the signature, for which the body is needed, in the order
// of AWS.
func (h *Handler) claim(r *http.Request, service *Service) (*claim, error) {
	header := r.Header.Get("Authorization")
	inQuery := strings.Contains(r.URL.RawQuery, "X-Amz-Algorithm")
	switch {
	case inQuery && header != "":
		return nil, Errorf(codeInvalid,
			"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
	case header == "": // a signature in the query is for links, which these services do not have
		return nil, Errorf(codeMissingToken, "Missing Authentication Token")
	}
	c := new(claim)
	used, credential, err := c.read(header)
	if err != nil {
		return nil, err
	}
	dated := "x-amz-date"
	if c.date = r.Header.Get("X-Amz-Date"); c.date == "" {
		dated, c.date = "date", r.Header.Get("Date")
	}
	if err := c.complete(header, credential); err != nil {
		return nil, err
	}
	if err := c.isCurrent(time.Now().UTC()); err != nil {
		return nil, err
	}
	for _, needed := range []struct{ name, text string }{
		{"host", "'Host' or ':authority'"}, {dated, "'" + dated + "'"}, {"x-amz-target", "'x-amz-target'"},
	} {
		if !slices.Contains(c.signed, needed.name) {
			return nil, Errorf(codeInvalid, "%s must be a 'SignedHeader' in the AWS Authorization.", needed.text)
		}
	}
	if used != sigv4.Algorithm {
		return nil, Errorf(codeIncomplete, "Unsupported AWS 'algorithm': '%s' (only %s for now). ", used, sigv4.Algorithm)
	}
	return c, h.checkScope(c, credential, service)
}

// read reads the parts of the Authorization header.
func (c *claim) read(header string) (used, credential string, err error) {
	used, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch name, value, ok := strings.Cut(part, "="); {
		case !ok && strings.HasPrefix(used, "AWS4"):
			return "", "", Errorf(codeIncomplete,
				"'%s' not a valid key=value pair (missing equal-sign) in Authorization header%s.", name, hashed(header))
		case name == "Credential":
			credential = value
		case name == "Signature":
			c.signature = value
		case name == "SignedHeaders" && value != "":
			c.signed = strings.Split(strings.ToLower(value), ";")
		}
	}
	return used, credential, nil
}

// choose sets the account and the region that an Authorization header names, as far as it names valid ones.
func (c *Caller) choose(header string) {
	var named claim
	_, credential, _ := named.read(header) // a header that is not valid names what it names
	key, scope, _ := strings.Cut(credential, "/")
	if accountRule.MatchString(key) {
		c.Account = key
	}
	_, scope, _ = strings.Cut(scope, "/") // the date
	if region, _, _ := strings.Cut(scope, "/"); nameRule.MatchString(region) {
		c.Region = region
	}
}

// complete returns an error that lists what the request lacks.
func (c *claim) complete(header, credential string) error {
	var lacks strings.Builder
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Credential", credential == ""}, {"Signature", c.signature == ""}, {"SignedHeaders", c.signed == nil}} {
		if part.missing {
			lacks.WriteString("Authorization header requires '" + part.name + "' parameter. ")
		}
	}
	if c.date == "" {
		lacks.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if lacks.Len() == 0 {
		return nil
	}
	return Errorf(codeIncomplete, "%s%s", lacks.String(), strings.TrimSpace(hashed(header)))
}

// hashed names an Authorization header without showing it, because it may have a secret in it.
func hashed(header string) string {
	hash := sha256.Sum256([]byte(header))
	return " (Hashed with SHA-256 and encoded with Base64) Authorization=" + base64.StdEncoding.EncodeToString(hash[:])
}

// isCurrent returns an error if the signature is too old or too new.
func (c *claim) isCurrent(now time.Time) error {
	at, err := time.Parse(sigv4.Time, c.date)
	switch {
	case err != nil:
		return Errorf(codeIncomplete, "Date must be in ISO-8601 'basic format'. Got '%s'. "+
			"See http://en.wikipedia.org/wiki/ISO_8601", c.date)
	case at.Before(now.Add(-MaxSkew)):
		return Errorf(codeInvalid, "Signature expired: %s is now earlier than %s (%s - %.0f min.)", c.date,
			now.Add(-MaxSkew).Format(sigv4.Time), now.Format(sigv4.Time), MaxSkew.Minutes())
	case at.After(now.Add(MaxSkew)):
		return Errorf(codeInvalid, "Signature not yet current: %s is still later than %s (%s + %.0f min.)", c.date,
			now.Add(MaxSkew).Format(sigv4.Time), now.Format(sigv4.Time), MaxSkew.Minutes())
	}
	return nil
}

// checkScope checks the credential, which is the access key and the scope.
func (h *Handler) checkScope(c *claim, credential string, service *Service) error {
	parts := strings.Split(strings.TrimRight(credential, "/"), "/")
	const partCount = 5
	if len(parts) != partCount {
		return Errorf(codeIncomplete, "Credential must have exactly 5 slash-delimited elements, "+
			"e.g. keyid/date/region/service/term, got '%s'", credential)
	}
	c.accessKey, c.scope = parts[0], strings.Join(parts[1:], "/")
	var wrong []string
	if region := parts[2]; region != h.Region {
		wrong = append(wrong, "Credential should be scoped to a valid region, not '"+region+"'. ")
	}
	if parts[3] != service.Name {
		wrong = append(wrong, "Credential should be scoped to correct service: '"+service.Name+"'. ")
	}
	if parts[4] != sigv4.Terminator {
		wrong = append(wrong, "Credential should be scoped with a valid terminator: '"+sigv4.Terminator+"', not '"+
			parts[4]+"'. ")
	}
	if day := c.date[:len("20060102")]; parts[1] != day {
		wrong = append(wrong, "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '"+
			parts[1]+"' != '"+day+"', from '"+c.date+"'. ")
	}
	if wrong != nil {
		return Errorf(codeInvalid, "%s", strings.Join(wrong, ""))
	}
	secret, known := h.secret(c.accessKey)
	if !known {
		return Errorf(codeUnrecognized, "The security token included in the request is invalid.")
	}
	c.secret = secret
	return nil
}

// verify returns an error if the signature is not that of the request. It takes the same time for every signature.
func (c *claim) verify(r *http.Request, body []byte) error {
	hash := sigv4.Hash(body)
	want := sigv4.Signature(r, c.signed, hash, c.date, c.scope, c.secret)
	// The header may only say what is so. That the body is not signed, or signed in parts, is for other services.
	differs := r.Header.Get("X-Amz-Content-Sha256") != "" && r.Header.Get("X-Amz-Content-Sha256") != hash
	if subtle.ConstantTimeCompare([]byte(want), []byte(c.signature)) != 1 || differs {
		return Errorf(codeInvalid, "The request signature we calculated does not match the signature you provided. "+
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	return nil
}
