import { randomBytes } from 'node:crypto';
import type { Refusal } from '../../contracts/refusal';
import { type Comment, maxComments } from '../../contracts/tasks/comment';
import { commentsToSend, importedComment } from '../../domain/issue-sync/comment-text';
import { trackerActor } from '../../domain/trackers/scope';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { Tracker, TrackerComment } from '../../providers/trackers/tracker';
import { askRules } from '../../stores/governance/require-allowed';
import { callTracker } from '../shared/forge-refusals';
import type { LinkDependencies } from './dependencies';
import { changeLink, currentLink, type LinkRef, type LinkWithOperation } from './link-record';

/** The most ids that are stored of a link, of which a task and a work item have fewer. */
const maxIds = 2 * maxComments;

const withIds = (ids: readonly string[], more: readonly string[]): string[] =>
  [...new Set([...ids, ...more])].slice(-maxIds);

interface Synced {
  refused: Refusal | null;
}

export function createCommentActivities({ openTrackers, trackerLinks, board, rules }: LinkDependencies) {
  return {
    /**
     * Brings the comments of a work item to its task, and those of the task that were written since they are linked to the work
     * item, each once: its nonce is written to the link before, and a later try looks for the comment that has it first.
     */
    async syncWorkItemComments(ref: LinkRef): Promise<Synced> {
      const link = await currentLink(trackerLinks, ref);
      const opened = await openTrackers.open(link.provider, link.project);
      if ('status' in opened) {
        return { refused: opened };
      }
      const { tracker, baseUrl } = opened;
      const called = await withHeartbeat((signal) =>
        callTracker(async () => {
          const comments = await tracker.commentsOf(link.itemId ?? '');
          const known = await findSent(link, comments);
          const current = await importComments(known, comments);
          return send(current, { tracker, host: new URL(baseUrl).host, signal });
        }),
      );
      return 'status' in called ? { refused: called } : { refused: called.value };
    },
  };

  /** Records the comment that an earlier try has created without getting to know of it. */
  async function findSent(link: LinkWithOperation, comments: readonly TrackerComment[]): Promise<LinkWithOperation> {
    const { sending } = link.comments;
    const created = sending && comments.find(({ nonce }) => nonce === sending.nonce);
    return created ? recordSent(link, { commentId: sending.commentId, id: created.id }) : link;
  }

  /** Adds the comments to the task that it has not had, as far as it has room; none that was deleted there. */
  async function importComments(
    link: LinkWithOperation,
    comments: readonly TrackerComment[],
  ): Promise<LinkWithOperation> {
    const { scope, itemId, taskId } = link;
    const missing = comments.filter(({ id }) => !link.comments.carried.includes(id));
    if (missing.length === 0) {
      return link;
    }
    const imported = missing.map((comment) => ({
      id: comment.id,
      comment: importedComment(comment, { scope, number: itemId ?? '', actor: trackerActor }),
    }));
    let carried: string[] = [];
    const change = ({ comments: present = [] }: { comments?: Comment[] | undefined }) => {
      const room = Math.max(0, maxComments - present.length);
      const isThere = (id: string): boolean => present.some((one) => one.id === id);
      const added = imported.filter(({ comment }) => !isThere(comment.id)).slice(0, room);
      const taken = imported.filter((one) => isThere(one.comment.id) || added.includes(one));
      carried = taken.map(({ id }) => id);
      return added.length > 0 ? { comments: [...present, ...added.map(({ comment }) => comment)] } : {};
    };
    await board.update(taskId, change, { actor: trackerActor });
    return changeLink(trackerLinks, link, {
      comments: { ...link.comments, carried: withIds(link.comments.carried, carried) },
      operation: { ...link.operation, imported: link.operation.imported + carried.length },
    });
  }

  /** Creates the comments at the tracker that it has not had. @returns why the rules refuse one, if they do */
  async function send(
    link: LinkWithOperation,
    { tracker, host, signal }: { tracker: Tracker; host: string; signal: AbortSignal },
  ): Promise<Refusal | null> {
    const { taskId, createdAt: since } = link;
    const task = (await board.get(taskId))?.task;
    let current = link;
    for (const comment of commentsToSend(task?.comments ?? [], { since, sent: link.comments.sent })) {
      signal.throwIfAborted();
      const { refused } = await askRules(rules, {
        action: 'external-message',
        also: ['issue-comment'],
        actor: link.operation.actor,
        taskId,
        project: task?.project,
        reaches: { host },
        subject: { provider: link.provider, project: link.project, workItem: link.itemId, text: comment.text },
        change: `${link._id}/comment/${comment.id}`,
      });
      if (refused) {
        return refused;
      }
      const before = current.comments;
      const isAgain = before.sending?.commentId === comment.id;
      const nonce = isAgain && before.sending ? before.sending.nonce : randomBytes(16).toString('hex');
      const sending = { commentId: comment.id, nonce };
      current = await changeLink(trackerLinks, current, { comments: { ...before, sending } });
      const { id } = await tracker.addComment(link.itemId ?? '', { author: comment.author, text: comment.text, nonce });
      current = await recordSent(current, { commentId: comment.id, id });
    }
    return null;
  }

  function recordSent(
    link: LinkWithOperation,
    { commentId, id }: { commentId: string; id: string },
  ): Promise<LinkWithOperation> {
    const { carried, sent } = link.comments;
    return changeLink(trackerLinks, link, {
      comments: { carried: withIds(carried, [id]), sent: withIds(sent, [commentId]) },
      operation: { ...link.operation, delivered: link.operation.delivered + 1 },
    });
  }
}
