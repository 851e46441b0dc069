import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { board, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { arrayPage, readAll } from '../api/list';
import { queryClient } from '../api/query-client';
import { Button } from '../ui/button';
import { Loaded, Panel, Problem } from '../ui/parts';
import type { Submission } from '../ui/submission';
import { Ago } from '../ui/time';
import { type Role, RoleChoice, Secret } from './people';

const refresh = () => queryClient.invalidateQueries({ queryKey: keys.people });

function Create({ workspaceId }: { workspaceId: string }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('agent');
  const create = useMutation({
    meta: { silent: true },
    mutationFn: () =>
      unwrap(
        board.POST('/api/identity/workspaces/{workspaceId}/api-tokens', {
          params: { path: { workspaceId } },
          body: { name: name.trim(), role },
        }),
      ),
    onSuccess: async () => {
      setName('');
      await refresh();
    },
  });
  const submit = (event: Submission) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row wrap">
        <input
          className="input grow"
          aria-label="Name of the new key"
          placeholder="What it is for"
          required
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <RoleChoice label="Role of the new key" value={role} onChange={setRole} />
        <Button type="submit" icon="plus" busy={create.isPending}>
          Make a key
        </Button>
      </div>
      {create.error ? <Problem error={create.error} /> : null}
      {create.data ? (
        <Secret label={`The key ${create.data.name}; it is shown once.`} value={create.data.token} />
      ) : null}
    </form>
  );
}

/** Keys that programs sign in with. */
export function Keys({ workspaceId }: { workspaceId: string }) {
  const query = useQuery({
    queryKey: [...keys.people, 'tokens'],
    staleTime: 0,
    queryFn: () =>
      readAll((cursor) =>
        arrayPage(
          board.GET('/api/identity/workspaces/{workspaceId}/api-tokens', {
            params: { path: { workspaceId }, query: { limit: 100, ...(cursor && { cursor }) } },
          }),
        ),
      ),
  });
  const revoke = useMutation({
    mutationFn: (tokenId: string) =>
      unwrap(
        board.POST('/api/identity/workspaces/{workspaceId}/api-tokens/{tokenId}/revoke', {
          params: { path: { workspaceId, tokenId } },
        }),
      ),
    onSettled: refresh,
  });
  return (
    <Panel title="Keys" flush>
      <ul className="rows">
        <Loaded query={query} what="keys">
          {(list) =>
            list
              .filter(({ state }) => state === 'active')
              .map(({ id, name, role, lastUsedAt }) => (
                <li key={id} className="row wrap">
                  <strong>{name}</strong>
                  <span className="meta grow">
                    {role}, {lastUsedAt === undefined ? 'never used' : <>used </>}
                    {lastUsedAt === undefined ? null : <Ago at={lastUsedAt} />}
                  </span>
                  <Button small aria-label={`Revoke the key ${name}`} onClick={() => revoke.mutate(id)}>
                    Revoke
                  </Button>
                </li>
              ))
          }
        </Loaded>
        <li>
          <Create workspaceId={workspaceId} />
        </li>
      </ul>
    </Panel>
  );
}
