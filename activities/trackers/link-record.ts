import { ApplicationFailure } from '@temporalio/common';
import type {
  LinkOperation,
  TrackerLink,
  TrackerLinkStore,
} from '../../stores/integrations/trackers/tracker-link-store';

/** An operation on a link, by its id. */
export interface LinkRef {
  linkId: string;
  operationId: string;
}

export type LinkWithOperation = TrackerLink & { operation: LinkOperation };

/** The link while this operation is under way. @throws ApplicationFailure, not retried, when it is over */
export async function currentLink(
  links: Pick<TrackerLinkStore, 'get'>,
  { linkId, operationId }: LinkRef,
): Promise<LinkWithOperation> {
  const link = await links.get(linkId);
  if (link?.operation?.id !== operationId) {
    const message = 'Another request for the work item came in between.';
    throw ApplicationFailure.create({ type: 'TRACKER_SUPERSEDED', message, nonRetryable: true });
  }
  return link as LinkWithOperation;
}

/** Changes the link as it was read; when another writer was first, the activity is repeated. */
export async function changeLink(
  links: Pick<TrackerLinkStore, 'change'>,
  ...change: Parameters<TrackerLinkStore['change']>
): Promise<LinkWithOperation> {
  const changed = await links.change(...change);
  if (!changed) {
    const message = 'The link of the work item changed in the meantime.';
    throw ApplicationFailure.create({ type: 'REVISION_MOVED', message, nextRetryDelay: '50 milliseconds' });
  }
  return changed as LinkWithOperation;
}
