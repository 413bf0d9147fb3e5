package asl

import "strings"

// task reads what only a Task state has.
func (c *compiler) task(s *state) {
	n := s.source
	s.task = &task{}
	c.resource(s)
	c.one(n, "TimeoutSeconds", "TimeoutSecondsPath")
	c.one(n, "HeartbeatSeconds", "HeartbeatSecondsPath")
	s.task.timeout = c.duration(n, "TimeoutSeconds")
	s.task.heartbeat = c.duration(n, "HeartbeatSeconds")
	if t, h := s.task.timeout.fixed, s.task.heartbeat.fixed; t > 0 && h >= t {
		c.schemaf(n.get("HeartbeatSeconds"), "HeartbeatSeconds must be less than TimeoutSeconds")
	}
	if creds := n.get("Credentials"); creds != nil {
		if creds.kind != objectNode || creds.get("RoleArn") == nil && creds.get("RoleArn.$") == nil {
			c.schemaf(creds, "The field 'RoleArn' is required but was missing")
		} else {
			c.fields(creds, "Credentials", credentialsFields)
			s.task.credentials = c.template(creds)
		}
	}
	c.revert(s)
}

// resource reads the task's Resource and how AWS's events call it.
func (c *compiler) resource(s *state) {
	n := s.source.get("Resource")
	if n == nil {
		c.schemaf(s.source, "these fields are required: Resource")
		return
	}
	r, ok := c.uri(n)
	if !ok {
		return
	}
	t := s.task
	t.resource, t.at = r, n.at
	if strings.HasSuffix(r, ".waitForTaskToken") {
		c.unsupported(n, "the integration pattern .waitForTaskToken")
	}
	arn := append(strings.SplitN(r, ":", 7), make([]string, 7)...)
	switch service, kind := arn[2], arn[5]; {
	case arn[0] != "arn":
		t.service, t.action, _ = strings.Cut(r, ":")
	case service == "lambda" && kind == "function":
		t.lambda = true
	case service == "states" && kind == "activity":
		t.activity = true
	case kind == "aws-sdk":
		service, action, _ := strings.Cut(arn[6], ":")
		t.service, t.action = "aws-sdk:"+service, action
	default:
		t.service, t.action = kind, arn[6]
	}
}

// uri returns a resource, which must be a URI: a scheme, a colon, and something
// behind it.
func (c *compiler) uri(n *node) (string, bool) {
	if n.kind != stringNode {
		c.schemaf(n, "%s must be a string, found %s", n.key, n.kind)
		return "", false
	}
	scheme, rest, ok := strings.Cut(n.str, ":")
	if !ok || scheme == "" || rest == "" || strings.ContainsFunc(scheme, func(r rune) bool { return !isSchemeRune(r) }) {
		c.refusef(InvalidResource, n, "such as exec:./book, https://example.org/book or a Lambda function's ARN", "the resource %s is not recognized", quote(n.str))
		return "", false
	}
	return n.str, true
}

func isSchemeRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r)
}

// duration reads a field of seconds and the field of the same name with Path
// behind it.
func (c *compiler) duration(n *node, field string) seconds {
	var d seconds
	d.fixed, _ = c.seconds(n, field, 1)
	if p := n.get(field + "Path"); p != nil {
		d.path = c.referencePath(p)
	}
	return d
}
