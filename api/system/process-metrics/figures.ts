import { localWorkspace } from '../../../contracts/common';
import { globalScope, resources } from '../../../domain/admission/capacity';
import type { Metrics } from '../../../platform/metrics/metrics';
import { circuitAt } from '../../../stores/runs/hosts/host-manifest-store';
import type { ApiContext } from '../../context';

type FigureSources = Pick<
  ApiContext,
  'hosts' | 'hostManifests' | 'now' | 'queue' | 'reservations' | 'trees' | 'watchers'
>;

/** What an operator watches of all workspaces, read from the stores when the metrics are: the same on every replica. */
export function boardFigures({ gauge }: Metrics, sources: FigureSources): void {
  const { hosts, hostManifests, now, queue, reservations, trees, watchers } = sources;

  gauge('runboard.queue.depth', 'Runs that wait in the queue, by workspace', async () => {
    const depths = new Map([[localWorkspace, 0]]);
    for (const { workspaceId, current } of await queue.depths()) {
      depths.set(workspaceId, current);
    }
    return [...depths].map(([workspace, depth]) => [depth, { workspace }] as const);
  });
  gauge('runboard.queue.age.seconds', 'How long the oldest of them waits; 0 for an empty queue', async () => {
    const oldest = await queue.oldestWaiting();
    return oldest ? Math.max(0, now().getTime() - Date.parse(oldest.enqueuedAt)) / 1_000 : 0;
  });
  gauge('runboard.admission.reservations', 'Runs that hold capacity', () => reservations.activeRuns());
  gauge('runboard.admission.used', 'Capacity that they hold together, by resource', async () => {
    const used = (await reservations.usage())[globalScope.key];
    return resources.map((resource) => [used?.[resource] ?? 0, { resource }] as const);
  });
  let reading: ReturnType<typeof hosts.everyLive> | undefined;
  /** The live hosts, once for the figures that are read together. */
  const liveHosts = () => (reading ??= hosts.everyLive().finally(() => (reading = undefined)));
  gauge('runboard.workers', 'Worker processes that are live, by whether they drain', async () => {
    const live = (await liveHosts()).flatMap((host) => hosts.liveWorkersOf(host));
    const draining = live.filter((worker) => worker.draining).length;
    return [
      [live.length - draining, { state: 'serving' }],
      [draining, { state: 'draining' }],
    ];
  });
  gauge('runboard.hosts', 'Hosts with a live worker', async () => (await liveHosts()).length);
  gauge('runboard.circuits.open', 'Agents that a host cannot start at present', async () => {
    const live = await liveHosts();
    const manifests = await hostManifests.of(live.map(({ _id }) => _id));
    return manifests.filter(({ circuit }) => circuitAt(circuit, now()).state === 'open').length;
  });
  gauge('runboard.trees.paused', 'Execution trees that are paused', () => trees.countPaused());
  gauge('runboard.watchers', 'WebSocket connections of this replica', async () => {
    return watchers.count().connections;
  });
}
