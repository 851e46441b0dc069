import { randomBytes } from 'node:crypto';
import { conflict } from '../../../platform/errors/app-error';
import { operationTime } from '../../../platform/operations/operation';
import type { LinkOperation, TrackerLink } from '../../../stores/integrations/trackers/tracker-link-store';
import { refusalError } from '../../refusal-error';
import type { TrackerContext } from './context';

type LinkContext = Pick<TrackerContext, 'trackerLauncher' | 'trackerLinks'>;

/** What a link is about, before anything of it is done. */
export type NewLink = Pick<
  TrackerLink,
  'taskId' | 'profileId' | 'provider' | 'project' | 'scope' | 'origin' | 'itemId' | 'payload' | 'approvedBy'
>;

export const newOperation = (id: string, kind: LinkOperation['kind'], actor: string): LinkOperation => ({
  id,
  kind,
  actor,
  at: operationTime().toISOString(),
  imported: 0,
  delivered: 0,
});

/** How often a link is read again that other requests change. */
const maxTries = 20;

/**
 * Writes an operation down, has it done or joins the same one, and returns the link with how it ended.
 *
 * @param make the link where there is none
 * @throws AppError with the reason of a refusal; 409 `TRACKER_BUSY` while another operation is done, 503 `TRACKER_PENDING`
 */
export async function operateOnLink(
  context: LinkContext,
  { linkId, operation, make }: { linkId: string; operation: LinkOperation; make: NewLink },
) {
  const { trackerLauncher, trackerLinks } = context;
  const current = await requested(context, { linkId, operation, make });
  const { refused, ...result } = await trackerLauncher.run(linkId, make.taskId, current.id);
  if (refused) {
    throw refusalError(refused);
  }
  return { link: await trackerLinks.get(linkId), result };
}

/** The operation that is to be done now: this one, or the same one of another request. */
async function requested(
  { trackerLauncher, trackerLinks }: LinkContext,
  { linkId, operation, make }: { linkId: string; operation: LinkOperation; make: NewLink },
): Promise<Pick<LinkOperation, 'id'>> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const link = await trackerLinks.get(linkId);
    if (!link) {
      const { actor: createdBy, at: createdAt } = operation;
      const state = { state: 'creating' as const, url: null, workItemType: null, sent: false, last: null };
      const nonce = randomBytes(16).toString('hex');
      const comments = { carried: [], sent: [] };
      const added = { _id: linkId, ...make, ...state, nonce, comments, operation, createdBy, createdAt };
      if (await trackerLinks.add(added)) {
        return operation;
      }
      continue;
    }
    const { last, operation: current } = link;
    if (last?.id === operation.id) {
      return operation;
    }
    if (current && isSameRequest(current, operation)) {
      return current;
    }
    if (current && (await trackerLauncher.isRunning(linkId))) {
      throw busy(link, current);
    }
    const { payload, approvedBy } = make;
    if (await trackerLinks.change(link, { operation, ...(link.state === 'creating' ? { payload, approvedBy } : {}) })) {
      return operation;
    }
  }
  throw conflict('Other requests change the work item all the time.', { taskId: make.taskId }, 'TRACKER_BUSY');
}

const isSameRequest = (one: LinkOperation, other: LinkOperation): boolean =>
  one.kind === other.kind && one.actor === other.actor && one.approvedBy === other.approvedBy;

const busy = ({ taskId }: TrackerLink, { kind, actor, at }: LinkOperation): Error =>
  conflict(
    `Another request for the work item is being done: ${kind}, of ${actor}. Repeat yours when it has ended.`,
    { taskId, kind, actor, at },
    'TRACKER_BUSY',
  );
