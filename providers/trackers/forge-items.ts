import type { ForgeComment, ForgeIssue } from '../../contracts/integrations/forge';
import { commentBody, commentNonceIn } from '../../domain/issue-sync/comment-text';
import { issueBody, markerIn } from '../../domain/issue-sync/issue-text';
import { fieldsOfLabels } from '../../domain/issue-sync/labels';
import type { Forge } from '../forges/forge';
import { ForgeError } from '../forges/forge-error';
import type { ItemMarker, Tracker, TrackerComment, TrackerItem } from './tracker';

/** An issue of a forge as a work item. */
export const itemOfIssue = (
  { number, url, title, body, state, labels }: ForgeIssue,
  workItemType: string | null = null,
): TrackerItem => ({
  id: String(number),
  url,
  workItemType,
  title,
  body,
  state,
  labels,
  priority: fieldsOfLabels(labels).priority ?? null,
});

const commentOf = (comment: ForgeComment): TrackerComment => ({ ...comment, nonce: commentNonceIn(comment.body) });

/** The text of a new issue, which ends in its marker. */
export const markedBody = (body: string, marker: ItemMarker): string => issueBody(body, marker);

/** The number of an issue. @throws ForgeError for the id of another tracker */
function numberOf(id: string): number {
  if (!/^[1-9][0-9]{0,9}$/.test(id)) {
    throw new ForgeError('not-found', `There is no issue ${id}.`);
  }
  return Number(id);
}

/** What issues of a forge are as work items, but for their creation. */
export function forgeItems(
  forge: Forge,
): Pick<Tracker, 'searchDelayMs' | 'findCreated' | 'getItem' | 'commentsOf' | 'addComment'> {
  return {
    searchDelayMs: 0,

    async findCreated({ taskId, nonce }, since) {
      for await (const page of forge.issues({ labels: [], since })) {
        const created = page.find(({ body }) => {
          const marker = markerIn(body);
          return marker?.taskId === taskId && marker.nonce === nonce;
        });
        if (created) {
          return itemOfIssue(created);
        }
      }
      return undefined;
    },

    getItem: async (id) => itemOfIssue(await forge.getIssue(numberOf(id))),
    commentsOf: async (id) => (await forge.commentsOf(numberOf(id))).map(commentOf),
    addComment: async (id, { nonce, ...comment }) =>
      commentOf(await forge.addComment(numberOf(id), commentBody(comment, nonce))),
  };
}

/** Values of a field of a payload, whatever form they have. */
export const textOf = (value: string | number | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : String(value ?? '');
export const valuesOf = (value: string | number | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? [...value] : [String(value)];
