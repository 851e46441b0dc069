import type { Capacity, SelectionEvidence } from '../../contracts/runs/admission';
import type { SchedulerSettings } from '../../contracts/settings/settings';
import type { CapacityPolicy, Scope, Usage } from './capacity';
import { Cursor } from './cursor';
import { PriorityLevel } from './priority-level';
import { isShared, RemainingCapacity } from './remaining-capacity';

/** A queued launch as the input of the choice. */
export interface Candidate {
  id: string;
  workspaceId: string;
  /** 0 is the lowest of `levels`. */
  priority: number;
  /** Milliseconds since the epoch. */
  enqueuedAt: number;
  requested: Capacity;
  policies: CapacityPolicy[];
  /** Where it would be counted. */
  scopes: Pick<Scope, 'scope' | 'key'>[];
}

/** Some entries of a lane, in the order in which they were enqueued. */
export interface Page {
  entries: Candidate[];
  isLast: boolean;
}

/** A lane of the queue (`laneOf`) with its first entries; or a stream of entries of one workspace and priority. */
export interface Lane extends Page {
  id: string;
  /** Of a stream: the id of the lane of each of its entries. */
  laneOf?: (entry: Candidate) => string;
}

/** Whose turn it is: the workspace that was served last, and how often in a row. */
export interface WorkspaceTurn {
  workspaceId: string;
  served: number;
}

export interface Plan {
  /** What to dispatch, in this order. */
  picks: { id: string; selection: SelectionEvidence }[];
  /** The checked entries that do not fit, and the ceilings that block them. */
  blocked: { id: string; policies: CapacityPolicy[] }[];
  /** Lanes of which no entry fits, and the shared ceilings that block them. */
  full: { laneId: string; policies: CapacityPolicy[] }[];
  turn: WorkspaceTurn | undefined;
}

/** How far an entry has been promoted by waiting. */
export function promotionsOf(
  { enqueuedAt }: Pick<Candidate, 'enqueuedAt'>,
  { agingMs, maxPromotions }: SchedulerSettings,
  now: number,
): number {
  return Math.min(maxPromotions, Math.max(0, Math.floor((now - enqueuedAt) / agingMs)));
}

/** Its priority after promotion, up to the highest level. */
export function effectivePriority(
  entry: Pick<Candidate, 'enqueuedAt' | 'priority'>,
  settings: SchedulerSettings,
  now: number,
): number {
  const highest = settings.levels - 1;
  return Math.min(highest, Math.min(entry.priority, highest) + promotionsOf(entry, settings, now));
}

export interface Scheduling {
  usage: Usage;
  turn?: WorkspaceTurn | undefined;
  settings: SchedulerSettings;
  now: number;
}

/**
 * Which queued launches go now (specification 2, Admission rule 4): by explicit priority with bounded promotion by age, then by
 * workspace turns, then by when and as what they were enqueued. An entry that does not fit stays, and the next one is checked.
 * For one that has used up its promotions and still does not fit, capacity is reserved: others are dispatched only where it
 * would fit besides them. Without that, small launches could pass a large one for ever.
 *
 * Checks the first of each lane and those behind it only while they may be dispatched, so that the depth of the queue makes no
 * difference: yields the id of a lane when it needs more of its entries. Streams are checked in their order, without the entries
 * of lanes of which one was blocked: with all streams or with all lanes the choice is the same.
 *
 * Pure: `usage` is what is reserved now, and every pick is counted on top of it.
 */
export function* schedule(
  lanes: readonly Lane[],
  { usage, turn, settings, now }: Scheduling,
): Generator<string, Plan, Page> {
  const remaining = new RemainingCapacity(usage);
  const plan: Plan = { picks: [], blocked: [], full: [], turn };
  const waiting = lanes.map((line) => new Cursor(line));
  for (let priority = settings.levels - 1; priority >= 0; priority -= 1) {
    const level = new PriorityLevel<Cursor>(plan.turn, settings.workspaceBurst);
    const isOfLevel = (entry: Candidate) => effectivePriority(entry, settings, now) === priority;
    for (const cursor of waiting) {
      const head = yield* cursor.head();
      if (head && isOfLevel(head)) {
        level.add(head.workspaceId, cursor);
      }
    }
    for (let cursor = level.next(); cursor; cursor = level.next()) {
      const entry = cursor.take();
      const policies = remaining.blocking(entry);
      const shared = policies.filter(({ scope }) => isShared(scope));
      if (policies.length === 0) {
        remaining.count(entry);
        plan.turn = level.serve(entry.workspaceId);
        plan.picks.push({
          id: entry.id,
          selection: {
            evaluatedAt: new Date(now).toISOString(),
            effectivePriority: priority,
            promotions: promotionsOf(entry, settings, now),
            workspaceTurn: plan.turn.served,
            position: plan.picks.length + 1,
          },
        });
        if (plan.picks.length >= settings.evaluationLimit) {
          return plan;
        }
      } else {
        plan.blocked.push({ id: entry.id, policies });
        if (isOverdue(entry, settings, now)) {
          remaining.reserve(entry, policies);
        }
      }
      if (shared.length > 0) {
        plan.full.push({ laneId: cursor.closeLane(entry), policies: shared });
        if (shared.some((policy) => remaining.isExhausted(policy))) {
          cursor.close();
        }
      }
      const head = yield* cursor.head();
      if (!head || !isOfLevel(head)) {
        level.remove(entry.workspaceId, cursor);
      }
    }
  }
  return plan;
}

const isOverdue = (entry: Candidate, settings: SchedulerSettings, now: number): boolean =>
  now - entry.enqueuedAt >= settings.agingMs * Math.max(1, settings.maxPromotions);
