import type { AdmissionSettings } from '../../contracts/settings';
import { evaluated, hostKey, policiesOf, scopesOf, type Policy, type Usage } from '../../runs/admission/capacity';
import { schedule, type Candidate, type Page, type Plan, type Turn } from '../../runs/admission/schedule';
import type { LinePage } from '../../stores/queue-lines';
import type { QueueRecord } from '../../stores/queue-store';
import type { AdmissionControl } from './dependencies';

/** What goes now, in order, with the ceilings that hold for each. */
export interface Choice {
  picks: (Plan['picks'][number] & { policies: Policy[] })[];
  turn: Turn | undefined;
  /** Writes down what is in the way of those that do not go. */
  remember(): Promise<void>;
}

type Capacities = Map<string | null, { takesWork: boolean; runs: number | undefined }>;

/** How much is read of a line at once when its first entries may not go: twice as much each time. */
const firstRead = 32;
const mostRead = 512;

/**
 * Chooses which of the queued launches go now. Reads the first entries of each line, and more of a line only where those
 * may not go for reasons of their own: their root task, their tree, a pause after a failure.
 */
export async function chooseNext(
  { queue, trees, hosts }: Pick<AdmissionControl, 'queue' | 'trees' | 'hosts'>,
  settings: AdmissionSettings,
  usage: Usage,
  turn: Turn | undefined,
  now: Date,
): Promise<Choice> {
  const lines = new Map((await queue.lines()).map((page) => [idOf(page), page]));
  const capacities = await capacitiesOf([...lines.values()]);
  const seen = new Map<string, QueueRecord>();
  const there = [...lines.values()].filter(takesWork);
  const closed = await closedTrees(there.flatMap(({ entries }) => entries));
  const first = [];
  for (const page of there) first.push({ id: idOf(page), ...(await pageOf(page, closed)) });
  const choosing = schedule(first, usage, turn, settings.queue.scheduler, now.getTime());
  const read = new Map(there.map((page) => [idOf(page), page.entries.length]));
  let step = choosing.next();
  while (!step.done) step = choosing.next(await more(step.value));

  const { picks, blocked, full, turn: next } = step.value;
  return {
    picks: picks.flatMap((pick) => {
      const entry = seen.get(pick.id);
      return entry ? [{ ...pick, policies: policiesFor(entry) }] : [];
    }),
    turn: next,
    async remember() {
      for (const page of lines.values()) if (!takesWork(page)) await holdBack(page);
      await limitBlocked(blocked);
      for (const { lineId, policies } of full) await limitLine(lineId, policies);
    },
  };

  function policiesFor(entry: QueueRecord): Policy[] {
    return policiesOf(settings, entry, capacities.get(entry.hostId)?.runs);
  }

  function takesWork({ entries: [head] }: LinePage): boolean {
    return head === undefined || capacities.get(head.hostId)?.takesWork !== false;
  }

  async function capacitiesOf(pages: LinePage[]): Promise<Capacities> {
    const found: Capacities = new Map();
    for (const hostId of new Set(pages.map(({ entries: [head] }) => head?.hostId ?? null))) {
      if (hostId !== null) found.set(hostId, await hosts.capacityOf(hostId));
    }
    return found;
  }

  /** Trees that do not grow now; a cancelled one's entries are being ended by its workflow. */
  async function closedTrees(entries: QueueRecord[]): Promise<Set<string>> {
    const roots = entries.filter(({ edge }) => edge !== 'root').map(({ rootObjectiveId }) => rootObjectiveId);
    return roots.length === 0 ? new Set() : trees.closed([...new Set(roots)]);
  }

  /** Without those that are to end, wait after a failure, or belong to a tree that does not grow. */
  async function pageOf({ entries, isLast }: LinePage, closedNow: ReadonlySet<string>): Promise<Page> {
    const candidates: Candidate[] = [];
    for (const entry of entries) {
      if (entry.cancel || (entry.notBefore !== undefined && entry.notBefore > now.toISOString())) continue;
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
    const line = lines.get(id);
    const skip = read.get(id) ?? 0;
    if (!line) return { entries: [], isLast: true };
    const page = await queue.more(line, skip, Math.min(mostRead, Math.max(firstRead, skip)));
    read.set(id, skip + page.entries.length);
    return pageOf(page, await closedTrees(page.entries));
  }

  /** What waits for a host that takes no work waits for no ceiling: only launches that need the same host wait behind. */
  async function holdBack(page: LinePage): Promise<void> {
    const hostId = page.entries[0]?.hostId;
    if (typeof hostId !== 'string') return;
    const key = hostKey(hostId);
    await queue.limitLine(page, key, [held('host', key)]);
  }

  /** What waits for its tree waits for no ceiling, and nobody waits behind it. */
  async function holdForTree({ _id: id, rootObjectiveId, limitingKey, limitingPolicies }: QueueRecord): Promise<void> {
    const stands = limitingKey === null && limitingPolicies.some(({ scope }) => scope === 'tree');
    if (!stands) await queue.limit(id, null, [held('tree', rootObjectiveId)]);
  }

  async function limitBlocked(found: Plan['blocked']): Promise<void> {
    for (const { id, policies } of found.slice(0, settings.queue.scheduler.evaluationLimit)) {
      const [limiting] = policies;
      const entry = seen.get(id);
      const same = entry?.limitingKey === limiting?.key && entry?.limitingPolicies.length === policies.length;
      if (limiting && !same) await queue.limit(id, limiting.key, policies.map(evaluated));
    }
  }

  /**
   * What the first of a line waits for, the others do. Where that is the whole board's ceiling they are left alone: it
   * is full and free again with every run that begins and ends. But a host that is back is said to be.
   */
  async function limitLine(lineId: string, policies: Policy[]): Promise<void> {
    const line = lines.get(lineId);
    const [limiting] = policies;
    if (!line || !limiting) return;
    const isBack = line.entries.some(({ limitingPolicies }) => limitingPolicies.some(({ limit }) => limit === 0));
    if (limiting.scope === 'global' && !isBack) return;
    await queue.limitLine(line, limiting.key, policies.map(evaluated));
  }
}

const idOf = ({ state, line }: LinePage): string => `${state} ${line}`;

const held = (scope: 'host' | 'tree', scopeId: string) => ({
  policy: `${scope}.runs`,
  scope,
  scopeId,
  resource: 'runs' as const,
  limit: 0,
});

const candidateOf = (entry: QueueRecord, policies: Policy[]): Candidate => ({
  id: entry._id,
  workspaceId: entry.workspaceId,
  priority: entry.priority,
  enqueuedAt: Date.parse(entry.enqueuedAt),
  requested: entry.requested,
  policies,
  scopes: scopesOf(entry),
});
