import type { Remedy } from './remedy';

const connection = (remedy: string): Remedy => [{ call: 'PUT /api/integrations/trackers/connection', remedy }];
const repeat = (remedy: string): Remedy => [{ call: 'repeat', remedy }];
const profile = (remedy: string): Remedy => [{ call: 'PUT /api/integrations/trackers/profiles/:profileId', remedy }];
const task = (remedy: string): Remedy => [{ call: 'GET /api/tasks/:taskId', remedy }];

/** Refusals of what is done with external trackers. */
export const trackerRemedies: Record<string, Remedy> = {
  TRACKER_NOT_CONFIGURED: connection('Set the address of the tracker and the name of its credential.'),
  TRACKER_CREDENTIAL_MISSING: repeat('Set the variable in details.variable on the host, and repeat the request.'),
  TRACKER_REFUSED_ADDRESS: connection('Set an https address as baseUrl of the tracker.'),
  TRACKER_UNAUTHORIZED: repeat('Give the workers a token that is valid, and repeat the request.'),
  TRACKER_FORBIDDEN: repeat('Give the token the rights to read and write work items of the project.'),
  TRACKER_MOVED: connection('Set the address that the tracker has now.'),
  TRACKER_INVALID: [
    {
      call: 'POST /api/integrations/trackers/introspect',
      remedy: 'Read the reasons of the tracker in the message, and what its project has now.',
    },
  ],
  TRACKER_SCHEMA_MISSING: [
    { call: 'POST /api/integrations/trackers/introspect', remedy: 'Introspect the project, and repeat the request.' },
  ],
  TRACKER_PROFILE_DISABLED: profile('Enable the profile.'),
  TRACKER_BUSY: repeat('Repeat the request when the other one has ended.'),
  TRACKER_SUPERSEDED: repeat('Repeat the request: it continues where it ended.'),
  WORK_ITEM_EXISTS: task('Read the work items that the task has.'),
  WORK_ITEM_LINKED: task('Read the task that has the work item.'),
  WORK_ITEM_CLOSED: { none: 'A closed work item is not brought in: open it at its tracker.' },
  WORK_ITEM_MOVED: repeat('Repeat the request with details.workItemId, which it has now.'),
  ISSUE_SYNC_ACTIVE: [
    { call: 'GET /api/github/sync/config', remedy: 'Read how the issues are synchronised, or disable that.' },
  ],
};
