import { useQuery } from '@tanstack/react-query';
import { board, unwrap } from '../api/client';
import { keys } from '../api/keys';
import { useMay } from '../app/session';
import { Button } from '../ui/button';
import { bytes, count, number } from '../ui/figures';
import { Badge, Empty, Loaded, Panel } from '../ui/parts';
import { Ago, duration } from '../ui/time';

const hostsQuery = {
  queryKey: keys.hosts,
  queryFn: async () => (await unwrap(board.GET('/api/agents/hosts', { params: { query: { limit: 100 } } }))).hosts,
  staleTime: 0,
};
const healthQuery = {
  queryKey: [...keys.hosts, 'health'],
  // A part that fails is a part of the answer.
  queryFn: async () => (await board.GET('/api/health/deep')).data,
  staleTime: 0,
};

const tone = { ok: 'green', warning: 'amber', failed: 'red' } as const;

/** Facts of a part as a sentence. */
function factsOf(part: Record<string, unknown>): string {
  return Object.entries(part)
    .filter(([name, value]) => name !== 'status' && name !== 'ms' && value !== null && typeof value !== 'object')
    .map(([name, value]) =>
      typeof value === 'number'
        ? `${name} ${/Bytes$/.test(name) ? bytes(value) : number(value)}`
        : `${name} ${String(value)}`,
    )
    .join(', ');
}

function Health() {
  const query = useQuery(healthQuery);
  return (
    <Panel
      title="Parts"
      flush
      actions={
        <Button small onClick={() => void query.refetch()} busy={query.isFetching}>
          Check again
        </Button>
      }
    >
      <Loaded query={query} what="the parts">
        {(health) => (
          <>
            <ul className="rows">
              {Object.entries(health.parts).map(([name, part]) => (
                <li key={name} className="row wrap">
                  <Badge tone={tone[part.status]} icon={part.status === 'ok' ? 'check' : 'alert'}>
                    {part.status}
                  </Badge>
                  <strong>{name}</strong>
                  <span className="meta grow">{part.reason ?? factsOf(part)}</span>
                  <span className="meta num">{number(Math.round(part.ms))} ms</span>
                </li>
              ))}
            </ul>
            <p className="meta empty">
              Version {health.version}, Node {health.nodeVersion}, up for {duration(health.uptimeMs)},{' '}
              {count(health.webSocket.connections, 'watcher')} of {number(health.webSocket.limit)}
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** Hosts and workers with what they lack, and the parts of the service. */
export function FleetView() {
  const mayManage = useMay()('admin:manage');
  const hosts = useQuery(hostsQuery);
  const { data: health } = useQuery({ ...healthQuery, enabled: mayManage });
  const workersOf = (hostId: string) => health?.parts.workers?.items?.find(({ id }) => id === hostId);
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
                {list.map(({ hostId, hostname, seenAt, findings }) => {
                  const workers = workersOf(hostId);
                  return (
                    <li key={hostId}>
                      <div className="row wrap">
                        <strong>{hostname}</strong>
                        <span className="mono meta">{hostId}</span>
                        {workers ? (
                          <span className="meta num">
                            {count(workers.workers, 'worker')}
                            {workers.draining > 0 ? `, ${number(workers.draining)} draining` : ''}
                          </span>
                        ) : null}
                        <span className="grow" />
                        <span className="meta">
                          seen <Ago at={seenAt} />
                        </span>
                      </div>
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
      {mayManage ? <Health /> : null}
    </div>
  );
}
