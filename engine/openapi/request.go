package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/ebbflow/ebb/atom"
)

// bodyArgument is the argument that contains the body, if no parameter has its name.
const bodyArgument = "body"

// request builds the request from the arguments.
func (o *operation) request(ctx context.Context, in atom.Value) (*http.Request, error) {
	var args map[string]json.RawMessage
	if err := in.Decode(&args); err != nil {
		return nil, atom.Errorf(CodeArgument, "the arguments must be an object: %w", err)
	}
	rest := maps.Clone(args)
	path, query := o.path, url.Values{}
	header, cookies := http.Header{}, []string{}
	for _, p := range o.parameters {
		raw, ok := args[p.Name]
		delete(rest, p.Name)
		if !ok || string(raw) == "null" {
			if p.Required {
				return nil, atom.Errorf(CodeArgument, "the argument %s is missing, which goes into the %s", p.Name, p.In)
			}
			continue
		}
		v, err := decode(raw)
		if err != nil {
			return nil, atom.Errorf(CodeArgument, "the argument %s: %w", p.Name, err)
		}
		switch p.In {
		case openapi3.ParameterInPath:
			text := strings.Join(v.flat(explodes(p, false)), ",")
			if text == "" || text == "." || text == ".." {
				return nil, atom.Errorf(CodeArgument, "the argument %s cannot be a part of the path: %q", p.Name, text)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case openapi3.ParameterInQuery:
			v.intoQuery(query, p)
		case openapi3.ParameterInHeader:
			header.Set(p.Name, strings.Join(v.flat(explodes(p, false)), ","))
		case openapi3.ParameterInCookie:
			cookies = append(cookies, p.Name+"="+url.QueryEscape(strings.Join(v.flat(false), ",")))
		}
	}
	body, err := o.payload(rest)
	if err != nil {
		return nil, err
	}
	to := *o.server
	to.Path, to.RawPath = "", ""
	target := to.String() + strings.TrimSuffix(o.server.EscapedPath(), "/") + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, o.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, atom.Errorf(CodeArgument, "%w", err)
	}
	maps.Copy(req.Header, header)
	if len(cookies) > 0 {
		req.Header.Set("Cookie", strings.Join(cookies, "; "))
	}
	if body != nil {
		req.Header.Set("Content-Type", o.body)
	}
	return req, nil
}

// payload returns the body built from the arguments that are not parameters.
func (o *operation) payload(rest map[string]json.RawMessage) ([]byte, error) {
	body, whole := rest[bodyArgument]
	switch {
	case o.body == "" && len(rest) > 0:
		names := slices.Sorted(maps.Keys(rest))
		return nil, atom.Errorf(CodeArgument, "the operation has no parameter %s, and no body", strings.Join(names, ", "))
	case o.body == "":
		return nil, nil
	case whole && len(rest) == 1:
		return body, nil
	case len(rest) == 0 && o.required:
		return nil, atom.Errorf(CodeArgument, "the argument body is missing")
	case len(rest) == 0:
		return nil, nil
	}
	return json.Marshal(rest)
}

// A value is an argument: a text, a list of texts, or an object of texts.
type value struct {
	text    string
	list    []string
	members map[string]string
}

func decode(raw json.RawMessage) (value, error) {
	var list []json.RawMessage
	var members map[string]json.RawMessage
	switch raw[0] {
	case '[':
		v := value{list: []string{}}
		if err := json.Unmarshal(raw, &list); err != nil {
			return v, err
		}
		for _, one := range list {
			text, err := scalar(one)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, text)
		}
		return v, nil
	case '{':
		v := value{members: map[string]string{}}
		if err := json.Unmarshal(raw, &members); err != nil {
			return v, err
		}
		for name, one := range members {
			text, err := scalar(one)
			if err != nil {
				return v, err
			}
			v.members[name] = text
		}
		return v, nil
	}
	text, err := scalar(raw)
	return value{text: text}, err
}

func scalar(raw json.RawMessage) (text string, err error) {
	switch raw[0] {
	case '"':
		err = json.Unmarshal(raw, &text)
		return text, err
	case '[', '{':
		return "", errors.New("lists and objects within others cannot be parameters")
	}
	return string(raw), nil
}

// flat returns the value in the style simple: the members of an object as name,value or, exploded, name=value.
func (v *value) flat(explode bool) []string {
	switch {
	case v.list != nil:
		return v.list
	case v.members == nil:
		return []string{v.text}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(v.members)) {
		if explode {
			all = append(all, name+"="+v.members[name])
		} else {
			all = append(all, name, v.members[name])
		}
	}
	return all
}

// intoQuery adds the value in the parameter's style.
func (v *value) intoQuery(query url.Values, p *openapi3.Parameter) {
	switch explode := explodes(p, true); {
	case v.members != nil && p.Style == openapi3.SerializationDeepObject:
		for name, text := range v.members {
			query.Set(p.Name+"["+name+"]", text)
		}
	case v.members != nil && explode:
		for name, text := range v.members {
			query.Set(name, text)
		}
	case v.list != nil && explode:
		query[p.Name] = v.list
	case p.Style == openapi3.SerializationSpaceDelimited:
		query.Set(p.Name, strings.Join(v.flat(false), " "))
	case p.Style == openapi3.SerializationPipeDelimited:
		query.Set(p.Name, strings.Join(v.flat(false), "|"))
	default:
		query.Set(p.Name, strings.Join(v.flat(false), ","))
	}
}

func explodes(p *openapi3.Parameter, otherwise bool) bool {
	if p.Explode != nil {
		return *p.Explode
	}
	return otherwise && (p.Style == "" || p.Style == openapi3.SerializationForm)
}
