package swf

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

// typeOperations are the operations on the types of one kind. The kinds differ in the names of members: New is the
// input that registers a type, Named the input that names one, and Info describes one.
type typeOperations[New newType, Named namedType, Info any] struct {
	server *Server
	kind   *typeKind
	info   func(r *registration) Info
}

type newType interface {
	members() typeMembers
	defaults() any // swf.WorkflowDefaults or swf.ActivityDefaults
}

type namedType interface {
	named() (domain string, t swf.Type)
}

func (o typeOperations[New, Named, Info]) add(all map[string]aws.Operation) {
	operation(o.server, all, "Delete"+o.kind.word, o.delete)
	operation(o.server, all, "Deprecate"+o.kind.word, o.deprecate)
	operation(o.server, all, "Describe"+o.kind.word, o.describe)
	operation(o.server, all, o.listName(), o.list)
	operation(o.server, all, "Register"+o.kind.word, o.register)
	operation(o.server, all, "Undeprecate"+o.kind.word, o.undeprecate)
}

func (o typeOperations[New, Named, Info]) register(ctx context.Context, _ *aws.Caller, in *New) (*empty, error) {
	m := (*in).members()
	r, err := m.registration((*in).defaults())
	if err != nil {
		return nil, err
	}
	return nil, o.server.register(ctx, o.kind, m.Domain, r)
}

type describeTypeOutput[Info any] struct {
	Info          Info            `json:"typeInfo"`
	Configuration json.RawMessage `json:"configuration"`
}

func (o typeOperations[New, Named, Info]) describe(ctx context.Context, _ *aws.Caller, in *Named) (
	*describeTypeOutput[Info], error,
) {
	domain, t := (*in).named()
	r, err := o.server.describeType(ctx, o.kind, domain, t)
	if err != nil {
		return nil, err
	}
	return &describeTypeOutput[Info]{o.info(r), r.Defaults}, nil
}

func (o typeOperations[New, Named, Info]) deprecate(ctx context.Context, _ *aws.Caller, in *Named) (*empty, error) {
	domain, t := (*in).named()
	return nil, o.server.deprecateType(ctx, o.kind, domain, t)
}

func (o typeOperations[New, Named, Info]) undeprecate(ctx context.Context, _ *aws.Caller, in *Named) (*empty, error) {
	domain, t := (*in).named()
	return nil, o.server.undeprecateType(ctx, o.kind, domain, t)
}

func (o typeOperations[New, Named, Info]) delete(ctx context.Context, _ *aws.Caller, in *Named) (*empty, error) {
	domain, t := (*in).named()
	return nil, o.server.deleteType(ctx, o.kind, domain, t)
}

type listTypesOutput[Info any] struct {
	Infos     []Info `json:"typeInfos"`
	NextToken string `json:"nextPageToken,omitempty"`
}

func (o typeOperations[New, Named, Info]) listName() string { return "List" + o.kind.word + "s" }

func (o typeOperations[New, Named, Info]) list(ctx context.Context, caller *aws.Caller, in *listTypesInput) (
	*listTypesOutput[Info], error,
) {
	out := &listTypesOutput[Info]{Infos: []Info{}}
	var err error
	out.NextToken, err = o.server.listTypes(ctx, o.kind, in.page(o.listName(), caller, in.arguments()...), in,
		func(r *registration) { out.Infos = append(out.Infos, o.info(r)) })
	return out, err
}
