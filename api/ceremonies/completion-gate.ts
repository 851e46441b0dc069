import type { Ceremony } from '../../contracts/ceremony';
import type { Task } from '../../contracts/task';
import { AppError, conflict } from '../../platform/errors/app-error';
import type { TaskChange } from '../../stores/board-files/types';
import type { ApiContext } from '../context';
import { isEnforced, unmetCeremonies, type Unmet } from './requirements';

/** What the gate needs besides the change itself. */
export type GateContext = Pick<ApiContext, 'ceremonies' | 'traces' | 'settings'>;

/**
 * Makes a change of a task through `apply`, which changes it under its lock.
 *
 * @param change what the caller wants of the task
 * @throws AppError 400 with `details {code: "CEREMONY_REQUIRED", ceremonies, issues}` when the change completes the task
 *   and a blocking ceremony was not held
 */
export type CompletionGate = (change: TaskChange, apply: (guarded: TaskChange) => Promise<Task>) => Promise<Task>;

/** Thrown out of a change, under the lock: the task as it is now has to be thought about first. */
class NotConsidered extends Error {
  constructor(readonly task: Task) {
    super(`Whether task ${task.id} may be done is not known yet.`);
  }
}

/** Others who change the same task do not keep it from being considered for longer than this. */
const maxTries = 10;

/**
 * Keeps people from completing a task before its ceremonies were held (specification 1, States: "PATCH to done"). Which
 * ones it needs is only known under the task's lock, and whether they were held only from the stores; so a change that
 * would complete a task no revision of which was considered yet is given up, considered, and made again.
 *
 * Runs of agents are let through: what their completion needs is in their contract, and they set the status past this gate.
 */
export function createCompletionGate({ ceremonies, traces, settings }: GateContext): CompletionGate {
  return async (change, apply) => {
    const { enforcement } = await settings.current();
    if (!isEnforced(enforcement)) return apply(change);

    let considered: number | undefined;
    const guarded: TaskChange = (current, location) => {
      const fields = change(current, location);
      const completes = fields.status === 'done' && current.status !== 'done';
      if (completes && current.revision !== considered) throw new NotConsidered({ ...current, ...fields });
      return fields;
    };

    async function consider(task: Task): Promise<void> {
      const unmet = unmetCeremonies(task, await ceremonies.ofTask(task.id), enforcement, new Date());
      if (unmet.length === 0) return;
      const opened = await Promise.all(
        unmet.map(async ({ mode, ceremony }) => ({ mode, ceremony: await ceremonies.open(ceremony) })),
      );
      const blocking = opened.filter(({ mode }) => mode === 'block').map(({ ceremony }) => ceremony);
      const traceId = await trace(task, opened, blocking.length > 0);
      if (blocking.length > 0) throw ceremonyRequired(blocking, traceId);
    }

    async function trace(task: Task, unmet: readonly Unmet[], blocks: boolean): Promise<string> {
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

    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      try {
        return await apply(guarded);
      } catch (error) {
        if (!(error instanceof NotConsidered)) throw error;
        await consider(error.task);
        considered = error.task.revision;
      }
    }
    throw conflict('The task is changed too often at once. Try again.');
  };
}

function ceremonyRequired(blocking: readonly Ceremony[], traceId: string): AppError {
  const pending = blocking.map(({ id, kind, reason, requiredArtifacts }) => {
    return { id, kind, reason, requiredArtifacts, complete: `/api/ceremonies/${id}/complete` };
  });
  const names = pending.map(({ id, kind }) => `${kind} ${id}`).join(', ');
  const message = `The task can be done once a ceremony was completed: ${names}.`;
  return new AppError('VALIDATION_ERROR', 400, message, {
    code: 'CEREMONY_REQUIRED',
    ceremonies: pending,
    traceId,
    issues: [{ path: 'status', message, code: 'CEREMONY_REQUIRED' }],
  });
}
