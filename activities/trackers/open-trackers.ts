import { projectProblem, type TrackerProvider } from '../../contracts/integrations/trackers/tracker';
import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import { trackerUrlOf } from '../../domain/trackers/scope';
import { openTracker } from '../../providers/trackers/open-tracker';
import type { Tracker } from '../../providers/trackers/tracker';
import type { TrackerConnectionRecord, TrackerStore } from '../../stores/integrations/trackers/tracker-store';
import type { RepositoryForges } from '../shared/repository-forges';

export interface TrackersDependencies {
  trackers: Pick<TrackerStore, 'connections'>;
  /** The credentials of this worker, its host, and whether trackers may be on private networks, and without TLS. */
  forges: Pick<RepositoryForges, 'secret' | 'allowPrivate' | 'hostId'>;
}

export interface OpenedTracker {
  tracker: Tracker;
  connection: TrackerConnectionRecord;
  baseUrl: string;
}

/** Opens projects of the configured trackers on the worker that calls them. */
export function createTrackers({ trackers, forges }: TrackersDependencies) {
  const { allowPrivate, hostId } = forges;
  return {
    allowPrivate,

    /** Refused when the tracker is not configured, or this worker has no credential for it. */
    async open(provider: TrackerProvider, project: string): Promise<OpenedTracker | Refusal> {
      // The input of a workflow proves nothing: a project is part of an address, and of a query.
      const problem = projectProblem(provider, project);
      if (problem !== undefined) {
        return refusal('VALIDATION_ERROR', `The project ${problem}.`, {
          issues: [{ path: 'project', message: problem }],
        });
      }
      const connection = await trackers.connections.get(provider);
      if (!connection) {
        return refusal('TRACKER_NOT_CONFIGURED', `No connection to ${provider} is configured.`, { provider });
      }
      const { credential, account = '', deployment } = connection;
      const token = forges.secret(credential);
      if (token === undefined) {
        const variable = credential.replace(/^env:/, '');
        const message = `The worker on the host ${hostId} has no usable value of ${variable}, the credential of ${provider}.`;
        return refusal('TRACKER_CREDENTIAL_MISSING', message, { provider, hostId, variable });
      }
      const baseUrl = trackerUrlOf(connection);
      if (!allowPrivate && !baseUrl.startsWith('https:')) {
        const message = `The tracker ${provider} has an address without TLS, which BOARD_FORGE_ALLOW_PRIVATE has to allow.`;
        return refusal('TRACKER_REFUSED_ADDRESS', message, { provider, baseUrl });
      }
      const tracker = openTracker({ provider, baseUrl, project, token, account, deployment, allowPrivate });
      return { tracker, connection, baseUrl };
    },
  };
}

export type Trackers = ReturnType<typeof createTrackers>;
