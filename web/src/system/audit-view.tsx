import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { board, unwrap } from '../api/client';
import { Button } from '../ui/button';
import { count } from '../ui/figures';
import { Badge, Empty, Loaded, Panel } from '../ui/parts';
import { Ago } from '../ui/time';

const pageSize = 50;

/** Who did what, newest first, and whether the log is intact. */
export function AuditView() {
  const [actor, setActor] = useState('');
  const [action, setAction] = useState('');
  const filter = {
    ...(actor.trim() ? { actor: actor.trim() } : {}),
    ...(action.trim() ? { action: action.trim() } : {}),
  };
  const query = useInfiniteQuery({
    queryKey: ['audit', filter],
    staleTime: 0,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      unwrap(
        board.GET('/api/audit', {
          params: { query: { limit: pageSize, ...filter, ...(pageParam === undefined ? {} : { cursor: pageParam }) } },
        }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const verification = useQuery({
    queryKey: ['audit', 'verify'],
    staleTime: 0,
    queryFn: () => unwrap(board.GET('/api/audit/verify')),
  });
  const entries = query.data?.pages.flatMap((page) => page.entries);
  return (
    <div className="view">
      <header>
        <h1 className="grow">Audit</h1>
        {verification.data ? (
          <Badge tone={verification.data.valid ? 'green' : 'red'} icon={verification.data.valid ? 'check' : 'alert'}>
            {verification.data.valid ? 'Intact this month' : 'Not intact'}
          </Badge>
        ) : null}
      </header>
      <div className="row wrap">
        <input
          className="input grow"
          aria-label="Actor"
          placeholder="Actor, such as user:owner"
          value={actor}
          onChange={(event) => setActor(event.target.value)}
        />
        <input
          className="input grow"
          aria-label="Action"
          placeholder="Action, such as task.update"
          value={action}
          onChange={(event) => setAction(event.target.value)}
        />
      </div>
      <Panel title={entries ? count(entries.length, 'entry', 'entries') : 'Entries'} flush>
        <Loaded query={{ data: entries, error: query.error, refetch: query.refetch }} what="the audit log">
          {(list) =>
            list.length === 0 ? (
              <Empty icon="audit" title="No entry matches" />
            ) : (
              <div className="scroll-x" tabIndex={0} role="region" aria-label="Audit entries">
                <table className="table">
                  <thead>
                    <tr>
                      <th>When</th>
                      <th>Actor</th>
                      <th>Action</th>
                      <th>Resource</th>
                      <th>Details</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.map((entry) => (
                      <tr key={entry.hash}>
                        <td>
                          <Ago at={entry.timestamp} />
                        </td>
                        <td>{entry.actor}</td>
                        <td className="mono">{entry.action}</td>
                        <td className="mono">{entry.resource ?? ''}</td>
                        <td className="meta">{entry.details ? JSON.stringify(entry.details).slice(0, 300) : ''}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
      {query.hasNextPage ? (
        <div>
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show older entries
          </Button>
        </div>
      ) : null}
    </div>
  );
}
