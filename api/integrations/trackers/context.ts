import {
  type TrackerConnection,
  type TrackerProvider,
  trackerProvider,
  type TrackerSchema,
} from '../../../contracts/integrations/trackers/tracker';
import { trackerUrlOf } from '../../../domain/trackers/scope';
import { conflict } from '../../../platform/errors/app-error';
import type { TrackerConnectionRecord } from '../../../stores/integrations/trackers/tracker-store';
import type { WorkflowContext } from '../../context';

export type TrackerContext = Pick<
  WorkflowContext,
  'audit' | 'board' | 'env' | 'issueSyncs' | 'repositories' | 'trackerLauncher' | 'trackerLinks' | 'trackers'
>;

export const trackerTag = 'trackers';
export const trackerPath = '/integrations/trackers';

/** @throws AppError 409 `TRACKER_NOT_CONFIGURED` */
export async function connectionOf(
  { trackers }: Pick<TrackerContext, 'trackers'>,
  provider: TrackerProvider,
): Promise<TrackerConnectionRecord> {
  const connection = await trackers.connections.get(provider);
  if (!connection) {
    const message = `No connection to ${provider} is configured. Save one first.`;
    throw conflict(message, { provider }, 'TRACKER_NOT_CONFIGURED');
  }
  return connection;
}

/**
 * The schema of a project as it was read last through the connection that is configured now.
 *
 * @throws AppError 409 `TRACKER_NOT_CONFIGURED`, `TRACKER_SCHEMA_MISSING`
 */
export async function schemaOf(
  context: Pick<TrackerContext, 'trackers'>,
  provider: TrackerProvider,
  project: string,
): Promise<TrackerSchema> {
  const connection = await connectionOf(context, provider);
  const schema = await context.trackers.schemaOf(provider, project);
  if (schema?.posture.baseUrl !== trackerUrlOf(connection)) {
    const message = `The project ${project} of ${provider} has not been introspected. Do that first.`;
    throw conflict(message, { provider, project }, 'TRACKER_SCHEMA_MISSING');
  }
  return schema;
}

/** What callers see of a connection: the name of its credential, and no value. */
export const presentConnection = (
  provider: TrackerProvider,
  record: TrackerConnectionRecord | undefined,
): TrackerConnection => ({
  provider,
  configured: record !== undefined,
  baseUrl: record ? trackerUrlOf(record) : null,
  credential: record?.credential ?? null,
  account: record?.account ?? null,
  deployment: record?.provider === 'jira' ? (record.deployment ?? 'cloud') : null,
  revision: record?.revision ?? 0,
  updatedAt: record?.updatedAt ?? null,
});

export const providers = trackerProvider.options;
