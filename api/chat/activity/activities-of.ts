import type { ActivityType } from '../../../contracts/chat/activity';
import type { Task } from '../../../contracts/tasks/task';
import type { RecordedChange } from '../../../stores/board-files/wrappers/recorded-board';
import type { NewActivity } from '../../../stores/chat/activity-store';

/** What moves of a task, its creation and its deletion are called. */
const typeOfOperation: Record<string, ActivityType> = {
  create: 'task_created',
  delete: 'task_deleted',
  archive: 'task_archived',
  restore: 'task_restored',
  promote: 'task_promoted',
  demote: 'task_demoted',
};

/** Fields without meaning of their own, or with entries of their own. */
const silent = new Set([
  ...['revision', 'updatedAt', 'updatedBy', 'deletedAt', 'deletedBy', 'purgeAfter', 'position', 'attempt', 'attempts'],
  // A consequence of the status, whose change is reported.
  ...['startedAt', 'completedAt'],
  ...['status', 'comments', 'observations', 'deliverables', 'dependencies'],
]);

type ActivityDraft = { type: ActivityType; details?: Record<string, unknown> };

/** The activities of a task's change, in the order they are listed; none for a change that people need not read. */
export function activitiesOf({ operation, actor, before, after }: RecordedChange): NewActivity[] {
  const type = Object.hasOwn(typeOfOperation, operation) ? typeOfOperation[operation] : undefined;
  const changes: ActivityDraft[] = [
    ...(type ? [{ type }] : []),
    ...(before ? differences(before, after, operation) : []),
  ];
  return changes.map((one) => ({ ...one, taskId: after.id, taskTitle: after.title, actor }));
}

function differences(before: Task, after: Task, operation: string): ActivityDraft[] {
  const fields = changedFields(before, after);
  return [
    ...(before.status === after.status
      ? []
      : [{ type: 'status_changed' as const, details: { from: before.status, to: after.status } }]),
    ...items(before.comments, after.comments, {
      types: { added: 'comment_added', removed: 'comment_deleted', changed: 'task_updated' },
      idName: 'commentId',
    }),
    ...items(before.observations, after.observations, {
      types: { added: 'observation_added', removed: 'observation_deleted', changed: 'task_updated' },
      idName: 'observationId',
    }),
    ...items(before.deliverables, after.deliverables, {
      types: { added: 'deliverable_added', removed: 'deliverable_deleted', changed: 'deliverable_updated' },
      idName: 'deliverableId',
    }),
    ...dependencies(before, after),
    ...(fields.length > 0 && operation === 'update' ? [{ type: 'task_updated' as const, details: { fields } }] : []),
  ];
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

function changedFields(before: Task, after: Task): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !silent.has(name) && !same(before[name], after[name])).sort();
}

interface Item {
  id: string;
}

/** Entries for the items of a list that came, went or changed. */
function items(
  before: readonly Item[] = [],
  after: readonly Item[] = [],
  { types, idName }: { types: { added: ActivityType; removed: ActivityType; changed: ActivityType }; idName: string },
): ActivityDraft[] {
  if (before === after) {
    return [];
  }
  const earlier = new Map(before.map((item) => [item.id, item]));
  const left = new Set(after.map(({ id }) => id));
  const draft = (type: ActivityType, { id }: Item): ActivityDraft => ({ type, details: { [idName]: id } });
  return [
    ...after.filter(({ id }) => !earlier.has(id)).map((item) => draft(types.added, item)),
    ...before.filter(({ id }) => !left.has(id)).map((item) => draft(types.removed, item)),
    ...after
      .filter((item) => earlier.has(item.id) && !same(earlier.get(item.id), item))
      .map((item) => draft(types.changed, item)),
  ];
}

function dependencies(before: Task, after: Task): ActivityDraft[] {
  return (['depends_on', 'blocks'] as const).flatMap((side) => {
    const [old, now] = [before.dependencies?.[side] ?? [], after.dependencies?.[side] ?? []];
    const draft = (type: ActivityType, id: string): ActivityDraft => ({ type, details: { [side]: id } });
    return [
      ...now.filter((id) => !old.includes(id)).map((id) => draft('dependency_added', id)),
      ...old.filter((id) => !now.includes(id)).map((id) => draft('dependency_removed', id)),
    ];
  });
}
