package sfn

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
)

type listStateMachineAliasesOutput struct {
	Aliases   []aliasItem `json:"stateMachineAliases"`
	NextToken string      `json:"nextToken,omitempty"`
}

type aliasItem struct {
	ARN          string    `json:"stateMachineAliasArn"`
	CreationDate *aws.Time `json:"creationDate"`
}

// listStateMachineAliases lists the aliases of a machine, or those that use a version, the oldest first: so AWS was
// recorded, though its reference says the opposite.
func (s *Server) listStateMachineAliases(ctx context.Context, caller *aws.Caller, in *listOfMachineInput) (
	*listStateMachineAliasesOutput, error,
) {
	a, err := s.machineAddress(in.ARN)
	if err != nil {
		return nil, err
	}
	if a.alias() != "" {
		return nil, noMachine(in.ARN)
	}
	if _, err := s.target(ctx, a); err != nil {
		return nil, err
	}
	p := records.Page{
		Operation: "ListStateMachineAliases", Caller: caller, Arguments: []string{a.text},
		Token: in.NextToken, Size: in.MaxResults, Usual: defaultPage,
	}
	place, err := s.records.After(ctx, &p)
	if err != nil {
		return nil, err
	}
	all, err := s.aliases(ctx, a.name)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(al *alias) bool { return a.version() != 0 && !al.uses(a.version()) })
	slices.SortFunc(all, olderAlias)
	if place != nil {
		last := aliasAt(place)
		all = slices.DeleteFunc(all, func(al *alias) bool { return olderAlias(al, last) <= 0 })
	}
	out := &listStateMachineAliasesOutput{Aliases: []aliasItem{}}
	for i, al := range all {
		if i == p.Most() {
			out.NextToken, err = s.records.Next(ctx, &p, placeOf(all[i-1]))
			break
		}
		out.Aliases = append(out.Aliases, aliasItem{s.aliasARN(a.name, al.Name), aws.At(al.record.Created)})
	}
	return out, err
}

// olderAlias orders the oldest alias first.
func olderAlias(a, b *alias) int {
	return cmp.Or(a.record.Created.Compare(b.record.Created), cmp.Compare(a.Name, b.Name))
}

// placeOf returns the place of an alias in a list, and aliasAt an alias at a place.
func placeOf(a *alias) []byte {
	at := binary.BigEndian.AppendUint64(nil, uint64(a.record.Created.UnixNano()))
	return append(at, a.Name...)
}

func aliasAt(place []byte) *alias {
	const size = 8 // bytes of the time
	a := &alias{Name: string(place[size:])}
	a.record.Created = time.Unix(0, int64(binary.BigEndian.Uint64(place)))
	return a
}
