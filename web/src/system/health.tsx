import { useQuery } from '@tanstack/react-query';
import { board, type Schema } from '../api/client';
import { keys } from '../api/keys';
import { Button } from '../ui/button';
import { bytes, count, number } from '../ui/figures';
import { Badge, Loaded, Panel } from '../ui/parts';
import { ago, duration } from '../ui/time';

const healthQuery = {
  queryKey: [...keys.hosts, 'health'],
  // A part that fails is a part of the answer.
  queryFn: async () => (await board.GET('/api/health/deep')).data,
  staleTime: 0,
};

const tone = { ok: 'green', warning: 'amber', failed: 'red' } as const;
const stores = { sqlite: 'SQLite', mongo: 'MongoDB' } as const;
const mebibyte = 2 ** 20;

type Parts = Schema<'DeepHealth'>['parts'];
type PartName = keyof Parts;
type Part<Name extends PartName> = NonNullable<Parts[Name]>;

/** What a part is called, and its facts in words; a fact that could not be read is left out. */
const parts: { [Name in PartName]: { title: string; facts: (part: Part<Name>) => (string | undefined)[] } } = {
  storage: { title: 'Stores', facts: ({ kind }) => [kind && stores[kind]] },
  memory: {
    title: 'Memory',
    facts: ({ usedBytes: used, limitBytes: limit }) => [
      used !== undefined && limit !== undefined ? `${bytes(used)} of ${bytes(limit)}` : undefined,
    ],
  },
  disk: {
    title: 'Disk',
    facts: ({ freeMb, requiredMb }) => [
      freeMb === undefined ? undefined : `${bytes(freeMb * mebibyte)} free`,
      requiredMb === undefined ? undefined : `${bytes(requiredMb * mebibyte)} required`,
    ],
  },
  git: { title: 'Git', facts: () => [] },
  temporal: {
    title: 'Temporal',
    facts: ({ namespace, serverVersion }) => [
      namespace && `namespace ${namespace}`,
      serverVersion && `server ${serverVersion}`,
    ],
  },
  workers: {
    title: 'Workers',
    facts: ({ hosts, workers, draining }) => [
      workers === undefined ? undefined : count(workers, 'worker'),
      hosts === undefined ? undefined : `on ${count(hosts, 'host')}`,
      draining ? `${number(draining)} draining` : undefined,
    ],
  },
  circuitBreakers: {
    title: 'Circuit breakers',
    facts: ({ open, halfOpen, pausedTrees: paused }) => [
      open === 0 && halfOpen === 0 ? 'all closed' : undefined,
      open ? `${number(open)} open` : undefined,
      halfOpen ? `${number(halfOpen)} half-open` : undefined,
      paused ? `${count(paused, 'execution tree')} paused` : undefined,
    ],
  },
  queue: {
    title: 'Queue',
    facts: ({ depth, oldestEnqueuedAt: oldest }) => [
      depth === 0 ? 'empty' : undefined,
      depth ? `${count(depth, 'launch', 'launches')} waiting` : undefined,
      oldest ? `the oldest since ${ago(oldest)}` : undefined,
    ],
  },
};

function Row<Name extends PartName>({ name, part }: { name: Name; part: Part<Name> }) {
  const { title, facts } = parts[name];
  return (
    <li className="row wrap">
      <Badge tone={tone[part.status]} icon={part.status === 'ok' ? 'check' : 'alert'}>
        {part.status}
      </Badge>
      <strong>{title}</strong>
      <span className="meta grow">{part.reason ?? facts(part).filter(Boolean).join(', ')}</span>
      <span className="meta num">{number(Math.round(part.ms))} ms</span>
    </li>
  );
}

/** The parts of the service, each with its state and facts. */
export function Health() {
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
              {(Object.keys(health.parts) as PartName[]).map((name) => {
                const part = health.parts[name];
                return part ? <Row key={name} name={name} part={part} /> : null;
              })}
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
