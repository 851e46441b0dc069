import type { TrackerProvider } from '../../contracts/integrations/trackers/tracker';

/** A project whose connection and credential are read where they are used. */
export interface TrackerIntrospectionInput {
  provider: TrackerProvider;
  project: string;
  /** Names the request in the audit log. */
  requestId: string;
  actor: string;
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** One reading of a project at a time: a request that is repeated joins it. */
export const trackerIntrospectionId = (provider: string, project: string): string =>
  `tracker-introspection/${provider}/${project}`;
