import { createHash } from 'node:crypto';
import type { TrackerConnectionFields, TrackerProvider } from '../../contracts/integrations/trackers/tracker';
import { apiUrlOf } from '../forges/forge-address';

/** Who changes tasks for trackers. */
export const trackerActor = 'system:trackers';

/** The address that the client of a tracker calls. */
export const trackerUrlOf = ({ provider, baseUrl }: Pick<TrackerConnectionFields, 'provider' | 'baseUrl'>): string =>
  provider === 'jira' ? (baseUrl ?? '').replace(/\/+$/, '') : apiUrlOf({ kind: provider, baseUrl });

/** A project of a tracker, wherever it is named: what its work items are identified in. */
export const trackerScope = (
  connection: Pick<TrackerConnectionFields, 'provider' | 'baseUrl'>,
  project: string,
): string => `${connection.provider}:${trackerUrlOf(connection)} ${project.toLowerCase()}`;

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

/** The link of a task to what a profile creates for it in a project: there is one at most. */
export const createdLinkId = (taskId: string, profileId: string, scope: string): string =>
  `link_${short(JSON.stringify(['created', taskId, profileId, scope]))}`;

/** The link of a work item to the task that it is brought in as. */
export const importedLinkId = (scope: string, itemId: string): string =>
  `link_${short(JSON.stringify(['imported', scope, itemId]))}`;

/** The id of the task that is created for a work item: every try creates the same one. */
export const importedTaskId = (provider: TrackerProvider, scope: string, itemId: string): string =>
  `task_${provider}_${itemId.replace(/[^A-Za-z0-9]/g, '_').slice(-20)}_${short(`${scope}#${itemId}`).slice(0, 12)}`;
