import { maxExternalWorkItems } from '../../contracts/integrations/trackers/external-work-item';
import type { Refusal } from '../../contracts/refusal';
import type { Task } from '../../contracts/tasks/task';
import { refusal } from '../../domain/refusal';
import { trackerAction } from '../../domain/trackers/audit';
import { trackerUrlOf } from '../../domain/trackers/scope';
import { isSameWorkItem, workItemOf } from '../../domain/trackers/work-item';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { askRules } from '../../stores/governance/require-allowed';
import type { LinkEnd } from '../../stores/integrations/trackers/tracker-link-store';
import { createCommentActivities } from './comments';
import { createItemActivities } from './create-item';
import type { LinkDependencies } from './dependencies';
import { createImportActivities } from './import-item';
import { changeLink, currentLink, type LinkRef, type LinkWithOperation } from './link-record';

/** How an operation begins: with the name of what it does, or at its end. */
export type BegunLink =
  | {
      over: false;
      kind: LinkWithOperation['operation']['kind'];
      /** How late the tracker may find an item. */ searchDelayMs: number;
    }
  | (LinkResult & { over: true });

/** How an operation ended: why it was refused, or what it did. */
export type LinkResult = Omit<LinkEnd, 'id' | 'kind'>;

const resultOf = ({ id: _id, kind: _kind, ...result }: LinkEnd): LinkResult => result;

export function createTrackerLinkActivities(deps: LinkDependencies) {
  const { openTrackers, trackers, trackerLinks, board, rules, audit, log } = deps;

  return {
    ...createItemActivities(deps),
    ...createImportActivities(deps),
    ...createCommentActivities(deps),

    /** Whether an operation can be done, and may be, before anything is. */
    async beginTrackerLink(ref: LinkRef): Promise<BegunLink> {
      const stored = await trackerLinks.get(ref.linkId);
      if (stored?.last?.id === ref.operationId) {
        return { over: true, ...resultOf(stored.last) };
      }
      const link = await currentLink(trackerLinks, ref);
      const { kind } = link.operation;
      const opened = await openTrackers.open(link.provider, link.project);
      const problem = 'status' in opened ? opened : kind === 'create' ? await whyNotCreated(link) : undefined;
      if (problem || 'status' in opened) {
        return { over: true, ...(await end(link, { refused: problem ?? null })) };
      }
      return { over: false, kind, searchDelayMs: opened.tracker.searchDelayMs };
    },

    /** Names the work item on its task, once. A task that is gone has its work item all the same. */
    async noteWorkItem(ref: LinkRef): Promise<void> {
      const link = await currentLink(trackerLinks, ref);
      const item = workItemOf(link);
      const note = ({ externalWorkItems: items = [] }: Task): Partial<Task> => {
        const isNamed = items.some((one) => isSameWorkItem(one, item));
        return isNamed || items.length >= maxExternalWorkItems ? {} : { externalWorkItems: [...items, item] };
      };
      try {
        await board.update(link.taskId, note, { actor: link.operation.actor });
      } catch (error) {
        if (!(error instanceof AppError) || error.status === 503) {
          throw error;
        }
        log.warn({ taskId: link.taskId, code: error.code }, `work item not written on the task: ${error.message}`);
      }
    },

    /** Ends an operation, and writes to the audit log that it was done, and nothing of what was sent. */
    async settleTrackerLink({
      refused,
      created = false,
      ...ref
    }: LinkRef & { refused: Refusal | null; created?: boolean }): Promise<LinkResult> {
      const stored = await trackerLinks.get(ref.linkId);
      if (stored?.last?.id === ref.operationId) {
        return resultOf(stored.last);
      }
      // One that was refused before anything was brought in is removed at its end.
      return stored ? end(await currentLink(trackerLinks, ref), { refused, created }) : nothing(refused);
    },
  };

  /** Why nothing is created for a task: it is gone, its profile is disabled, or the rules refuse it. */
  async function whyNotCreated(link: LinkWithOperation): Promise<Refusal | undefined> {
    const { taskId, profileId, provider, project, payload, operation } = link;
    const [found, profile, connection] = await Promise.all([
      board.get(taskId),
      trackers.profiles.get(profileId),
      trackers.connections.get(provider),
    ]);
    if (!found) {
      return refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId });
    }
    if (profile?.enabled !== true || !connection) {
      return refusal('TRACKER_PROFILE_DISABLED', `The profile ${profileId} is disabled.`, { profileId });
    }
    const { refused } = await askRules(rules, {
      action: 'external-message',
      also: ['issue'],
      actor: operation.actor,
      taskId,
      project: found.task.project,
      reaches: { host: new URL(trackerUrlOf(connection)).host },
      subject: { provider, project, payload, approvedBy: operation.approvedBy },
      change: `${link._id}/create`,
    });
    return refused;
  }

  async function end(
    link: LinkWithOperation,
    { refused, created = false }: Pick<LinkEnd, 'refused'> & { created?: boolean },
  ): Promise<LinkResult> {
    const { id, kind, actor, approvedBy, imported, delivered } = link.operation;
    const { provider, project, profileId, taskId, itemId } = link;
    await audit.record({
      action: trackerAction,
      actor,
      resource: taskId,
      details: {
        ...{ operation: kind, provider, project, profileId, taskId, outcome: refused?.code ?? 'done' },
        ...compact({ workItemId: itemId ?? undefined, approvedBy }),
      },
      once: `${link._id}/${id}`,
    });
    if (kind === 'import' && refused && link.state === 'creating') {
      // What cannot be brought in leaves its work item to others.
      await trackerLinks.remove(link);
      return nothing(refused);
    }
    const isLinked = kind === 'import' && refused === null;
    const last = { id, kind, refused, imported, delivered, created };
    await changeLink(trackerLinks, link, { operation: null, last, ...(isLinked ? { state: 'linked' as const } : {}) });
    return resultOf(last);
  }
}

export type TrackerLinkActivities = ReturnType<typeof createTrackerLinkActivities>;

const nothing = (refused: Refusal | null): LinkResult => ({ refused, imported: 0, delivered: 0, created: false });
