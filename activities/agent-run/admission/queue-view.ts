import type { AdmissionSettings } from '../../../contracts/settings/settings';
import { type CapacityPolicy, policiesOf, scopesOf } from '../../../domain/admission/capacity';
import type { Candidate, Page } from '../../../domain/admission/schedule';
import type { LanePage } from '../../../stores/runs/admission/queue-lanes';
import type { QueueRecord, QueueStore } from '../../../stores/runs/admission/queue-store';
import type { HostCapacity, HostStore } from '../../../stores/runs/hosts/host-store';

interface ViewSources {
  queue: Pick<QueueStore, 'limit'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  capacities: ReadonlyMap<string, HostCapacity>;
  closedTrees: (entries: readonly QueueRecord[]) => Promise<Set<string>>;
}

/** What one choice has read of the queue, and what it has to know of those entries. */
export function queueView(
  { queue, hosts, capacities, closedTrees }: ViewSources,
  settings: AdmissionSettings,
  now: Date,
) {
  const seen = new Map<string, QueueRecord>();
  const lanes = new Map<string, QueueRecord[]>();
  const others = new Map<string, HostCapacity>();
  const trees = { open: new Set<string>(), closed: new Set<string>() };
  const at = now.toISOString();

  const capacityOf = (hostId: string): HostCapacity | undefined => capacities.get(hostId) ?? others.get(hostId);
  const takesWork = ({ hostId }: QueueRecord): boolean => hostId === null || capacityOf(hostId)?.takesWork !== false;
  const isInClosedTree = ({ edge, rootObjectiveId }: QueueRecord): boolean =>
    edge !== 'root' && trees.closed.has(rootObjectiveId);

  function policiesFor(entry: QueueRecord): CapacityPolicy[] {
    return policiesOf(settings, entry, entry.hostId === null ? undefined : capacityOf(entry.hostId)?.runs);
  }

  return {
    /** Reads what has to be known of these entries: their hosts, where they are not live, and their trees. */
    async read(entries: readonly QueueRecord[]): Promise<void> {
      for (const entry of entries) {
        const lane = laneIdOf(entry);
        if (!seen.has(entry._id)) {
          lanes.set(lane, [...(lanes.get(lane) ?? []), entry]);
        }
        seen.set(entry._id, entry);
        if (entry.hostId !== null && !capacityOf(entry.hostId)) {
          others.set(entry.hostId, await hosts.capacityOf(entry.hostId));
        }
      }
      const unknown = entries.filter(
        ({ edge, rootObjectiveId: id }) => edge !== 'root' && !trees.open.has(id) && !trees.closed.has(id),
      );
      const closed = unknown.length === 0 ? new Set<string>() : await closedTrees(unknown);
      for (const { rootObjectiveId } of unknown) {
        (closed.has(rootObjectiveId) ? trees.closed : trees.open).add(rootObjectiveId);
      }
    },

    /**
     * Without those that are to end, wait after a failure, wait for a host that takes no work, or belong to a tree that does not
     * grow; a cancelled one's entries are being ended by its workflow.
     */
    pageOf({ entries, isLast }: { entries: QueueRecord[]; isLast: boolean }): Page {
      const candidates = entries.filter(
        (entry) =>
          !entry.cancel &&
          !(entry.notBefore !== undefined && entry.notBefore > at) &&
          takesWork(entry) &&
          !isInClosedTree(entry),
      );
      return { entries: candidates.map((entry) => candidateOf(entry, policiesFor(entry))), isLast };
    },

    entry: (id: string) => seen.get(id),
    laneOf(id: string): string {
      const entry = seen.get(id);
      return entry ? laneIdOf(entry) : '';
    },
    entriesIn: (laneId: string): QueueRecord[] => lanes.get(laneId) ?? [],

    /** What was read of each lane of such hosts, as if it were all of it. */
    lanesOf: (isWanted: (hostId: string | null) => boolean): LanePage[] =>
      [...lanes.values()].flatMap((entries) => {
        const [first] = entries;
        return first && isWanted(first.hostId)
          ? [{ state: first.state as LanePage['state'], line: first.line, hostId: first.hostId, entries, isLast: true }]
          : [];
      }),

    /** A launch that waits for its tree waits for no ceiling, and blocks no other launch. */
    async recordTrees(): Promise<void> {
      for (const entry of seen.values()) {
        const { _id: id, rootObjectiveId, limitingKey, limitingPolicies } = entry;
        const stands = limitingKey === null && limitingPolicies.some(({ scope }) => scope === 'tree');
        if (isInClosedTree(entry) && !stands) {
          await queue.limit(id, null, [heldPolicy('tree', rootObjectiveId)]);
        }
      }
    },
  };
}

export const laneIdOf = ({ state, line }: Pick<QueueRecord, 'state' | 'line'>): string => `${state} ${line}`;

/** A ceiling under which nothing starts now. */
export const heldPolicy = (scope: 'host' | 'tree', scopeId: string) => ({
  policy: `${scope}.runs`,
  scope,
  scopeId,
  resource: 'runs' as const,
  limit: 0,
});

const candidateOf = (entry: QueueRecord, policies: CapacityPolicy[]): Candidate => ({
  id: entry._id,
  workspaceId: entry.workspaceId,
  priority: entry.priority,
  enqueuedAt: Date.parse(entry.enqueuedAt),
  requested: entry.requested,
  policies,
  scopes: scopesOf(entry),
});
