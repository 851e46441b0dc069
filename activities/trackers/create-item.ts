import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Tracker, TrackerItem } from '../../providers/trackers/tracker';
import { callTracker } from '../shared/forge-refusals';
import type { LinkDependencies } from './dependencies';
import { changeLink, currentLink, type LinkRef, type LinkWithOperation } from './link-record';

/** How far the clock of a tracker may be behind, in milliseconds: one that is further would have an item created twice. */
const clockSkewMs = 86_400_000;

export function createItemActivities({ openTrackers, trackerLinks, trackers }: LinkDependencies) {
  /** The item that an earlier try has created, whether or not it got to know of it. */
  const findCreated = (tracker: Tracker, { taskId, nonce, createdAt }: LinkWithOperation) =>
    tracker.findCreated({ taskId, nonce }, new Date(Date.parse(createdAt) - clockSkewMs).toISOString());

  return {
    /**
     * Creates the work item of a link, once: that it may have been sent is written before, and a later try looks for the item that
     * has the nonce. A worker that was overtaken while it slept fails at the link, right before it would create a second one.
     */
    async createWorkItem(ref: LinkRef): Promise<{ refused: Refusal | null }> {
      const link = await currentLink(trackerLinks, ref);
      if (link.itemId !== null) {
        return { refused: null };
      }
      const { provider, project, payload, taskId, nonce } = link;
      const [opened, schema] = await Promise.all([
        openTrackers.open(provider, project),
        trackers.schemaOf(provider, project),
      ]);
      if ('status' in opened) {
        return { refused: opened };
      }
      if (!payload || !schema) {
        return {
          refused: refusal('TRACKER_SCHEMA_MISSING', `The schema of ${project} is gone.`, { provider, project }),
        };
      }
      const { tracker } = opened;
      let current = link;
      const called = await withHeartbeat(() =>
        callTracker(async (): Promise<TrackerItem> => {
          const created = link.sent ? await findCreated(tracker, link) : undefined;
          if (created) {
            return created;
          }
          current = await changeLink(trackerLinks, link, { sent: true });
          return tracker.createItem({ payload, schema, marker: { taskId, nonce } });
        }),
      );
      if ('status' in called) {
        // What the tracker has refused it has not created.
        await changeLink(trackerLinks, current, { sent: false });
        return { refused: called };
      }
      const { id, url, workItemType } = called.value;
      const linked = await trackerLinks.ofItem(link.scope, id);
      if (linked && linked._id !== link._id) {
        // It was brought in by a person before its creation was known here.
        const message = `The work item ${id} was created, and imported as ${linked.taskId} in the meantime.`;
        return { refused: refusal('WORK_ITEM_LINKED', message, { taskId: linked.taskId, workItemId: id }) };
      }
      await changeLink(trackerLinks, current, {
        itemId: id,
        url: url.slice(0, 2_000),
        workItemType: workItemType ?? payload.workItemType,
        state: 'linked',
      });
      return { refused: null };
    },
  };
}
