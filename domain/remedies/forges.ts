import { calls, type Remedy } from './remedy';

const status = (remedy: string): Remedy => [{ call: 'GET /api/github/status', remedy }];
const configure = (remedy: string) =>
  ({ call: 'PATCH /api/config/repos/:name', remedy, ids: { name: ['repo'] } }) as const;
const worktree = (remedy: string): Remedy => [{ call: 'GET /api/tasks/:taskId/worktree', remedy }];
const pull = (remedy: string): Remedy => [{ call: 'GET /api/github/pr/:taskId', remedy }];
const repeat = (remedy: string): Remedy => [{ call: 'repeat', remedy }];

/** Refusals of operations on the forge of a repository, and on the pull requests there. */
export const forgeRemedies: Record<string, Remedy> = {
  FORGE_NOT_CONFIGURED: [
    configure('Set the forge of the repository: kind, repository and credential.'),
    { call: 'GET /api/config/repos', remedy: 'Read which repositories have a forge.' },
  ],
  FORGE_CREDENTIAL_MISSING: status('Set the variable in details.variable on the host, and check again.'),
  FORGE_REFUSED_ADDRESS: [
    configure('Set an https address as baseUrl of the forge.'),
    { call: 'GET /api/config/repos', remedy: 'Read the address of the forge.' },
  ],
  FORGE_UNAUTHORIZED: status('Give the workers a token that is valid, and check again.'),
  FORGE_FORBIDDEN: status('Give the token the rights to contents, pull requests and issues, and check again.'),
  FORGE_NOT_FOUND: status('Check the name of the repository, and that the token may read it.'),
  FORGE_MOVED: status('Configure the address that the repository has now.'),
  FORGE_INVALID: { none: 'The message has the reasons of the forge.' },
  FORGE_RATE_LIMITED: repeat('Repeat the request later: it continues where it ended.'),
  FORGE_UNAVAILABLE: repeat('Repeat the request when the forge responds: it continues where it ended.'),
  PULL_REQUEST_NOTHING_TO_PUSH: [
    {
      call: 'repeat',
      remedy: 'Accept with {"delivery": "none"}, which completes the task without a pull request.',
      when: calls('/review/accept'),
    },
    { call: 'POST /api/agents/:taskId/start', remedy: 'Work on the task first.' },
  ],
  PULL_REQUEST_BRANCH_MOVED: worktree('Take the commits at the forge into this worktree, or use another branch.'),
  PULL_REQUEST_PUSH_REFUSED: status('Read the reason in the message, and whether the token may push.'),
  PULL_REQUEST_BUSY: pull('Read what the other request comes to, and repeat yours.'),
  PULL_REQUEST_SUPERSEDED: repeat('Repeat the request: nothing of it was done.'),
  PULL_REQUEST_FAILED: repeat('Repeat the request: it continues where it ended.'),
  ISSUE_SYNC_DISABLED: [
    { call: 'PUT /api/github/sync/config', remedy: 'Enable the synchronisation of the issues of the repository.' },
    { call: 'GET /api/github/sync/config', remedy: 'Read how issues are synchronised.' },
  ],
  ISSUE_SYNC_OUTBOUND: [
    {
      call: 'PUT /api/github/sync/config',
      remedy: 'Set syncMode to inbound or bidirectional, or pullRequests, or remove the webhook.',
    },
  ],
  ISSUE_SYNC_DUPLICATE: [
    { call: 'PUT /api/github/sync/config', remedy: 'Disable the synchronisation that details.other names.' },
  ],
};
