import { useMutation, useQuery } from '@tanstack/react-query';
import { board, unwrap } from '../api/client';
import { queryClient } from '../api/query-client';
import { useSession } from '../app/session';
import { Button } from '../ui/button';
import { Loaded, Panel } from '../ui/parts';
import { Ago } from '../ui/time';

const key = ['sessions'];

/** Who the caller is, and its open sessions. */
export function Sessions() {
  const context = useSession()?.context;
  const query = useQuery({ queryKey: key, staleTime: 0, queryFn: () => unwrap(board.GET('/api/auth/sessions')) });
  const revoke = useMutation({
    mutationFn: (sessionId: string) =>
      unwrap(board.DELETE('/api/auth/sessions/{sessionId}', { params: { path: { sessionId } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: key }),
  });
  return (
    <Panel title="You" flush>
      <ul className="rows">
        <li>
          {context?.actor}{' '}
          <span className="meta">
            with the role {context?.role}, in the workspace {context?.workspaceId}
          </span>
        </li>
        <Loaded query={query} what="sessions">
          {(sessions) =>
            sessions.map(({ id, createdAt, expiresAt }) => (
              <li key={id} className="row wrap">
                <span className="grow">
                  Session <span className="meta">signed in </span>
                  <Ago at={createdAt} />
                  <span className="meta">, ends </span>
                  <Ago at={expiresAt} />
                </span>
                <Button small onClick={() => revoke.mutate(id)}>
                  {id === context?.sessionId ? 'Sign out' : 'Revoke'}
                </Button>
              </li>
            ))
          }
        </Loaded>
      </ul>
    </Panel>
  );
}
