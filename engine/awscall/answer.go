package awscall

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// result returns the result of a task whose call succeeded.
func (a *action) result(answer *http.Response, text []byte) (atom.Value, error) {
	out, id, err := a.read(text)
	if err != nil {
		return nil, atom.Errorf(a.errorPrefix(a.of)+codeClient, "Unable to unmarshall response: %w", err)
	}
	if a.sdk {
		return atom.Encode(out)
	}
	if failed, ok := out["FailedEntryCount"].(json.Number); ok && a.service == "events" && failed != "0" {
		return nil, atom.Errorf("EventBridge.FailedEntry", "%s", atom.MustEncode(out))
	}
	id = cmp.Or(id, requestID(answer))
	all, each := map[string][]string{}, map[string]string{}
	for name, values := range answer.Header {
		if strings.HasPrefix(name, "X-Amz") {
			name = strings.Replace(strings.ToLower(name), "requestid", "RequestId", 1) // as AWS writes them
		}
		all[name], each[name] = values, values[0]
	}
	out["SdkHttpMetadata"] = map[string]any{
		"AllHttpHeaders": all, "HttpHeaders": each, "HttpStatusCode": answer.StatusCode,
	}
	out["SdkResponseMetadata"] = map[string]any{"RequestId": id}
	return atom.Encode(out)
}

func requestID(answer *http.Response) string { return answer.Header.Get("X-Amzn-Requestid") }

// read returns the service's answer, with the names of the integration, and the ID of the request in it.
func (a *action) read(text []byte) (out map[string]any, id string, err error) {
	out = map[string]any{}
	if a.of.protocol == "query" {
		root, err := parseXML(text)
		if err != nil {
			return nil, "", err
		}
		if result := root.child(upperFirst(a.action) + "Result"); result != nil && a.output != nil {
			out, _ = a.ofXML(a.output, result).(map[string]any)
		}
		return out, root.child("ResponseMetadata").child("RequestId").content(), nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return out, "", nil
	}
	tree, err := decoded(text)
	if err != nil {
		return nil, "", err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, "", errors.New("it is not an object")
	}
	if a.output != nil {
		out, _ = a.ofJSON(a.output, object).(map[string]any)
	}
	return out, "", nil
}

// ofJSON returns a value of the service with the names of the integration. It leaves out members that are null.
func (a *action) ofJSON(s *shape, value any) any {
	if s = a.of.named(s); s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, each := range v {
			f := s.field(key)
			switch {
			case each == nil && s.kind == '{':
			case f != nil:
				out[f.written(a.sdk)] = a.ofJSON(f.shape, each)
			case s.kind == '<':
				out[key] = a.ofJSON(s.of, each)
			default:
				out[key] = each // it is newer than the model
			}
		}
		return out
	case []any:
		if s.kind != '[' {
			return v
		}
		out := make([]any, len(v))
		for i, each := range v {
			out[i] = a.ofJSON(s.of, each)
		}
		return out
	case string:
		return a.ofText(s.kind, v)
	case json.Number:
		if s.kind == 't' || s.kind == 'u' || s.kind == 'i' {
			return a.ofSeconds(v)
		}
	}
	return value
}

// ofText returns a text of the service: a time, bytes in Base64, or another text.
func (a *action) ofText(kind byte, value string) any {
	switch kind {
	case 'x':
		if plain, err := base64.StdEncoding.DecodeString(value); err == nil && a.sdk && utf8.Valid(plain) {
			return string(plain)
		}
	case 't', 'i', 'u':
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return a.ofTime(at)
		}
	}
	return value
}

// ofSeconds returns a time that is a number of seconds.
func (a *action) ofSeconds(n json.Number) any {
	const most = 1 << 50 // milliseconds; later times have no form in ISO 8601
	seconds, err := n.Float64()
	if ms := math.Round(seconds * 1000); err == nil && math.Abs(ms) < most { //nolint:mnd // ms in a second
		return a.ofTime(time.UnixMilli(int64(ms)))
	}
	return n
}

// ofTime returns a time: in SDK integrations in ISO 8601, in others in milliseconds.
func (a *action) ofTime(at time.Time) any {
	if !a.sdk {
		return at.UnixMilli()
	}
	if at.Nanosecond() == 0 {
		return at.UTC().Format("2006-01-02T15:04:05Z")
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// A node is an element of XML.
type node struct {
	XMLName  xml.Name `xml:""`
	Text     string   `xml:",chardata"`
	Children []*node  `xml:",any"`
}

func parseXML(text []byte) (*node, error) {
	root := &node{}
	return root, xml.Unmarshal(text, root)
}

// child returns the first element with a name in n, or nil.
func (n *node) child(name string) *node {
	if n != nil {
		for _, c := range n.Children {
			if c.XMLName.Local == name {
				return c
			}
		}
	}
	return nil
}

func (n *node) content() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

// ofXML returns a value of the service with the names of the integration.
func (a *action) ofXML(s *shape, n *node) any {
	if s = a.of.named(s); s == nil {
		return n.content()
	}
	switch s.kind {
	case '{':
		out := map[string]any{}
		for i := range s.fields {
			f := &s.fields[i]
			if value, ok := a.ofElements(a.of.named(f.shape), f.wire, n); ok {
				out[f.written(a.sdk)] = value
			}
		}
		return out
	case '[', '<':
		return a.ofEach(s, n.Children)
	case 'n':
		if number := json.Number(n.content()); json.Valid([]byte(number)) {
			return number
		}
		return n.content()
	case 'b':
		return n.content() == "true"
	default:
		return a.ofText(s.kind, n.Text)
	}
}

// ofElements returns the value of a field with a shape in n, and whether it is there.
func (a *action) ofElements(s *shape, name string, n *node) (any, bool) {
	if s == nil || !s.flattened {
		c := n.child(name)
		if c == nil {
			return nil, false
		}
		return a.ofXML(s, c), true
	}
	if s.kind == '[' {
		name = orElse(s.item, name)
	}
	var all []*node
	for _, c := range n.Children {
		if c.XMLName.Local == name {
			all = append(all, c)
		}
	}
	return a.ofEach(s, all), all != nil
}

// ofEach returns the array or the object of some elements.
func (a *action) ofEach(s *shape, elements []*node) any {
	if s.kind == '[' {
		list := make([]any, len(elements))
		for i, c := range elements {
			list[i] = a.ofXML(s.of, c)
		}
		return list
	}
	object := map[string]any{}
	for _, entry := range elements {
		key, value := entry.child(orElse(s.key, "key")), entry.child(orElse(s.item, "value"))
		if key != nil && value != nil {
			object[key.content()] = a.ofXML(s.of, value)
		}
	}
	return object
}

// refused returns the failure of a call that the service refused.
func (a *action) refused(answer *http.Response, text []byte) error {
	code, message, id := a.told(answer, text)
	name, modeled := a.of.ByName["!"+code]
	if a.sdk {
		if !modeled {
			name = a.of.id + "Exception"
		}
		return atom.Errorf(a.of.id+"."+name, "%s (Service: %s, Status Code: %d, Request ID: %s)", message, a.of.id,
			answer.StatusCode, id)
	}
	called := cmp.Or(optimized[a.service].service, a.of.id)
	if !modeled {
		name = strings.TrimSuffix(called, "v2") + "Exception"
	}
	return atom.Errorf(a.errorPrefix(a.of)+"."+name,
		"%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)", message, called,
		answer.StatusCode, code, id)
}

// told returns the code, the message and the ID of the request in a refusal.
func (a *action) told(answer *http.Response, text []byte) (code, message, id string) {
	const noID = "null" // as AWS's client writes it
	if a.of.protocol == "query" {
		if root, err := parseXML(text); err == nil {
			e := root.child("Error")
			if e == nil {
				e = root.child("Errors").child("Error")
			}
			if id = root.child("RequestId").content(); e != nil {
				return e.child("Code").content(), e.child("Message").content(), cmp.Or(id, requestID(answer), noID)
			}
		}
	}
	var refusal struct {
		Type    string `json:"__type"`
		Code    string `json:"code"`
		Message string `json:"message"` // or Message
	}
	if err := json.Unmarshal(text, &refusal); err != nil || refusal.Message == "" {
		refusal.Message = cmp.Or(shortened(text), http.StatusText(answer.StatusCode))
	}
	code = cmp.Or(answer.Header.Get("X-Amzn-Errortype"), refusal.Type, refusal.Code)
	code, _, _ = strings.Cut(code, ":")
	return code[strings.LastIndexByte(code, '#')+1:], refusal.Message, cmp.Or(requestID(answer), noID)
}

// shortened returns the start of an answer that is not in the form of the service.
func shortened(text []byte) string {
	const most = 1000
	return strings.ToValidUTF8(string(bytes.TrimSpace(text[:min(len(text), most)])), "")
}
