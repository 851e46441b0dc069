import type { WorkspaceInventory } from '../../contracts/workspace-trust';
import type { Log } from '../../platform/log/log';
import { findHolders } from '../../platform/processes/holders';
import { adoptable } from './adoption';
import { isAncestor } from './ancestry';
import { fetchBase, localBase, remoteHead } from './base';
import {
  type Baseline,
  type BaselineState,
  captureBaseline,
  describeBaseline,
  type DescribedWorktree,
} from './baseline';
import { type Changes, collectChanges } from './changes';
import { captureCheckpoint, type CapturedCheckpoint, type WorkspaceSnapshot } from './checkpoint';
import { type Fence, fencedBy } from './fence';
import { inspectNew, inspectWorktree } from './evidence';
import { integrate, removeIntegration } from './integrate';
import { preserveAttempt } from './preserve';
import { pushIntegration } from './push';
import { rebaseOnto } from './rebase';
import { defaultRemote, remoteFingerprint } from './remotes';
import { removeWorktree } from './remove-worktree';
import { type BranchRequest, resolveBase } from './resolve-base';
import { restoreBaseline } from './restore';
import { previewRewind, type RewindPreview, type RewindRequest, type RewindResult, rewindWorkspace } from './rewind';
import { createGitRunner, type GitRunner } from './run-git';
import { createTransfer, type GitTransfer } from './transfer';
import { diffTrees, type TreeChange } from './tree-diff';
import { trackedInstructions } from './tracked-instructions';
import { commitInventory, type SeenWorktree, worktreeInventory } from './trust-inventory';
import { ensureWorktree, type Worktree, type WorktreeRequest } from './worktree';
import { describeSurroundings, type Surroundings } from './surroundings';
import type { WorktreeGit } from './worktree-git';
import { listWorktrees } from './worktree-list';
import type { ConfigureRequest, RecordedSettings } from './settings/repository-settings';
import { locateWorktree, type RecordedWorktree, type WorktreeLocation } from './worktree-location';

export type { Baseline, BaselineState, CapturedCheckpoint, Changes, Worktree, WorkspaceSnapshot };

/** What runs and worktrees need of git. Every function can be repeated; each throws `GitError`. */
export interface Git extends WorktreeGit {
  /** The same for one holder of a worktree: nothing is done any more once somebody else has it. */
  under(fence: Fence): Git;
  /**
   * Records the settings of a repository that git is run with from now on, unless they are recorded, and which filters of
   * the operator's may run in it.
   */
  configureRepository(request: ConfigureRequest): Promise<RecordedSettings>;
  resolveBase(request: BranchRequest): Promise<{ sha: string }>;
  ensureWorktree(request: WorktreeRequest): Promise<Worktree>;
  captureBaseline(request: RecordedWorktree & { attemptId: string }): Promise<Baseline>;
  /** The state that `captureBaseline` would record; nothing is written. */
  describeBaseline(request: RecordedWorktree): Promise<DescribedWorktree>;
  /** What lies around a worktree in its repository; nothing is written. */
  describeSurroundings(request: RecordedWorktree): Promise<Surroundings>;
  collectChanges(request: { worktreePath: string; baseline: Baseline }): Promise<Changes>;
  preserveAttempt(request: {
    worktreePath: string;
    attemptId: string;
    baseline?: Baseline;
  }): Promise<{ ref: string; commit: string } | undefined>;
  restoreBaseline(request: { worktreePath: string; baseline: Baseline }): Promise<WorktreeLocation>;
  /** Keeps the state of a worktree as a checkpoint; `undefined` when nothing is different from `since`. */
  captureCheckpoint(request: Parameters<typeof captureCheckpoint>[1]): Promise<CapturedCheckpoint | undefined>;
  previewRewind(request: Parameters<typeof previewRewind>[1]): Promise<RewindPreview>;
  rewindWorkspace(request: RewindRequest): Promise<RewindResult>;
  /** What in a worktree, or in a commit, agents take up by themselves; `seen` saves another look at the worktree. */
  worktreeInventory(request: RecordedWorktree & { seen?: SeenWorktree }): Promise<WorkspaceInventory>;
  commitInventory(request: { repositoryPath: string; commit: string }): Promise<WorkspaceInventory>;
  diffTrees(request: RecordedWorktree & { before: string; after: string }): Promise<TreeChange[]>;
}

export interface GitOptions {
  /** Directory in which the configuration of repositories is recorded; nobody else may write in it. */
  settingsDir: string;
  log?: Log;
  timeoutMs?: number;
  lockWaitMs?: number;
  transferTimeoutMs?: number;
  transferStallMs?: number;
  othersWork?: boolean;
}

/**
 * Git through its command line.
 *
 * @param options.timeoutMs the longest one git command may take
 * @param options.lockWaitMs how long a lock of another git process is waited for
 * @param options.transferTimeoutMs the longest one exchange with a remote may take
 * @param options.transferStallMs the longest a remote may be silent meanwhile
 * @param options.othersWork whether worktrees may belong to another user, who agents run as
 */
export function createGit({
  settingsDir,
  log,
  timeoutMs = 60_000,
  lockWaitMs = 3_000,
  transferTimeoutMs = 300_000,
  transferStallMs = 30_000,
  othersWork = false,
}: GitOptions): Git {
  const runner = createGitRunner({ settingsDir, timeoutMs, lockWaitMs, log, othersWork });
  const transfer = createTransfer(runner, { timeoutMs: transferTimeoutMs, stallMs: transferStallMs });
  return gitOf(runner, transfer, trackedInstructions(runner));
}

function gitOf(git: GitRunner, transfer: GitTransfer, tracked: ReturnType<typeof trackedInstructions>): Git {
  return {
    under: (fence) => gitOf(fencedBy(git, fence), transfer, tracked),
    resolveBase: (request) => resolveBase(git, request),
    ensureWorktree: (request) => ensureWorktree(git, request),
    captureBaseline: (request) => captureBaseline(git, request),
    describeBaseline: (request) => describeBaseline(git, request),
    describeSurroundings: (request) => describeSurroundings(git, request),
    collectChanges: (request) => collectChanges(git, request),
    preserveAttempt: (request) => preserveAttempt(git, request),
    restoreBaseline: (request) => restoreBaseline(git, request),
    captureCheckpoint: (request) => captureCheckpoint(git, request),
    previewRewind: (request) => previewRewind(git, request),
    rewindWorkspace: (request) => rewindWorkspace(git, request),
    worktreeInventory: (request) => worktreeInventory(git, tracked, request),
    commitInventory: (request) => commitInventory(git, request),
    diffTrees: async ({ before, after, ...recorded }) => diffTrees(git, locateWorktree(git, recorded), before, after),
    configureRepository: (request) => git.repositories.configure(request),
    fetchBase: (request) => fetchBase(git, transfer, request),
    localBase: (request) => localBase(git, request),
    defaultRemote: (request) => defaultRemote(git, request),
    remoteFingerprint: (request) => remoteFingerprint(git, request),
    remoteHead: (request) => remoteHead(git, transfer, request),
    isAncestor: ({ repositoryPath, ancestor, descendant }) => isAncestor(git, repositoryPath, ancestor, descendant),
    listWorktrees: ({ repositoryPath }) => listWorktrees(git, repositoryPath),
    inspectWorktree: (request) => inspectWorktree(git, request),
    inspectNew: (request, worktree) => inspectNew(git, request, worktree),
    holders: ({ worktreePath }) => findHolders(worktreePath),
    removeWorktree: (request) => removeWorktree(git, request),
    rebaseOnto: (request) => rebaseOnto(git, request),
    integrate: (request) => integrate(git, request),
    pushIntegration: (request) => pushIntegration(git, transfer, request),
    removeIntegration: (request) => removeIntegration(git, request),
    adoptable: (request) => adoptable(git, transfer, request),
  };
}
