import type { AdmissionSettings } from '../../../contracts/settings/settings';
import {
  type CapacityPolicy,
  evaluated,
  hostKey,
  policiesOf,
  scopesOf,
  type Usage,
} from '../../../domain/admission/capacity';
import { type Candidate, type Page, type Plan, schedule, type WorkspaceTurn } from '../../../domain/admission/schedule';
import type { LanePage } from '../../../stores/runs/admission/queue-lanes';
import type { QueueRecord, QueueStore } from '../../../stores/runs/admission/queue-store';
import type { HostStore } from '../../../stores/runs/hosts/host-store';

/** The launches that may start now, in order, with the ceilings that apply to each. */
export interface Choice {
  picks: (Plan['picks'][number] & { policies: CapacityPolicy[] })[];
  turn: WorkspaceTurn | undefined;
  /** Records what blocks the others. */
  recordBlocked(): Promise<void>;
}

export interface ChoiceSources {
  queue: Pick<QueueStore, 'lanes' | 'more' | 'limit' | 'limitLane'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  /** The ids of those trees of these entries that do not grow now. */
  closedTrees: (entries: readonly QueueRecord[]) => Promise<Set<string>>;
}

type Capacities = Map<string | null, { takesWork: boolean; runs: number | undefined }>;

/** How many entries of a lane are read at once when its first ones are blocked: twice as many each time. */
const firstRead = 32;
const maxRead = 512;

/**
 * Chooses which of the queued launches start now. Reads the first entries of each lane, and more of a lane only where those are
 * blocked for reasons of their own: their root task, their tree, a pause after a failure.
 */
export async function chooseNext(
  { queue, hosts, closedTrees }: ChoiceSources,
  settings: AdmissionSettings,
  { usage, turn, now }: { usage: Usage; turn: WorkspaceTurn | undefined; now: Date },
): Promise<Choice> {
  const lanes = new Map((await queue.lanes()).map((page) => [idOf(page), page]));
  const capacities = await capacitiesOf([...lanes.values()]);
  const seen = new Map<string, QueueRecord>();
  const available = [...lanes.values()].filter(takesWork);
  const closed = await closedTreesOf(available.flatMap(({ entries }) => entries));
  const first = [];
  for (const page of available) {
    first.push({ id: idOf(page), ...(await pageOf(page, closed)) });
  }
  const choosing = schedule(first, { usage, turn, settings: settings.queue.scheduler, now: now.getTime() });
  const read = new Map(available.map((page) => [idOf(page), page.entries.length]));
  let step = choosing.next();
  while (!step.done) {
    step = choosing.next(await more(step.value));
  }

  const { picks, blocked, full, turn: next } = step.value;
  return {
    picks: picks.flatMap((pick) => {
      const entry = seen.get(pick.id);
      return entry ? [{ ...pick, policies: policiesFor(entry) }] : [];
    }),
    turn: next,
    async recordBlocked() {
      for (const page of lanes.values()) {
        if (!takesWork(page)) {
          await holdBack(page);
        }
      }
      await limitBlocked(blocked);
      for (const { laneId, policies } of full) {
        await limitLane(laneId, policies);
      }
    },
  };

  function policiesFor(entry: QueueRecord): CapacityPolicy[] {
    return policiesOf(settings, entry, capacities.get(entry.hostId)?.runs);
  }

  function takesWork({ entries: [head] }: LanePage): boolean {
    return head === undefined || capacities.get(head.hostId)?.takesWork !== false;
  }

  async function capacitiesOf(pages: LanePage[]): Promise<Capacities> {
    const capacityOf: Capacities = new Map();
    for (const hostId of new Set(pages.map(({ entries: [head] }) => head?.hostId ?? null))) {
      if (hostId !== null) {
        capacityOf.set(hostId, await hosts.capacityOf(hostId));
      }
    }
    return capacityOf;
  }

  /** Trees that do not grow now; a cancelled one's entries are being ended by its workflow. */
  async function closedTreesOf(entries: QueueRecord[]): Promise<Set<string>> {
    const descendants = entries.filter(({ edge }) => edge !== 'root');
    return descendants.length === 0 ? new Set() : closedTrees(descendants);
  }

  /** Without those that are to end, wait after a failure, or belong to a tree that does not grow. */
  async function pageOf({ entries, isLast }: LanePage, closedNow: ReadonlySet<string>): Promise<Page> {
    const candidates: Candidate[] = [];
    for (const entry of entries) {
      if (entry.cancel || (entry.notBefore !== undefined && entry.notBefore > now.toISOString())) {
        continue;
      }
      if (entry.edge !== 'root' && closedNow.has(entry.rootObjectiveId)) {
        await holdForTree(entry);
        continue;
      }
      seen.set(entry._id, entry);
      candidates.push(candidateOf(entry, policiesFor(entry)));
    }
    return { entries: candidates, isLast };
  }

  async function more(id: string): Promise<Page> {
    const lane = lanes.get(id);
    const skip = read.get(id) ?? 0;
    if (!lane) {
      return { entries: [], isLast: true };
    }
    const page = await queue.more(lane, skip, Math.min(maxRead, Math.max(firstRead, skip)));
    read.set(id, skip + page.entries.length);
    return pageOf(page, await closedTreesOf(page.entries));
  }

  /** What waits for a host that takes no work waits for no ceiling: only launches that need the same host wait behind. */
  async function holdBack(page: LanePage): Promise<void> {
    const hostId = page.entries[0]?.hostId;
    if (typeof hostId !== 'string') {
      return;
    }
    const key = hostKey(hostId);
    await queue.limitLane(page, key, [heldPolicy('host', key)]);
  }

  /** A launch that waits for its tree waits for no ceiling, and blocks no other launch. */
  async function holdForTree({ _id: id, rootObjectiveId, limitingKey, limitingPolicies }: QueueRecord): Promise<void> {
    const stands = limitingKey === null && limitingPolicies.some(({ scope }) => scope === 'tree');
    if (!stands) {
      await queue.limit(id, null, [heldPolicy('tree', rootObjectiveId)]);
    }
  }

  async function limitBlocked(blockedEntries: Plan['blocked']): Promise<void> {
    for (const { id, policies } of blockedEntries.slice(0, settings.queue.scheduler.evaluationLimit)) {
      const [limiting] = policies;
      const entry = seen.get(id);
      const same = entry?.limitingKey === limiting?.key && entry?.limitingPolicies.length === policies.length;
      if (limiting && !same) {
        await queue.limit(id, limiting.key, policies.map(evaluated));
      }
    }
  }

  /**
   * The rest of a lane waits for what its first entry waits for. Under the whole board's ceiling they are not updated: it fills
   * and frees with every run. But a host that is back is recorded.
   */
  async function limitLane(laneId: string, policies: CapacityPolicy[]): Promise<void> {
    const lane = lanes.get(laneId);
    const [limiting] = policies;
    if (!lane || !limiting) {
      return;
    }
    const isBack = lane.entries.some(({ limitingPolicies }) => limitingPolicies.some(({ limit }) => limit === 0));
    if (limiting.scope === 'global' && !isBack) {
      return;
    }
    await queue.limitLane(lane, limiting.key, policies.map(evaluated));
  }
}

const idOf = ({ state, line: lane }: LanePage): string => `${state} ${lane}`;

const heldPolicy = (scope: 'host' | 'tree', scopeId: string) => ({
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
