import type { Ceremony } from '../../../contracts/governance/ceremony';
import type { Features } from '../../../contracts/settings/settings';
import type { Task, TaskCreate, TaskLocation } from '../../../contracts/tasks/task';
import {
  isEnforced,
  neededKinds,
  type Subject,
  type Unmet,
  unmetCeremonies,
} from '../../../domain/ceremonies/requirements';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { CeremonyStore } from '../../governance/ceremony-store';
import type { TraceStore } from '../../governance/trace-store';
import type { SettingsStore } from '../../settings/settings-store';
import type { TaskChange } from '../types';
import { reviewedChange } from './review-gate';

/** What the gate needs besides the change itself. */
export interface GateContext {
  ceremonies: Pick<CeremonyStore, 'ofTask' | 'open'>;
  traces: Pick<TraceStore, 'record'>;
  settings: Pick<SettingsStore, 'current'>;
}

/** What every task passes that becomes `done`, in whatever way. */
export interface CompletionGate {
  /**
   * Makes a change of a task through `apply`, which changes it under its lock.
   *
   * @throws AppError 400 with `details {code: "CEREMONY_REQUIRED", ceremonies, issues}` when the change completes the task
   *   and a blocking ceremony was not held; 409 as {@link reviewedChange} while the result of a run waits for its review
   */
  change(change: TaskChange, apply: (guarded: TaskChange) => Promise<Task>): Promise<Task>;
  /** Whether the task may be done now, ceremonies included; nothing but these is changed. @throws AppError 400 as above */
  check(task: Task, location: TaskLocation): Promise<void>;
  /** Makes a new task through `create`. @throws AppError 400 as above: no ceremony can have been held for it */
  create(input: TaskCreate, create: () => Promise<Task>): Promise<Task>;
}

interface Unconsidered {
  revision: number;
  task: Task;
  versions: readonly Task[];
  completes: boolean;
}

/** Thrown out of a change, under the lock: the current task has to be considered first. */
class NotConsidered extends Error {
  readonly revision: number;
  readonly task: Task;
  /** The task as it was before and as it would be. */
  readonly versions: readonly Task[];
  readonly completes: boolean;

  constructor({ revision, task, versions, completes }: Unconsidered) {
    super(`The ceremonies that task ${task.id} requires are not known yet.`);
    this.revision = revision;
    this.task = task;
    this.versions = versions;
    this.completes = completes;
  }
}

/** Concurrent changes of the same task delay its consideration by this many tries only. */
const maxTries = 10;

/**
 * Prevents tasks from being completed before their ceremonies were held (specification 1, States: "PATCH to done"). Which ones
 * a task needs can be read only under the task's lock, and whether they were held only from the stores; so a change that would
 * complete a task that was not considered yet is aborted, considered, and repeated.
 *
 * A task needs what it needed before the change as well as after it, and a change that removes the need for a ceremony opens
 * it: otherwise a change of the type would be a way past the gate.
 */
export function createCompletionGate({ ceremonies, traces, settings }: GateContext): CompletionGate {
  /** Opens what the task needs and was not held, of each kind once. */
  async function openUnmet(versions: readonly Subject[], taskId: string): Promise<Unmet[]> {
    const { enforcement } = await settings.current();
    const held = await ceremonies.ofTask(taskId);
    const unmet = versions.flatMap((version) => unmetCeremonies(version, { held, enforcement, now: new Date() }));
    const byId = new Map(unmet.map((one) => [one.ceremony.id, one]));
    return Promise.all(
      [...byId.values()].map(async ({ mode, ceremony }) => ({ mode, ceremony: await ceremonies.open(ceremony) })),
    );
  }

  /** @throws AppError 400 when a ceremony blocks */
  async function consider(versions: readonly Task[], task: Task): Promise<void> {
    const opened = await openUnmet(versions, task.id);
    if (opened.length === 0) {
      return;
    }
    const blocking = opened.filter(({ mode }) => mode === 'block').map(({ ceremony }) => ceremony);
    const traceId = await trace(task, opened, blocking.length > 0);
    if (blocking.length > 0) {
      throw ceremonyRequired(blocking, traceId);
    }
  }

  async function trace(task: Task, unmet: readonly Unmet[], blocks: boolean): Promise<string> {
    const { enforcement } = await settings.current();
    const ids = unmet.map(({ ceremony }) => ceremony.id).join(', ');
    return traces.record({
      kind: 'ceremony',
      outcome: blocks ? 'blocked' : 'warned',
      title: `Completion of ${task.id}: ${blocks ? 'blocked' : 'warned'}`,
      summary: `${ids}: not completed yet.`,
      remediation: `Complete with POST /api/ceremonies/<id>/complete: ${ids}.`,
      subject: { taskId: task.id, actionType: 'task.complete' },
      evaluatedRules: unmet.map(({ mode, ceremony: { id, kind, reason } }) => ({
        id,
        label: kind,
        type: 'ceremony',
        status: 'matched',
        outcome: mode === 'block' ? 'blocked' : 'warned',
        message: reason,
      })),
      raw: { revision: task.revision, enforcement },
      dedupeKey: [task.id, task.revision, ...unmet.map(({ mode, ceremony }) => `${mode} ${ceremony.id}`)].join('\n'),
    });
  }

  /** Of a task that was not created: it has no id, and its ceremonies were not opened. */
  const traceOfNew = (needed: readonly Ceremony[], enforcement: Features['enforcement']): Promise<string> =>
    traces.record({
      kind: 'ceremony',
      outcome: 'blocked',
      title: 'Creation of a task as done: blocked',
      summary: `${needed.map(({ kind }) => kind).join(', ')}: cannot have been completed yet.`,
      remediation: 'Create the task with another status, and complete it after its ceremonies.',
      subject: { actionType: 'task.create' },
      evaluatedRules: needed.map(({ kind, reason }) => ({
        id: kind,
        label: kind,
        type: 'ceremony',
        status: 'matched',
        outcome: 'blocked',
        message: reason,
      })),
      raw: { enforcement },
    });

  const gate: CompletionGate = {
    async change(unreviewed, apply) {
      const { enforcement, agents } = await settings.current();
      const change = reviewedChange(unreviewed, agents);
      if (!isEnforced(enforcement)) {
        return apply(change);
      }

      let considered: number | undefined;
      const guarded: TaskChange = (current, location) => {
        const fields = change(current, location);
        const after = { ...current, ...fields };
        const completes = after.status === 'done' && current.status !== 'done';
        const considers = completes || (current.status !== 'done' && needsLess(current, after, enforcement));
        if (considers && current.revision !== considered) {
          throw new NotConsidered({ revision: current.revision, task: after, versions: [current, after], completes });
        }
        return fields;
      };

      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        try {
          return await apply(guarded);
        } catch (error) {
          if (!(error instanceof NotConsidered)) {
            throw error;
          }
          if (error.completes) {
            await consider(error.versions, error.task);
          } else {
            await openUnmet(error.versions, error.task.id);
          }
          considered = error.revision;
        }
      }
      throw conflict('Too many concurrent changes of the task. Try again.');
    },

    async check(task, location) {
      const completion: TaskChange = ({ review }) => ({ status: 'done', review: { ...review, state: 'accepted' } });
      await gate.change(completion, (guarded) => Promise.resolve({ ...task, ...guarded(task, location) }));
    },

    async create(input, create) {
      const { enforcement } = await settings.current();
      if (input.status !== 'done' || !isEnforced(enforcement)) {
        return create();
      }
      const planned: Subject = { id: '', type: input.type ?? 'code' };
      const unmet = unmetCeremonies(planned, { held: [], enforcement, now: new Date() });
      const blocking = unmet.filter(({ mode }) => mode === 'block').map(({ ceremony }) => ceremony);
      if (blocking.length > 0) {
        throw createdTooEarly(blocking, await traceOfNew(blocking, enforcement));
      }
      const created = await create();
      await consider([created], created);
      return created;
    },
  };
  return gate;
}

/** Whether the task itself is changed so that it needs less; another attempt is no such change. */
function needsLess(current: Subject, after: Subject, enforcement: Features['enforcement']): boolean {
  const needed = neededKinds({ id: after.id, type: after.type, attempt: current.attempt }, enforcement);
  return neededKinds(current, enforcement).some((kind) => !needed.includes(kind));
}

const issuesOf = (message: string) => [{ path: 'status', message, code: 'CEREMONY_REQUIRED' }];

function ceremonyRequired(blocking: readonly Ceremony[], traceId: string): AppError {
  const pending = blocking.map(({ id, kind, reason, requiredArtifacts }) => {
    return { id, kind, reason, requiredArtifacts, complete: `/api/ceremonies/${id}/complete` };
  });
  const names = pending.map(({ id, kind }) => `${kind} ${id}`).join(', ');
  const message = `The task can be done once a ceremony was completed: ${names}.`;
  const details = { code: 'CEREMONY_REQUIRED', ceremonies: pending, traceId, issues: issuesOf(message) };
  return new AppError('VALIDATION_ERROR', { status: 400, message, details });
}

function createdTooEarly(blocking: readonly Ceremony[], traceId: string): AppError {
  const needed = blocking.map(({ kind, reason, requiredArtifacts }) => ({ kind, reason, requiredArtifacts }));
  const names = needed.map(({ kind }) => kind).join(', ');
  const message = `A new task cannot be done yet: ${names} must be completed first. Create it with another status.`;
  const details = { code: 'CEREMONY_REQUIRED', ceremonies: needed, traceId, issues: issuesOf(message) };
  return new AppError('VALIDATION_ERROR', { status: 400, message, details });
}

/** Whether a change was refused for a ceremony that was not held. */
export const isCeremonyRequired = (error: unknown): error is AppError =>
  error instanceof AppError && error.details.code === 'CEREMONY_REQUIRED';
