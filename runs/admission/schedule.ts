import type { SchedulerSettings } from '../../contracts/settings';
import type { Capacity, SelectionEvidence } from '../../contracts/admission';
import { blockedBy, nothing, plus, type Policy, type Usage } from './capacity';

/** A queued launch as the choice looks at it. */
export interface Candidate {
  id: string;
  workspaceId: string;
  /** 0 is the lowest of `levels`. */
  priority: number;
  /** Milliseconds since the epoch. */
  enqueuedAt: number;
  requested: Capacity;
  policies: Policy[];
  /** The scopes it would be counted under. */
  keys: string[];
}

/** Whose turn it is: the workspace that was served last, and how often in a row. */
export interface Turn {
  workspaceId: string;
  served: number;
}

export interface Plan {
  /** What to dispatch, in this order. */
  picks: { id: string; selection: SelectionEvidence }[];
  /** What has no room, and which ceilings are in the way. */
  blocked: { id: string; policies: Policy[] }[];
  turn: Turn | undefined;
}

/** How far an entry has been promoted by waiting. */
export function promotionsOf(
  { enqueuedAt }: Pick<Candidate, 'enqueuedAt'>,
  { agingMs, maxPromotions }: SchedulerSettings,
  now: number,
): number {
  return Math.min(maxPromotions, Math.max(0, Math.floor((now - enqueuedAt) / agingMs)));
}

/** Its priority after promotion, at most the highest level. */
export function effectivePriority(
  entry: Pick<Candidate, 'enqueuedAt' | 'priority'>,
  settings: SchedulerSettings,
  now: number,
): number {
  const highest = settings.levels - 1;
  return Math.min(highest, Math.min(entry.priority, highest) + promotionsOf(entry, settings, now));
}

/**
 * Which queued launches go now (specification 2, Admission rule 4): by explicit priority with bounded promotion by age,
 * then by workspace turns, then by when and as what they were enqueued. What has no room stays, and the next one that
 * fits is looked at. An entry that has used up its promotions and still has no room has its room kept free: others
 * go only where it would fit besides them. Without that, small launches could pass a large one for ever.
 *
 * Pure: `usage` is what is reserved now, and every pick is counted on top of it.
 */
export function schedule(
  entries: readonly Candidate[],
  usage: Usage,
  turn: Turn | undefined,
  settings: SchedulerSettings,
  now: number,
): Plan {
  const planned: Record<string, Capacity | undefined> = { ...usage };
  const plan: Plan = { picks: [], blocked: [], turn };
  for (const level of levels(entries, settings, now)) {
    const lanes = new Lanes(level.entries, plan.turn, settings.workspaceBurst);
    for (let entry = lanes.next(); entry; entry = lanes.next()) {
      const policies = blockedBy(entry.policies, planned, entry.requested);
      if (policies.length > 0) {
        plan.blocked.push({ id: entry.id, policies });
        if (isOverdue(entry, settings, now)) count(planned, entry);
        continue;
      }
      if (plan.picks.length >= settings.evaluationLimit) continue;
      count(planned, entry);
      lanes.serve(entry.workspaceId);
      plan.turn = lanes.turn;
      plan.picks.push({
        id: entry.id,
        selection: {
          evaluatedAt: new Date(now).toISOString(),
          effectivePriority: level.priority,
          promotions: promotionsOf(entry, settings, now),
          workspaceTurn: lanes.turn?.served ?? 0,
          position: plan.picks.length + 1,
        },
      });
    }
  }
  return plan;
}

const isOverdue = (entry: Candidate, settings: SchedulerSettings, now: number): boolean =>
  now - entry.enqueuedAt >= settings.agingMs * Math.max(1, settings.maxPromotions);

function count(usage: Record<string, Capacity | undefined>, { keys, requested }: Candidate): void {
  for (const key of keys) usage[key] = plus(usage[key] ?? nothing, requested);
}

/** The entries by effective priority, the highest level first, each in its stable order. */
function levels(entries: readonly Candidate[], settings: SchedulerSettings, now: number) {
  const found = new Map<number, Candidate[]>();
  for (const entry of entries) {
    const priority = effectivePriority(entry, settings, now);
    const level = found.get(priority);
    if (level) level.push(entry);
    else found.set(priority, [entry]);
  }
  return [...found]
    .sort(([a], [b]) => b - a)
    .map(([priority, level]) => ({
      priority,
      entries: level.sort((a, b) => a.enqueuedAt - b.enqueuedAt || (a.id < b.id ? -1 : 1)),
    }));
}

/** One line of entries per workspace, served in turns of `burst`. */
class Lanes {
  private readonly lanes = new Map<string, Candidate[]>();
  private readonly order: string[];

  constructor(
    entries: Candidate[],
    public turn: Turn | undefined,
    private readonly burst: number,
  ) {
    for (const entry of [...entries].reverse()) {
      const lane = this.lanes.get(entry.workspaceId);
      if (lane) lane.push(entry);
      else this.lanes.set(entry.workspaceId, [entry]);
    }
    // By name, so that the order of turns does not depend on who waits.
    this.order = [...this.lanes.keys()].sort();
  }

  /** The first entry of the workspace whose turn it is. */
  next(): Candidate | undefined {
    const workspaceId = this.whoseTurn();
    return workspaceId === undefined ? undefined : this.lanes.get(workspaceId)?.pop();
  }

  serve(workspaceId: string): void {
    const served = this.turn?.workspaceId === workspaceId ? this.turn.served + 1 : 1;
    this.turn = { workspaceId, served };
  }

  /** The workspace that was served last until its burst is over, then the one that follows it by name. */
  private whoseTurn(): string | undefined {
    const waiting = this.order.filter((each) => (this.lanes.get(each)?.length ?? 0) > 0);
    const { turn } = this;
    if (!turn) return waiting[0];
    if (turn.served < this.burst && waiting.includes(turn.workspaceId)) return turn.workspaceId;
    const following = waiting.find((each) => each > turn.workspaceId) ?? waiting[0];
    // Nobody else waits: its burst begins anew.
    if (following === turn.workspaceId) this.turn = { ...turn, served: 0 };
    return following;
  }
}
