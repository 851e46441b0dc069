import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { board, type Schema, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { queryClient } from '../api/query-client';
import { useForbidden, useMay } from '../app/session';
import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { count, number } from '../ui/figures';
import { Badge, Empty, Loaded, Panel } from '../ui/parts';
import { Ago } from '../ui/time';
import { Health } from './health';

const hostsQuery = {
  queryKey: keys.hosts,
  queryFn: async () => (await unwrap(board.GET('/api/agents/hosts', { params: { query: { limit: 100 } } }))).hosts,
  staleTime: 0,
};
const recoveriesQuery = {
  queryKey: keys.recoveries,
  queryFn: async () =>
    (await unwrap(board.GET('/api/agents/recoveries', { params: { query: { limit: 100 } } }))).recoveries,
  staleTime: 0,
};

/** What the board launches again by itself, and when. */
function Recoveries() {
  const query = useQuery(recoveriesQuery);
  return (
    <Panel title="Recoveries under way" flush>
      <Loaded query={query} what="recoveries">
        {(list) =>
          list.length === 0 ? (
            <p className="meta empty">None: no run that failed waits to be launched again.</p>
          ) : (
            <ul className="rows">
              {list.map(({ taskId, attemptId, state, action, reason, notBefore, route }) => (
                <li key={attemptId} className="row wrap">
                  <Badge tone="blue" icon="clock">
                    {state === 'launching' ? 'launching' : action}
                  </Badge>
                  <Link to="/tasks/$taskId" params={{ taskId }} className="mono">
                    {taskId}
                  </Link>
                  <span className="meta grow">
                    {reason}
                    {route ? ` Next: ${route.agent}.` : ''}
                  </span>
                  <span className="meta">
                    due <Ago at={notBefore} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

type Host = Schema<'Host'>;

/** Drains a host after it was asked why, or has it take runs again. */
function Drain({ host }: { host: Host }) {
  const why = useForbidden()('admin:manage');
  const [asks, setAsks] = useState(false);
  const [reason, setReason] = useState('');
  const params = { path: { hostId: host.hostId } };
  const change = useMutation({
    mutationFn: () => {
      const body = reason.trim() === '' ? {} : { reason: reason.trim() };
      return unwrap(
        host.drain
          ? board.POST('/api/agents/hosts/{hostId}/resume', { params })
          : board.POST('/api/agents/hosts/{hostId}/drain', { params, body }),
      );
    },
    onSettled: () => {
      setAsks(false);
      return queryClient.invalidateQueries({ queryKey: keys.hosts });
    },
  });
  return (
    <>
      <Button
        small
        why={why}
        busy={change.isPending}
        aria-label={`${host.drain ? 'Resume' : 'Drain'} ${host.hostname}`}
        onClick={() => (host.drain ? change.mutate() : setAsks(true))}
      >
        {host.drain ? 'Resume' : 'Drain'}
      </Button>
      {asks ? (
        <Dialog label="Drain the host" onClose={() => setAsks(false)}>
          <div className="body">
            <h1>Drain {host.hostname}?</h1>
            <p>
              It takes no new runs, also after its workers are started again, until you resume it. Its runs continue.
            </p>
            <label className="field">
              <span>Why (optional)</span>
              <input
                className="input"
                maxLength={500}
                value={reason}
                onChange={(event) => setReason(event.target.value)}
              />
            </label>
            <footer>
              <Button onClick={() => setAsks(false)}>Cancel</Button>
              <Button tone="danger" busy={change.isPending} onClick={() => change.mutate()}>
                Drain the host
              </Button>
            </footer>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

/** Hosts and workers with what they lack, and the parts of the service. */
export function FleetView() {
  const mayManage = useMay()('admin:manage');
  const hosts = useQuery(hostsQuery);
  return (
    <div className="view">
      <header>
        <h1>Fleet</h1>
      </header>
      <Panel title="Hosts" flush>
        <Loaded query={hosts} what="hosts">
          {(list) =>
            list.length === 0 ? (
              <Empty icon="fleet" title="No host has a live worker">
                <span>Runs wait until a worker is started: npm run start:worker.</span>
              </Empty>
            ) : (
              <ul className="rows">
                {list.map((host) => {
                  const { hostId, hostname, seenAt, findings, workers, reservedRuns, drain } = host;
                  const slots = workers.reduce((sum, { runs }) => sum + runs, 0);
                  return (
                    <li key={hostId}>
                      <div className="row wrap">
                        <strong>{hostname}</strong>
                        <span className="mono meta">{hostId}</span>
                        <span className="meta num">
                          {count(workers.length, 'worker')}, {number(reservedRuns)} of {count(slots, 'run')}
                        </span>
                        {drain ? (
                          <Badge tone="amber" icon="stop">
                            drained
                          </Badge>
                        ) : null}
                        <span className="grow" />
                        <span className="meta">
                          seen <Ago at={seenAt} />
                        </span>
                        <Drain host={host} />
                      </div>
                      {workers.map(({ workerId, version, buildId, draining }) => (
                        <p key={workerId} className="meta">
                          <span className="mono">{workerId}</span>, version {version ?? 'unknown'}
                          {buildId === null ? '' : `, build ${buildId}`}
                          {draining ? ', takes no new runs' : ''}
                        </p>
                      ))}
                      {drain ? (
                        <p className="meta">
                          by {drain.by} <Ago at={drain.at} />
                          {drain.reason === null ? '' : `: ${drain.reason}`}
                        </p>
                      ) : null}
                      {findings.map(({ code, message, remedy }) => (
                        <p key={code} className="meta">
                          <Badge tone="amber" icon="alert">
                            {code}
                          </Badge>{' '}
                          {message} {remedy}
                        </p>
                      ))}
                    </li>
                  );
                })}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Recoveries />
      {mayManage ? <Health /> : null}
    </div>
  );
}
