import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { board, unwrap } from '../../api/client';
import { keys } from '../../api/keys';
import { tasksQuery } from '../../tasks/queries';
import { count, number } from '../../ui/figures';
import { Badge, Empty, Id, Loaded, Panel } from '../../ui/parts';
import { Ago } from '../../ui/time';
import { CancelButton } from './cancel';
import s from './queue.module.css';
import { Trees } from './trees';

const queueQuery = {
  queryKey: [...keys.queue, 'waiting'],
  queryFn: () =>
    unwrap(
      board.GET('/api/admission/queue', { params: { query: { limit: 100, state: ['queued', 'leased', 'requeued'] } } }),
    ),
};
const activeQuery = {
  queryKey: [...keys.queue, 'active'],
  queryFn: () => unwrap(board.GET('/api/admission', { params: { query: { limit: 100, state: 'active' } } })),
};

const readinessTone = { ready: 'green', blocked: 'amber', backoff: 'amber', leased: 'blue', ended: 'grey' } as const;

function useTitles(): (taskId: string) => string {
  const { data = [] } = useQuery(tasksQuery);
  const titles = new Map(data.map(({ id, title }) => [id, title]));
  return (taskId) => titles.get(taskId) ?? taskId;
}

/** What waits and why, what holds capacity, and the execution trees. */
export function QueueView() {
  const waiting = useQuery(queueQuery);
  const active = useQuery(activeQuery);
  const titleOf = useTitles();
  return (
    <div className="view">
      <header>
        <h1 className="grow">Queue</h1>
        {waiting.data ? (
          <span className="meta num">
            {number(waiting.data.depth.global.current)} of {number(waiting.data.depth.global.limit)} places in the queue
            used
          </span>
        ) : null}
      </header>
      <Panel title="Waiting" flush>
        <Loaded query={waiting} what="the queue">
          {({ entries }) =>
            entries.length === 0 ? (
              <Empty icon="queue" title="Nothing waits">
                <span>A launch that exceeds the capacity waits here, with what limits it.</span>
              </Empty>
            ) : (
              <div className="scroll-x" tabIndex={0} role="region" aria-label="Queued launches">
                <table className="table">
                  <thead>
                    <tr>
                      <th>Task</th>
                      <th>Agent</th>
                      <th>Readiness</th>
                      <th>Limited by</th>
                      <th className="right">Priority</th>
                      <th>Since</th>
                      <th>
                        <span className="sr">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {entries.map((entry) => (
                      <tr key={entry.id}>
                        <td>
                          <Link
                            to="/tasks/$taskId/runs/$attemptId"
                            params={{ taskId: entry.taskId, attemptId: entry.attemptId }}
                          >
                            {titleOf(entry.taskId)}
                          </Link>
                        </td>
                        <td>{entry.agent}</td>
                        <td>
                          <Badge tone={readinessTone[entry.readiness]}>{entry.readiness}</Badge>
                        </td>
                        <td>
                          {entry.limitingPolicies.length === 0
                            ? '–'
                            : entry.limitingPolicies
                                .map(({ scope, resource, limit }) => `${scope}: at most ${number(limit)} ${resource}`)
                                .join('; ')}
                        </td>
                        <td className="right num">{number(entry.effectivePriority)}</td>
                        <td>
                          <Ago at={entry.enqueuedAt} />
                        </td>
                        <td>
                          <CancelButton kind="entry" id={entry.id} what={titleOf(entry.taskId)} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Holding capacity" flush>
        <Loaded query={active} what="reservations">
          {({ reservations }) =>
            reservations.length === 0 ? (
              <Empty icon="play" title="Nothing runs" />
            ) : (
              <ul className={`rows ${s.active}`}>
                {reservations.map(({ id, request, requested, lease, createdAt }) => (
                  <li key={id} className="row wrap">
                    <Link
                      to="/tasks/$taskId/runs/$attemptId"
                      params={{ taskId: request.taskId, attemptId: request.attemptId }}
                      className="grow cut"
                    >
                      {titleOf(request.taskId)}
                    </Link>
                    <span>{request.agent}</span>
                    <span className="meta num">
                      {count(requested.processes, 'process', 'processes')}, {number(requested.memoryMb)} MB
                    </span>
                    <span className="meta">
                      since <Ago at={createdAt} />, lease until <Ago at={lease.expiresAt} />
                    </span>
                    <Id id={id} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Trees
        roots={[
          ...new Set([
            ...(waiting.data?.entries ?? []).map(({ tree }) => tree.rootObjectiveId),
            ...(active.data?.reservations ?? []).map(({ tree }) => tree.rootObjectiveId),
          ]),
        ]}
      />
    </div>
  );
}
