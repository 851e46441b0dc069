import { maxListedCircuits, maxListedHosts } from '../../../contracts/system/health';
import { circuitAt } from '../../../stores/runs/hosts/host-manifest-store';
import type { HostRecord } from '../../../stores/runs/hosts/host-store';
import type { ApiContext } from '../../context';
import type { HealthCheck } from './checks';

type RunCheckContext = Pick<ApiContext, 'hosts' | 'hostManifests' | 'trees' | 'queue' | 'now'>;

/** The parts that runs need and requests do not: none of them makes the service unready. */
export const runChecks = ({
  hosts,
  hostManifests,
  trees,
  queue,
  now,
}: RunCheckContext): Record<string, HealthCheck> => ({
  async workers() {
    const live = (await hosts.everyLive()).map((host) => summary(host, hosts.liveWorkersOf(host)));
    const total = (of: 'workers' | 'draining') => live.reduce((sum, host) => sum + host[of], 0);
    const [workers, draining] = [total('workers'), total('draining')];
    const facts = { hosts: live.length, workers, draining, items: live.slice(0, maxListedHosts) };
    if (workers > draining) {
      return { facts };
    }
    return {
      facts,
      warning: workers === 0 ? 'no worker is live: runs wait' : 'every live worker is draining: runs wait',
    };
  },

  async circuitBreakers() {
    const live = await hosts.everyLive();
    const [manifests, pausedTrees] = await Promise.all([
      hostManifests.of(live.map(({ _id }) => _id)),
      trees.countPaused(),
    ]);
    const items = manifests
      .map(({ hostId, agent, circuit }) => ({ hostId, agent, ...circuitAt(circuit, now()) }))
      .filter(({ state }) => state !== 'closed');
    const open = items.filter(({ state }) => state === 'open').length;
    const warnings = [
      ...(open > 0 ? [`${open} agents on hosts cannot be started`] : []),
      ...(pausedTrees > 0 ? [`${pausedTrees} execution trees are paused`] : []),
    ];
    return {
      facts: { open, halfOpen: items.length - open, pausedTrees, items: items.slice(0, maxListedCircuits) },
      warning: warnings.join(', ') || undefined,
    };
  },

  async queue() {
    const [depth, oldest] = await Promise.all([queue.depth(), queue.oldestWaiting()]);
    return { facts: { depth, oldestEnqueuedAt: oldest?.enqueuedAt ?? null } };
  },
});

const summary = ({ _id: id, hostname, seenAt }: HostRecord, live: { draining: boolean }[]) => ({
  id,
  hostname,
  seenAt,
  workers: live.length,
  draining: live.filter(({ draining }) => draining).length,
});
