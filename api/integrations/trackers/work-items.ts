import type { TrackerProfileFields } from '../../../contracts/integrations/trackers/profile';
import type { Task } from '../../../contracts/tasks/task';
import { apiUrlOf } from '../../../domain/forges/forge-address';
import { mapTask } from '../../../domain/trackers/map-task';
import {
  createdLinkId,
  importedLinkId,
  importedTaskId,
  trackerScope,
  trackerUrlOf,
} from '../../../domain/trackers/scope';
import { workItemOf } from '../../../domain/trackers/work-item';
import { assertFound, conflict, notFound, validationError } from '../../../platform/errors/app-error';
import { newRecordId } from '../../../platform/operations/operation';
import type { TrackerLink } from '../../../stores/integrations/trackers/tracker-link-store';
import type {
  TrackerConnectionRecord,
  TrackerProfileRecord,
} from '../../../stores/integrations/trackers/tracker-store';
import { hasForge } from '../with-forge';
import { connectionOf, schemaOf, type TrackerContext } from './context';
import { newOperation, operateOnLink } from './links';

const presentItem = (link: TrackerLink | undefined, taskId: string) => {
  assertFound(link, 'work item', taskId);
  return workItemOf(link);
};

/**
 * Creates the work item of a task, once for each profile and project.
 *
 * @throws AppError 400 for what the schema does not allow; 404; 409 with the reason
 */
export async function createWorkItem(
  context: TrackerContext,
  { profileId, taskId, approvedBy, actor }: { profileId: string; taskId: string; approvedBy: string; actor: string },
) {
  const { profile, connection, scope } = await usable(context, profileId);
  const task = await currentTask(context, taskId);
  const linkId = createdLinkId(taskId, profileId, scope);
  const operation = { ...newOperation(newRecordId('trackerop', 16), 'create', actor), approvedBy };
  const existing = await context.trackerLinks.get(linkId);
  if (existing?.state === 'linked' && existing.last?.id !== operation.id && existing.operation?.kind !== 'create') {
    const message = `The task has a work item of the profile ${profileId} already: ${existing.itemId ?? ''}.`;
    throw conflict(message, { taskId, profileId, workItem: workItemOf(existing) }, 'WORK_ITEM_EXISTS');
  }
  await assertNotSynced(context, connection, profile);
  const { provider, defaultProjectPath: project } = profile;
  const { payload, errors, warnings } = mapTask(profile, task, await schemaOf(context, provider, project));
  if (errors.length > 0) {
    throw validationError(errors);
  }
  const make = {
    taskId,
    profileId,
    provider,
    project,
    scope,
    origin: 'created' as const,
    itemId: null,
    payload,
    approvedBy,
  };
  const { link } = await operateOnLink(context, { linkId, operation, make });
  return { taskId, workItem: presentItem(link, taskId), warnings };
}

/** Brings a work item in as a task, or to the task that is named; each belongs to one task. @throws AppError */
export async function importWorkItem(
  context: TrackerContext,
  {
    profileId,
    workItemId,
    taskId: named,
    actor,
  }: { profileId: string; workItemId: string; taskId?: string | undefined; actor: string },
) {
  const { profile, connection, scope } = await usable(context, profileId);
  const { provider, defaultProjectPath: project } = profile;
  assertItemId(profile, workItemId);
  if (named !== undefined) {
    await currentTask(context, named);
  }
  const existing = await context.trackerLinks.ofItem(scope, workItemId);
  if (existing && named !== undefined && named !== existing.taskId) {
    throw linkedElsewhere(existing);
  }
  const operation = newOperation(newRecordId('trackerop', 16), 'import', actor);
  if (existing?.state === 'linked') {
    // A repetition of the request that made the task is answered as that was.
    const created = existing.last?.id === operation.id && existing.last.created;
    return { taskId: existing.taskId, workItem: workItemOf(existing), created };
  }
  await assertNotSynced(context, connection, profile);
  const taskId = named ?? existing?.taskId ?? importedTaskId(provider, scope, workItemId);
  const linkId = existing?._id ?? importedLinkId(scope, workItemId);
  const shared = { taskId, profileId, provider, project, scope, payload: null, approvedBy: null };
  const make = { ...shared, origin: 'imported' as const, itemId: workItemId };
  const { link, result } = await operateOnLink(context, { linkId, operation, make });
  if (link && named !== undefined && named !== link.taskId) {
    // A request at the same time has linked it to another task.
    throw linkedElsewhere(link);
  }
  return { taskId: link?.taskId ?? taskId, workItem: presentItem(link, taskId), created: result.created };
}

/** Synchronises the comments of a work item with those of its task. @throws AppError 404, 409 with the reason */
export async function syncComments(
  context: TrackerContext,
  { profileId, taskId, workItemId, actor }: { profileId: string; taskId: string; workItemId: string; actor: string },
) {
  const { profile, connection, scope } = await usable(context, profileId);
  await currentTask(context, taskId);
  const link = await context.trackerLinks.ofItem(scope, workItemId);
  if (link?.taskId !== taskId || link.state !== 'linked') {
    throw notFound('work item of the task', workItemId);
  }
  await assertNotSynced(context, connection, profile);
  const operation = newOperation(newRecordId('trackerop', 16), 'comments', actor);
  const { result } = await operateOnLink(context, { linkId: link._id, operation, make: link });
  return { taskId, workItemId, imported: result.imported, sent: result.delivered };
}

/** A profile with which something can be done now. @throws AppError 404, 409 */
async function usable(context: TrackerContext, profileId: string) {
  const profile = await context.trackers.profiles.get(profileId);
  assertFound(profile, 'tracker profile', profileId);
  if (!profile.enabled) {
    throw conflict(`The profile ${profileId} is disabled.`, { profileId }, 'TRACKER_PROFILE_DISABLED');
  }
  const connection = await connectionOf(context, profile.provider);
  return { profile, connection, scope: trackerScope(connection, profile.defaultProjectPath) };
}

async function currentTask({ board }: Pick<TrackerContext, 'board'>, taskId: string): Promise<Task> {
  const found = await board.get(taskId);
  assertFound(found, 'task', taskId);
  if (found.location === 'archive') {
    throw conflict(`Task ${taskId} is in the archive; restore it first.`, { taskId, location: found.location });
  }
  return found.task;
}

function assertItemId({ provider, defaultProjectPath: project }: TrackerProfileRecord, workItemId: string): void {
  const isJira = provider === 'jira';
  if (isJira ? !workItemId.startsWith(`${project}-`) : !/^\d+$/.test(workItemId)) {
    const message = isJira ? `must be a key of the project, such as ${project}-12` : 'must be the number of an issue';
    throw validationError([{ path: 'workItemId', message }]);
  }
}

/** Two that write the same issues would each make a task or an issue of what the other made. */
async function assertNotSynced(
  { issueSyncs, repositories }: Pick<TrackerContext, 'issueSyncs' | 'repositories'>,
  connection: TrackerConnectionRecord,
  { provider, defaultProjectPath: project }: TrackerProfileFields,
): Promise<void> {
  const same = (await repositories.list())
    .filter(hasForge)
    .filter(
      ({ forge }) =>
        forge.kind === provider &&
        forge.repository.toLowerCase() === project.toLowerCase() &&
        apiUrlOf(forge) === trackerUrlOf(connection),
    );
  for (const { name } of same) {
    const sync = await issueSyncs.configs.get(name);
    if (sync?.enabled === true && sync.syncMode !== 'none') {
      const message = `The issues of ${project} are synchronised with tasks as those of ${name}, which creates and imports them.`;
      throw conflict(message, { repo: name, project }, 'ISSUE_SYNC_ACTIVE');
    }
  }
}

const linkedElsewhere = ({ taskId, itemId }: TrackerLink): Error =>
  conflict(`The work item ${itemId ?? ''} belongs to ${taskId}.`, { taskId, workItemId: itemId }, 'WORK_ITEM_LINKED');
