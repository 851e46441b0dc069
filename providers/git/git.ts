import type { WorkspaceInventory } from '../../contracts/runs/trust';
import { compact } from '../../platform/json/compact';
import type { Log } from '../../platform/log/log';
import { findOpenFiles } from '../../platform/processes/open-files';
import {
  type Baseline,
  type BaselineState,
  captureBaseline,
  describeBaseline,
  type DescribedWorktree,
} from './checkpoints/baseline';
import { captureCheckpoint, type CapturedCheckpoint, type WorkspaceSnapshot } from './checkpoints/checkpoint';
import { restoreBaseline } from './checkpoints/restore';
import {
  previewRewind,
  type RewindPreview,
  type RewindRequest,
  type RewindResult,
  rewindWorkspace,
} from './checkpoints/rewind';
import { type Conflicts, createConflicts } from './conflicts/conflicts';
import { createDiffs, type Diffs } from './diff/read-diff';
import { type Fence, fencedBy } from './fence';
import { type Changes, type ChangesRequest, collectChanges } from './files/changes';
import { preserveAttempt } from './files/preserve';
import { type StoredWork, storeWork, type StoreWorkRequest } from './files/store-work';
import { diffTrees, type TreeChange } from './files/tree-diff';
import { resolveCommit } from './files/trees';
import { type RepositorySnapshot, snapshotRepository } from './outside-changes';
import { isAncestor } from './refs/ancestry';
import { fetchBase, localBase, remoteHead } from './refs/base';
import { integrate, removeIntegration } from './refs/integrate';
import { type Branches, listBranches, readHead, type RepositoryHead } from './refs/list-branches';
import { pushIntegration } from './refs/push';
import { pushBranch, type PushBranchRequest, type PushedBranch } from './refs/push-branch';
import { rebaseOnto } from './refs/rebase';
import { defaultRemote, remoteFingerprint } from './refs/remotes';
import { type BranchRequest, resolveBase } from './refs/resolve-base';
import { createTransfer, type GitTransfer } from './refs/transfer';
import { type UnloggedBranch, unloggedBranches } from './refs/unlogged-branches';
import { withInspectionDirectory } from './repository/inspecting';
import { commitInventory, type SeenWorktree, worktreeInventory } from './repository/trust-inventory';
import { createGitRunner, type GitRunner, type GitRunnerOptions } from './run-git';
import type { ConfigureRequest, RecordedSettings } from './settings/repository-settings';
import { adoptable } from './worktrees/adoption';
import { inspectNew, inspectWorktree } from './worktrees/evidence';
import { reportingMissingObjects } from './worktrees/missing-objects';
import { removeWorktree } from './worktrees/remove-worktree';
import { ensureWorktree, type Worktree, type WorktreeRequest } from './worktrees/worktree';
import type { ListedWorktree, WorktreeGit } from './worktrees/worktree-git';
import { listWorktrees } from './worktrees/worktree-list';
import { locateWorktree, type RecordedWorktree, type WorktreeLocation } from './worktrees/worktree-location';

export type { Baseline, BaselineState, CapturedCheckpoint, Changes, WorkspaceSnapshot, Worktree };

/** What runs and worktrees need of git. Every function can be repeated; each throws `GitError`. */
export interface Git extends WorktreeGit {
  /** The same for one holder of a worktree: nothing is done any more once another one has it. */
  under(fence: Fence): Git;
  /**
   * Records the settings of a repository that git is run with from now on, unless they are recorded, and which filters of
   * the operator's may run in it.
   */
  configureRepository(request: ConfigureRequest): Promise<RecordedSettings>;
  /**
   * The same for repositories that are only inspected: their configuration is read now, what is recorded of it is removed with
   * the end of `work`, and nothing is made in them.
   */
  inspecting<T>(work: (git: Git) => Promise<T>): Promise<T>;
  resolveBase(request: BranchRequest): Promise<{ sha: string }>;
  /** What is checked out. */
  readHead(request: { repositoryPath: string }): Promise<RepositoryHead>;
  /** The repository's branches and, as they were fetched last, those of its remotes; unsorted. */
  listBranches(request: { repositoryPath: string }): Promise<Branches>;
  ensureWorktree(request: WorktreeRequest): Promise<Worktree>;
  captureBaseline(request: RecordedWorktree & { attemptId: string }): Promise<Baseline>;
  /** The state that `captureBaseline` would record; nothing is written. */
  describeBaseline(request: RecordedWorktree): Promise<DescribedWorktree>;
  /** What lies around a worktree in its repository; nothing is written. `worktrees` saves listing them again. */
  snapshotRepository(
    request: RecordedWorktree & { worktrees?: readonly ListedWorktree[] },
  ): Promise<RepositorySnapshot>;
  /** Branches of the repository that were moved by something else than git; none without a log is judged. */
  unloggedBranches(request: RecordedWorktree & { branches: Iterable<string> }): Promise<UnloggedBranch[]>;
  collectChanges(request: ChangesRequest): Promise<Changes>;
  preserveAttempt(request: {
    worktreePath: string;
    attemptId: string;
    baseline?: Baseline;
  }): Promise<{ ref: string; commit: string } | undefined>;
  /** Commits what is uncommitted in a worktree; `undefined` when nothing is. */
  storeWork(request: StoreWorkRequest): Promise<StoredWork | undefined>;
  restoreBaseline(request: { worktreePath: string; baseline: Baseline }): Promise<WorktreeLocation>;
  /** Stores the state of a worktree as a checkpoint; `undefined` when nothing is different from `since`. */
  captureCheckpoint(request: Parameters<typeof captureCheckpoint>[1]): Promise<CapturedCheckpoint | undefined>;
  previewRewind(request: Parameters<typeof previewRewind>[1]): Promise<RewindPreview>;
  rewindWorkspace(request: RewindRequest): Promise<RewindResult>;
  /** Files of a worktree, or a commit, that agents read by themselves; `seen` saves another inspection. */
  worktreeInventory(request: RecordedWorktree & { seen?: SeenWorktree }): Promise<WorkspaceInventory>;
  commitInventory(request: { repositoryPath: string; commit: string }): Promise<WorkspaceInventory>;
  /** Pushes a commit to a branch of a forge. @throws GitError `push-failed` */
  pushBranch(request: PushBranchRequest): Promise<PushedBranch>;
  /** Where a branch of the repository is; `undefined` when there is none. */
  branchHead(request: { repositoryPath: string; branch: string }): Promise<string | undefined>;
  /** Compares states of the files of a worktree, and reads files, for a caller who waits. */
  readonly diffs: Diffs;
  /** Conflicts in a worktree: read, resolved, and what stopped at them continued or aborted. */
  readonly conflicts: Conflicts;
  diffTrees(request: RecordedWorktree & { before: string; after: string }): Promise<TreeChange[]>;
}

export interface GitOptions {
  /** Directory in which the configuration of repositories is recorded; no other user may write in it. */
  settingsDir: string;
  log?: Log;
  timeoutMs?: number;
  lockWaitMs?: number;
  transferTimeoutMs?: number;
  transferStallMs?: number;
  othersWork?: boolean;
  assertAllowed?: () => void;
}

/**
 * Git through its command line.
 *
 * @param options.timeoutMs the longest one git command may take
 * @param options.lockWaitMs how long a lock of another git process is waited for
 * @param options.transferTimeoutMs the longest one exchange with a remote may take
 * @param options.transferStallMs the longest a remote may be silent meanwhile
 * @param options.othersWork whether worktrees may belong to another user, who agents run as
 * @param options.assertAllowed called right before every command and every change of a worktree; throws where none may be made
 */
export function createGit(options: GitOptions): Git {
  return gitWith(options);
}

/** The longest one git command may take in a repository that is only inspected. */
const inspectionTimeoutMs = 5_000;

function gitWith({
  settingsDir,
  inspecting,
  log,
  timeoutMs = 60_000,
  lockWaitMs = 3_000,
  transferTimeoutMs = 300_000,
  transferStallMs = 30_000,
  othersWork = false,
  assertAllowed,
}: GitOptions & Pick<GitRunnerOptions, 'inspecting'>): Git {
  const usual = { lockWaitMs, log, othersWork, assertAllowed };
  const runner = createGitRunner({ settingsDir, timeoutMs, inspecting, ...usual });
  const transfer = createTransfer(runner, { timeoutMs: transferTimeoutMs, stallMs: transferStallMs });
  const inspect: Git['inspecting'] = (work) =>
    withInspectionDirectory(settingsDir, (directory) =>
      work(
        gitWith(
          compact({
            ...usual,
            settingsDir: directory,
            timeoutMs: Math.min(timeoutMs, inspectionTimeoutMs),
            transferTimeoutMs,
            transferStallMs,
            inspecting: runner.repositories,
          }),
        ),
      ),
    );
  return gitOf(runner, transfer, inspect);
}

function gitOf(git: GitRunner, transfer: GitTransfer, inspect: Git['inspecting']): Git {
  return {
    under: (fence) => gitOf(fencedBy(git, fence), transfer, inspect),
    inspecting: inspect,
    resolveBase: (request) => resolveBase(git, request),
    readHead: ({ repositoryPath }) => readHead(git, repositoryPath),
    listBranches: ({ repositoryPath }) => listBranches(git, repositoryPath),
    ensureWorktree: (request) => ensureWorktree(git, request),
    captureBaseline: (request) => captureBaseline(git, request),
    describeBaseline: (request) => describeBaseline(git, request),
    snapshotRepository: (request) => snapshotRepository(git, request),
    unloggedBranches: async ({ branches, ...recorded }) =>
      unloggedBranches(locateWorktree(git, recorded).commonDir, branches),
    collectChanges: (request) => reportingMissingObjects(git, request, () => collectChanges(git, request)),
    preserveAttempt: (request) => reportingMissingObjects(git, request, () => preserveAttempt(git, request)),
    storeWork: (request) => storeWork(git, request),
    restoreBaseline: (request) => reportingMissingObjects(git, request, () => restoreBaseline(git, request)),
    captureCheckpoint: (request) => captureCheckpoint(git, request),
    previewRewind: (request) => previewRewind(git, request),
    rewindWorkspace: (request) => rewindWorkspace(git, request),
    worktreeInventory: (request) => worktreeInventory(git, request),
    commitInventory: (request) => commitInventory(git, request),
    diffs: createDiffs(git),
    conflicts: createConflicts(git),
    diffTrees: async ({ before, after, ...recorded }) =>
      diffTrees(git, locateWorktree(git, recorded), { before, after }),
    configureRepository: (request) => git.repositories.configure(request),
    fetchBase: (request) => fetchBase(git, transfer, request),
    localBase: (request) => localBase(git, request),
    defaultRemote: (request) => defaultRemote(git, request),
    remoteFingerprint: (request) => remoteFingerprint(git, request),
    remoteHead: (request) => remoteHead(git, transfer, request),
    isAncestor: ({ repositoryPath, ancestor, descendant }) => isAncestor(git, repositoryPath, { ancestor, descendant }),
    listWorktrees: ({ repositoryPath }) => listWorktrees(git, repositoryPath),
    inspectWorktree: (request) => inspectWorktree(git, request),
    inspectNew: (request, worktree) => inspectNew(git, request, worktree),
    holders: ({ worktreePath }) => findOpenFiles(worktreePath),
    removeWorktree: (request) => removeWorktree(git, request),
    rebaseOnto: (request) => rebaseOnto(git, request),
    integrate: (request) => integrate(git, request),
    pushBranch: (request) => pushBranch(git, transfer, request),
    branchHead: ({ repositoryPath, branch }) => resolveCommit(git, repositoryPath, `refs/heads/${branch}`),
    pushIntegration: (request) => pushIntegration(git, transfer, request),
    removeIntegration: (request) => removeIntegration(git, request),
    adoptable: (request) => adoptable(git, transfer, request),
  };
}
