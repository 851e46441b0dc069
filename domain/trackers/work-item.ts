import type { ExternalWorkItem } from '../../contracts/integrations/trackers/external-work-item';
import { compact } from '../../platform/json/compact';

/** What is stored of a work item and its task. */
interface LinkedItem extends Pick<ExternalWorkItem, 'provider' | 'project' | 'profileId' | 'origin' | 'url'> {
  itemId: string | null;
  workItemType: string | null;
  approvedBy: string | null;
  createdAt: string;
  createdBy: string;
}

/** What a task shows of a work item. */
export const workItemOf = (link: LinkedItem): ExternalWorkItem => ({
  provider: link.provider,
  project: link.project,
  id: link.itemId ?? '',
  url: link.url,
  workItemType: link.workItemType,
  origin: link.origin,
  profileId: link.profileId,
  linkedAt: link.createdAt,
  linkedBy: link.createdBy,
  ...compact({ approvedBy: link.approvedBy ?? undefined }),
});

type Named = Pick<ExternalWorkItem, 'provider' | 'project' | 'id'>;

/** Whether two entries of a task are of the same work item. */
export const isSameWorkItem = (one: Named, other: Named): boolean =>
  one.provider === other.provider && one.project === other.project && one.id === other.id;
