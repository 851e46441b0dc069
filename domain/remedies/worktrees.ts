import { is, type Remedy, type Step } from './remedy';

const worktree = (remedy: string): Step => ({ call: 'GET /api/tasks/:taskId/worktree', remedy });
const create = (remedy: string): Step => ({ call: 'POST /api/tasks/:taskId/worktree', remedy });
const patchTask = (remedy: string): Step => ({ call: 'PATCH /api/tasks/:taskId', remedy });
const conflicts = (remedy: string): Step => ({ call: 'GET /api/conflicts/:taskId', remedy });
const conflictFile = (remedy: string): Step => ({ call: 'GET /api/conflicts/:taskId/file', remedy });
const repeat = (remedy: string): Step => ({ call: 'repeat', remedy });

/** Refusals of operations on worktrees and of reading what is in them. */
export const worktreeRemedies: Record<string, Remedy> = {
  WORKTREE_NOT_FOUND: [create('Create the worktree of the task.')],
  WORKTREE_MISSING: [create('Create the worktree: the refusal states why it could not be.')],
  WORKTREE_EXISTS: [worktree('Read the worktree that the task has.')],
  WORKTREE_NOT_ADOPTABLE: [
    patchTask('Set git.worktreePath to the path of a worktree of its repository, or remove it and create one.'),
  ],
  WORKTREE_BUSY: [worktree('Read the operation that runs; repeat the request when it has ended.')],
  WORKTREE_IN_USE: [
    {
      call: 'GET /api/agents/:taskId/attempts/:attemptId',
      remedy: 'Read the attempt that uses the worktree; wait for its end, or stop it.',
    },
  ],
  WORKTREE_HEAD_MOVED: [worktree('Read the commit that the worktree is at.')],
  WORKTREE_DIRTY: [
    { call: 'POST /api/tasks/:taskId/worktree/commit', remedy: 'Commit what is not.', when: is('operation', null) },
    conflicts('Read what has stopped; resolve its files, and continue or abort it.'),
  ],
  WORKTREE_MISMATCH: [worktree('Read how the worktree differs from its manifest.')],
  WORKTREE_REPLACED: [
    worktree('Inspect what replaced the worktree; an administrator removes it with force, and it is created again.'),
  ],
  WORKTREE_PATH_TAKEN: [patchTask('Give the task another branch in git.branch.')],
  WORKTREE_BASE_BRANCH: [patchTask('Give the task a branch of its own in git.branch.')],
  WORKTREE_NO_REPOSITORY: [patchTask('Set git.repo to the name of a configured repository.')],
  WORKTREE_FETCH_FAILED: [repeat('Repeat the request, or create the worktree with allowStaleBase.')],
  WORKTREE_NOTHING_TO_MERGE: [{ call: 'POST /api/agents/:taskId/start', remedy: 'Work on the task first.' }],
  WORKTREE_NOTHING_TO_COMMIT: [worktree('Read the state of the worktree: everything in it is committed.')],
  WORKTREE_MERGE_BRANCH: [
    {
      call: 'PATCH /api/config/repos/:name',
      remedy: 'Add the branch to mergeBranches of the repository, or let an administrator merge.',
      ids: { name: ['repository'] },
    },
  ],
  WORKTREE_MERGE_CONFLICT: [
    { call: 'POST /api/tasks/:taskId/worktree/rebase', remedy: 'Rebase the branch onto its base first.' },
  ],
  WORKTREE_REBASE_CONFLICT: [
    {
      call: 'POST /api/tasks/:taskId/worktree/rebase',
      remedy: 'Rebase with onConflict keep and resolve the files, or have an agent rebase the branch.',
    },
  ],
  WORKTREE_CONFLICTED: [conflicts('Read the conflicts; resolve the files, and continue or abort the rebase.')],
  WORKTREE_NOT_CONTINUED: [
    conflicts('Read what is in conflict now: the refusal states what prevents it from continuing.'),
  ],
  CONFLICTS_UNRESOLVED: [conflicts('Read which files are in conflict, and resolve them.')],
  CONFLICT_NOT_FOUND: [conflicts('Read which files are in conflict.')],
  CONFLICT_NOT_RESOLVABLE: [conflictFile('Read the versions of the file, and resolve it as the refusal describes.')],
  CONFLICT_NOT_RESOLVED: [conflictFile('Read the versions of the file, and resolve it again.')],
  CONFLICT_TEXT_EXPIRED: [repeat('Send the text again.')],
  CONFLICT_UNSUPPORTED: { none: 'It is finished or aborted with git in the worktree.' },
  CONFLICTS_UNAVAILABLE: [worktree('Read the state of the worktree.')],
  WORKTREE_BASE_MOVED: [repeat('Merge again, onto the base as it is now.')],
  WORKTREE_BASE_CHECKED_OUT: [repeat('Check out another branch in the repository, and merge again.')],
  WORKTREE_NOT_A_BASE: [worktree('Read the base, and name a commit that is on it.')],
  WORKTREE_NOT_CREATED: [worktree('Read why the worktree was not created, and create it again.')],
  WORKTREE_NOT_COMMITTED: [worktree('Read the state of the worktree: details.reason states what prevents a commit.')],
  WORKTREE_NOT_REBASED: [worktree('Read the state of the worktree: the refusal states what prevents a rebase.')],
  WORKTREE_NOT_REMOVABLE: [
    { call: 'GET /api/tasks/:taskId/worktree/cleanup-preview', remedy: 'Read what blocks the removal.' },
  ],
  WORKTREE_INTERRUPTED: [repeat('Repeat the request: the operation resumes.')],
  WORKTREE_CANCELLED: [repeat('Repeat the request: nothing was changed.')],
  WORKTREE_GIT_FAILED: [repeat('Repeat the request: nothing was changed.')],
  WORKTREE_OPERATION_FAILED: [worktree('Read the state of the worktree and its history.')],
  EDITOR_NOT_CONFIGURED: { none: 'BOARD_EDITOR_COMMAND is set in the environment of the worker.' },
  EDITOR_FAILED: { none: 'The command in BOARD_EDITOR_COMMAND of the worker has to be repaired.' },
  DIFF_MOVED: [repeat('Read the first page again, without a cursor.')],
  DIFF_UNAVAILABLE: [worktree('Read the state of the worktree.')],
};
