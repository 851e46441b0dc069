import type { Task } from '../../contracts/tasks/task';
import { statusTimes } from '../../domain/status-effects';
import { AppError, validationError } from '../../platform/errors/app-error';
import { isSameJson } from '../../platform/json/same';
import { isPlain, plain } from './format/plain';
import { TaskDocumentError, validTask } from './format/task-document';
import { validField } from './format/valid-field';
import type { Writer } from './types';

/** The next version of a task; what identifies it and its revision are not for callers to change. */
export function nextVersion(
  current: Task,
  change: Partial<Task>,
  { writer, now }: { writer: Writer; now: Date },
): Task {
  const { id, createdAt, createdBy, revision } = current;
  const at = now.toISOString();
  const stamps = { updatedAt: at, updatedBy: writer.actor, revision: revision + 1 };
  const times = statusTimes(current, change.status ?? current.status, at);
  const next = { ...change, id, createdAt, createdBy, ...times, ...stamps };
  return (isPlain(current) ? withValidFields(current, next) : undefined) ?? acceptable({ ...current, ...next });
}

/** A valid task with other fields; `undefined` when one of them is not valid. Only what differs is validated. */
function withValidFields(current: Task, change: Record<string, unknown>): Task | undefined {
  const next: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(change)) {
    if (value === current[name]) {
      continue;
    }
    const field = validField(name, value, current[name]);
    if (!field) {
      return undefined;
    }
    next[name] = field.value;
  }
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)) as Task;
}

/** Whether two versions of a task differ in their stamps only. */
export const isSameTask = (a: Task, b: Task): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    (name) => stamps.has(name) || isSameField(a[name], b[name]),
  );

const stamps = new Set(['updatedAt', 'updatedBy', 'revision']);

/** Most fields are the same object, and a list that grew is another one: neither is read. */
const isSameField = (a: unknown, b: unknown): boolean =>
  a === b || (!(Array.isArray(a) && Array.isArray(b) && a.length !== b.length) && isSameJson(a, b));

/** A conflict that a change of the task ran into, with the current task. */
export function withCurrentTask(error: unknown, current: Task): unknown {
  if (!(error instanceof AppError) || error.status !== 409 || 'current' in error.details) {
    return error;
  }
  const { id: resourceId, revision: currentRevision } = current;
  const details = { resourceType: 'task', resourceId, ...error.details, currentRevision, current };
  return new AppError(error.code, { status: 409, message: error.message, details });
}

/** What the contract makes of `raw`. @throws AppError 400 with the fields it refuses */
export function acceptable(raw: Record<string, unknown>): Task {
  try {
    return validTask(plain(raw) as Record<string, unknown>);
  } catch (error) {
    if (!(error instanceof TaskDocumentError)) {
      throw error;
    }
    throw validationError(error.issues);
  }
}

/** @throws AppError 409 with the current task when it is not at the revision the writer has seen */
export function assertRevision(current: Task, expectedRevision: number | undefined): void {
  if (expectedRevision === undefined || expectedRevision === current.revision) {
    return;
  }
  throw new AppError('CONFLICT', {
    status: 409,
    message: `task ${current.id} has changed since it was loaded. Reload and retry with the latest revision.`,
    details: {
      resourceType: 'task',
      resourceId: current.id,
      expectedRevision,
      currentRevision: current.revision,
      current,
    },
  });
}
