import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { taskOfItem } from '../../domain/trackers/import-item';
import { trackerActor } from '../../domain/trackers/scope';
import { AppError } from '../../platform/errors/app-error';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import { callTracker } from '../shared/forge-refusals';
import type { LinkDependencies } from './dependencies';
import { changeLink, currentLink, type LinkRef } from './link-record';

export function createImportActivities({ openTrackers, trackerLinks, board }: LinkDependencies) {
  return {
    /** Reads a work item, and makes the task of it unless there is one; every try makes the same one. */
    async importWorkItem(ref: LinkRef): Promise<{ refused: Refusal | null; created: boolean }> {
      const link = await currentLink(trackerLinks, ref);
      const { provider, project, itemId, taskId } = link;
      const opened = await openTrackers.open(provider, project);
      if ('status' in opened) {
        return { refused: opened, created: false };
      }
      const called = await withHeartbeat(() => callTracker(() => opened.tracker.getItem(itemId ?? '')));
      if ('status' in called) {
        return { refused: called, created: false };
      }
      const item = called.value;
      if (item.id !== itemId) {
        // A Jira issue that was moved answers under its former key too.
        const message = `The work item ${itemId ?? ''} is ${item.id} now; import it under that key.`;
        return { refused: refusal('WORK_ITEM_MOVED', message, { workItemId: item.id }), created: false };
      }
      const isNew = !(await board.get(taskId));
      if (isNew && item.state === 'closed') {
        const message = `The work item ${item.id} is closed at its tracker. Open it there to bring it in.`;
        return { refused: refusal('WORK_ITEM_CLOSED', message, { workItemId: item.id }), created: false };
      }
      if (isNew) {
        await createTask(taskId, item);
      }
      await changeLink(trackerLinks, link, {
        url: item.url.slice(0, 2_000),
        workItemType: item.workItemType?.slice(0, 300) ?? null,
      });
      return { refused: null, created: isNew };
    },
  };

  async function createTask(taskId: string, item: Parameters<typeof taskOfItem>[0]): Promise<void> {
    try {
      await board.create(taskOfItem(item), { actor: trackerActor, id: taskId });
    } catch (error) {
      // A deleted task has its id for as long as it can be restored.
      if (!(error instanceof AppError && error.details.resourceId === taskId && error.status === 409)) {
        throw error;
      }
    }
  }
}
