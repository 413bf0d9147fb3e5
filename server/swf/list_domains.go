package swf

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type listDomainsInput struct {
	paging

	Status string `json:"registrationStatus"`
}

type listDomainsOutput struct {
	Infos     []domainInfo `json:"domainInfos"`
	NextToken string       `json:"nextPageToken,omitempty"`
}

// A paging says which page of a list a client wants.
type paging struct {
	NextToken *string `json:"nextPageToken"`
	Size      int     `json:"maximumPageSize"`
	Reverse   bool    `json:"reverseOrder"`
}

// page returns the page that a client wants of a list that its other arguments select.
func (p *paging) page(operation string, caller *aws.Caller, arguments ...string) *records.Page {
	token := p.NextToken
	if token != nil && *token == "" {
		token = nil
	}
	return &records.Page{
		Operation: operation, Caller: caller, Token: token, Size: p.Size, Usual: records.MaxPage,
		Arguments: append(arguments, strconv.FormatBool(p.Reverse)),
	}
}

func (s *Server) listDomains(ctx context.Context, caller *aws.Caller, in *listDomainsInput) (
	*listDomainsOutput, error,
) {
	out := &listDomainsOutput{Infos: []domainInfo{}}
	p := in.page("ListDomains", caller, in.Status)
	var d *domain
	p.Wanted = func(r *storage.NamedRecord) (bool, error) {
		d = &domain{record: *r}
		err := records.Decode(r, d)
		of, _ := s.config.Account.Named(r.Key)
		return d.status() == in.Status && of == s.config.Account.Of(caller), err
	}
	var err error
	out.NextToken, err = s.records.Each(ctx, p, storage.RecordQuery{Kind: domainKind, Reverse: in.Reverse},
		func(*storage.NamedRecord) error {
			out.Infos = append(out.Infos, s.domainInfo(d))
			return nil
		})
	return out, err
}
