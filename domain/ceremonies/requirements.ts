import { createHash } from 'node:crypto';
import type { Ceremony, CeremonyCreate, CeremonyKind } from '../../contracts/governance/ceremony';
import type { EnforcementMode, Features } from '../../contracts/settings/settings';
import type { Task } from '../../contracts/tasks/task';

/** A ceremony that a task needs before it is done and that was not held yet. */
export interface Unmet {
  mode: Exclude<EnforcementMode, 'off'>;
  /** The pending one, or the one that is to be opened. */
  ceremony: Ceremony;
}

/** What a task has to be to need a ceremony; a new one has no id yet, and no attempt. */
export type Subject = Pick<Task, 'id' | 'type' | 'attempt'>;

/** Types of tasks whose design others have to live with. */
const designed = new Set(['code', 'feature', 'bug', 'refactor', 'automation', 'system']);

/** What makes a task need a ceremony of a kind of itself, and what it then has to bring. */
interface Trigger {
  setting: 'ceremonyDesignReview' | 'ceremonyFailureRetrospective';
  title: string;
  requiredArtifacts: CeremonyCreate['requiredArtifacts'];
  /** Why the task needs it; `undefined` when it does not. */
  reason: (task: Subject) => string | undefined;
  /** Whether a completed one is about what the task needs it for. */
  covers(ceremony: Ceremony, task: Subject): boolean;
  /** What a task may need another one for. */
  occasion(task: Subject): string;
}

const triggers: Record<CeremonyKind, Trigger> = {
  design_review: {
    setting: 'ceremonyDesignReview',
    title: 'Design review',
    requiredArtifacts: ['decision-packet'],
    reason: ({ type }) => (designed.has(type) ? `A task of type ${type} has its design reviewed.` : undefined),
    covers: () => true,
    occasion: () => '',
  },
  failure_retrospective: {
    setting: 'ceremonyFailureRetrospective',
    title: 'Failure retrospective',
    requiredArtifacts: ['retrospective'],
    reason: ({ attempt }) =>
      attempt?.result === 'failed' || attempt?.result === 'partial'
        ? `The last attempt, ${attempt.id}, ended as ${attempt.result}.`
        : undefined,
    // One that names no run is about the last attempt if it was held after it.
    covers: ({ target, completedAt = '' }, { attempt }) =>
      target.runId === undefined ? completedAt >= (attempt?.ended ?? '') : target.runId === attempt?.id,
    occasion: ({ attempt }) => attempt?.id ?? '',
  },
};

const stricter = (a: EnforcementMode, b: EnforcementMode) => (a === 'block' || b === 'block' ? 'block' : 'warn');

/** The same for the same occasion, in every process. */
const idOf = (kind: CeremonyKind, task: Subject): string =>
  `ceremony_${createHash('sha256')
    .update(`${kind}\n${task.id}\n${triggers[kind].occasion(task)}`)
    .digest('hex')
    .slice(0, 12)}`;

/** The kinds that a task itself needs, whatever was held. */
export const neededKinds = (task: Subject, enforcement: Features['enforcement']): CeremonyKind[] =>
  (Object.entries(triggers) as [CeremonyKind, Trigger][])
    .filter(([, { setting, reason }]) => enforcement[setting] !== 'off' && reason(task) !== undefined)
    .map(([kind]) => kind);

/** Whether any ceremony is enforced at all. */
export const isEnforced = (enforcement: Features['enforcement']): boolean =>
  Object.values(triggers).some(({ setting }) => enforcement[setting] !== 'off');

/**
 * The ceremonies that block a task from being done, or are still owed. For each kind whose setting is not `off`:
 *
 * - a pending ceremony of the task, in the stricter of the setting's mode and its own
 * - otherwise what the task itself needs and no completed one covers, in the setting's mode
 *
 * `held` are the ceremonies of the task.
 */
export function unmetCeremonies(
  task: Subject,
  { held, enforcement, now }: { held: readonly Ceremony[]; enforcement: Features['enforcement']; now: Date },
): Unmet[] {
  return (Object.entries(triggers) as [CeremonyKind, Trigger][]).flatMap(([kind, trigger]): Unmet[] => {
    const mode = enforcement[trigger.setting];
    if (mode === 'off') {
      return [];
    }
    const ofKind = held.filter((ceremony) => ceremony.kind === kind);
    const pending = ofKind.filter(({ status }) => status === 'pending');
    if (pending.length > 0) {
      return pending.map((ceremony) => ({ mode: stricter(mode, ceremony.enforcementMode), ceremony }));
    }
    const reason = trigger.reason(task);
    const isCovered = ofKind.some((ceremony) => ceremony.status === 'completed' && trigger.covers(ceremony, task));
    if (reason === undefined || isCovered) {
      return [];
    }
    const at = now.toISOString();
    const ceremony: Ceremony = {
      id: idOf(kind, task),
      kind,
      enforcementMode: mode,
      title: trigger.title,
      reason,
      target: {
        taskId: task.id,
        ...(kind === 'failure_retrospective' && task.attempt ? { runId: task.attempt.id } : {}),
      },
      trigger: 'task.completion',
      participants: [],
      requiredArtifacts: trigger.requiredArtifacts,
      status: 'pending',
      artifacts: [],
      actionItems: [],
      createdAt: at,
      updatedAt: at,
    };
    return [{ mode, ceremony }];
  });
}
