import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { arrayPage, readAll } from '../api/list';
import { queryClient } from '../api/query-client';
import { useForbidden, useMay } from '../app/session';
import { Button, IconButton } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Badge, Loaded, Panel } from '../ui/parts';

type Policy = Schema<'Policy'>;

const policiesQuery = {
  queryKey: keys.policies,
  staleTime: 0,
  queryFn: () =>
    readAll((cursor) =>
      arrayPage(board.GET('/api/policies', { params: { query: { limit: 100, ...(cursor && { cursor }) } } })),
    ),
};
const toolPoliciesQuery = {
  queryKey: keys.toolPolicies,
  staleTime: 0,
  queryFn: () => unwrap(board.GET('/api/tool-policies')),
};

/** Whom a policy is for, in words. */
function scopeOf({ scope }: Policy): string {
  const { agentLevel, agents = [], projects = [], actionTypes = [] } = scope;
  const parts = [
    ...(agentLevel === undefined ? [] : [`agents of the level ${agentLevel}`]),
    ...(agents.length === 0 ? [] : [agents.join(', ')]),
    ...(projects.length === 0 ? [] : [`in ${projects.join(', ')}`]),
    ...(actionTypes.length === 0 ? [] : [`for ${actionTypes.join(', ')}`]),
  ];
  return parts.length === 0 ? 'everything' : parts.join(' ');
}

function Row({ policy, onRemove }: { policy: Policy; onRemove: () => void }) {
  const why = useForbidden()('policy:write');
  const { id, name, description, enabled, type } = policy;
  const turn = useMutation({
    mutationFn: () => {
      const { id: _id, revision: _revision, createdAt: _created, updatedAt: _updated, ...write } = policy;
      return unwrap(
        board.PUT('/api/policies/{id}', {
          params: { path: { id } },
          body: { ...write, enabled: !enabled },
        }),
      );
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.policies }),
  });
  return (
    <li className="row wrap">
      <Badge tone={enabled ? 'green' : 'grey'} icon={enabled ? 'check' : 'stop'}>
        {enabled ? 'on' : 'off'}
      </Badge>
      <strong>{name}</strong>
      <span className="mono meta">{type}</span>
      <span className="meta grow">
        {scopeOf(policy)}
        {description === '' ? '' : `: ${description}`}
      </span>
      <Button
        small
        why={why}
        busy={turn.isPending}
        aria-label={`Turn ${enabled ? 'off' : 'on'} ${name}`}
        onClick={() => turn.mutate()}
      >
        {enabled ? 'Turn off' : 'Turn on'}
      </Button>
      {why === undefined ? <IconButton small icon="trash" label={`Remove ${name}`} onClick={onRemove} /> : null}
    </li>
  );
}

function ToolPolicies() {
  const query = useQuery(toolPoliciesQuery);
  return (
    <Loaded query={query} what="policies of tools">
      {(list) =>
        list.map(({ role, allowed, denied, description }) => (
          <li key={role} className="row wrap">
            <strong>{role}</strong>
            <span className="meta grow">
              {`tools: ${allowed.length === 0 ? 'none' : allowed.join(', ')}`}
              {denied.length === 0 ? '' : `; denied: ${denied.join(', ')}`}
              {description === '' ? '' : `. ${description}`}
            </span>
          </li>
        ))
      }
    </Loaded>
  );
}

/** Rules that decide about actions of agents, and the tools of each role. */
export function Policies() {
  const mayRead = useMay()('policy:read');
  const query = useQuery({ ...policiesQuery, enabled: mayRead });
  const [removing, setRemoving] = useState<Policy>();
  const remove = useMutation({
    mutationFn: (id: string) => unwrap(board.DELETE('/api/policies/{id}', { params: { path: { id } } })),
    onSettled: () => {
      setRemoving(undefined);
      return queryClient.invalidateQueries({ queryKey: keys.policies });
    },
  });
  if (!mayRead) {
    return null;
  }
  return (
    <Panel title="Policies" flush>
      <ul className="rows">
        <Loaded query={query} what="policies">
          {(policies) =>
            policies.length === 0 ? (
              <li className="meta">No policy is defined: POST /api/policies makes one.</li>
            ) : (
              policies.map((policy) => <Row key={policy.id} policy={policy} onRemove={() => setRemoving(policy)} />)
            )
          }
        </Loaded>
        <ToolPolicies />
      </ul>
      {removing ? (
        <Dialog label="Remove the policy" onClose={() => setRemoving(undefined)}>
          <div className="body">
            <h1>Remove {removing.name}?</h1>
            <p>
              What it denies or asks about is decided without it from now on. Turned off it has no effect either, and
              can be turned on again.
            </p>
            <footer>
              <Button onClick={() => setRemoving(undefined)}>Cancel</Button>
              <Button tone="danger" busy={remove.isPending} onClick={() => remove.mutate(removing.id)}>
                Remove
              </Button>
            </footer>
          </div>
        </Dialog>
      ) : null}
    </Panel>
  );
}
