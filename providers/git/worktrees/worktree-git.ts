import type { ProcessIdentity } from '../../../platform/processes/identity';
import type { WorktreeIdentity } from './verify-worktree';
import type { Worktree } from './worktree';
import type { RecordedWorktree } from './worktree-location';

/** A branch of a remote that the repository has configured under a name. */
export interface RemoteBranch {
  repositoryPath: string;
  /** Name of a configured remote, never a URL. */
  remote: string;
  branch: string;
}

export interface FetchedBase {
  sha: string;
  /** The remote-tracking reference that was updated. */
  ref: string;
  /** ISO 8601. */
  fetchedAt: string;
  remoteUrlFingerprint: string;
}

export interface LocalBase {
  sha: string;
  source: 'remote-tracking' | 'local';
}

export interface ListedWorktree {
  path: string;
  /** `null` for a bare repository. */
  headSha: string | null;
  /** `null` when HEAD is detached. */
  branch: string | null;
  /** Why it is locked, possibly empty; `null` when it is not. */
  locked: string | null;
  /** Why git would forget it, for example that its directory is gone; `null` when it would not. */
  prunable: string | null;
}

export interface InspectRequest {
  repositoryPath: string;
  worktreePath: string;
  /** The branch the worktree is meant to be on. */
  branch: string;
  /** The commit the branch began at: compared with when the base branch is not known here. */
  baseSha: string;
  baseBranch: string;
  /** Absent for a repository without a remote. */
  remote?: string;
  /** Which directory the worktree is, when that is recorded. */
  identity?: WorktreeIdentity | undefined;
}

/** What git and the file system report about a worktree. Ignored files count for nothing. */
export interface WorktreeEvidence {
  /** As git records it: symbolic links of its parents resolved. */
  path: string;
  /** Whether there is a directory. */
  exists: boolean;
  /** Whether the repository lists it. */
  registered: boolean;
  /** Which directory it is; `null` when there is none, or not the one that was recorded. */
  identity: WorktreeIdentity | null;
  /** Why what is at the path is not the worktree that was recorded there; `null` when it is, or nothing is there. */
  replaced: string | null;
  /** Whether its `.git` leads to the repository's record of it, and that one back. */
  gitDirMatches: boolean;
  headSha: string | null;
  /** During a rebase the branch that is rebased; `null` when HEAD is detached otherwise, or unknown. */
  branch: string | null;
  /** Where the branch it is meant to be on is, also when HEAD is elsewhere; `null` when there is none. */
  branchSha: string | null;
  /** Tracked files that differ from HEAD. */
  dirty: number;
  /** Files git does not know, and repositories inside the worktree. */
  untracked: number;
  /** What the commits were compared with: the base branch as last fetched, the local one, or `baseSha`. */
  base: { sha: string; source: 'remote-tracking' | 'local' | 'recorded' };
  /** Commits of HEAD that the base does not have, and the reverse. */
  ahead: number;
  behind: number;
  /** Commits of HEAD and the branch that no branch of the remote (without a remote: the base) is known to have. */
  unpushed: number;
  /** Whether HEAD or the branch has commits that the base does not have. */
  unmerged: boolean;
  /** An unfinished rebase, merge or the like. */
  operation: string | null;
  /** Why it is locked; `null` when it is not. */
  locked: string | null;
  /** Whether everything could be found out; when not, the numbers are lower bounds. */
  complete: boolean;
  /** What could not be found out, for people. */
  problems: string[];
}

export interface Holders {
  /** Whether every process could be inspected. */
  complete: boolean;
  processes: (ProcessIdentity & { command: string })[];
}

export interface RemoveRequest extends InspectRequest {
  /** Names the reference: `refs/board/removed/<id>`. The same for every repetition of one removal. */
  id: string;
  /** The directory that holds all worktrees; nothing outside of it is ever removed. */
  insideDir: string;
  /** The commit HEAD was at when the removal was decided. */
  headSha: string;
  /** Remove it with changes, untracked files and commits that are nowhere else; all of them are stored. */
  force: boolean;
}

export interface Removed {
  /** Where the replacement of the worktree is now; nothing of it was read or deleted. */
  movedAside?: string;
  /** `false` when there was nothing left to remove. */
  removed: boolean;
  /** `false` when it is checked out elsewhere, has moved, or was gone. */
  branchDeleted: boolean;
  /** What force would have dropped, as one commit that leads to everything. */
  preserved?: { ref: string; commit: string };
  /** Directory with the repositories and submodules that were inside, when there were any. */
  setAside?: string;
}

export interface RebaseRequest extends RecordedWorktree {
  branch: string;
  ontoSha: string;
  /** Names the reference to the old head: `refs/board/rebased/<id>`. The same for every repetition of one rebase. */
  id: string;
  /** Leave a conflict in the worktree, to be resolved. */
  keepConflict?: boolean;
}

export interface Rebased {
  headSha: string;
  previousHeadSha: string;
  /** `false` when the branch contained the commit already. */
  rebased: boolean;
  backupRef: string;
  /** It has stopped at conflicts of these files, which are kept in the worktree. */
  conflicts?: string[];
}

export interface IntegrateRequest {
  repositoryPath: string;
  /** Where the detached worktree is made; inside `insideDir`. */
  integrationPath: string;
  insideDir: string;
  /** Names the reference to the merge until it has landed: `refs/board/integrations/<id>`. */
  id: string;
  headSha: string;
  baseSha: string;
  message: string;
  author: { name: string; email: string };
}

export interface Integrated {
  mergedSha: string;
  /** The base had the commit: `mergedSha` is the base, and there is nothing to push. */
  alreadyMerged: boolean;
}

export interface PushRequest {
  repositoryPath: string;
  mergedSha: string;
  baseBranch: string;
  expectedBaseSha: string;
  /** Absent: the local base branch is moved. */
  remote?: string;
}

export interface AdoptionRequest extends RemoteBranch {
  worktreePath: string;
  /** The branch the worktree is meant to be on; `RemoteBranch.branch` is the base. */
  worktreeBranch: string;
}

export interface AdoptionEvidence {
  path: string;
  identity: WorktreeIdentity | null;
  registered: boolean;
  branchMatches: boolean;
  gitDirMatches: boolean;
  /** Whether the worktree and the repository mean the same location by the remote's name. */
  remoteMatches: boolean;
  headSha: string | null;
  /** Freshly fetched. */
  base: FetchedBase;
  baseIsAncestor: boolean;
  /** Whether all of the above hold. */
  adoptable: boolean;
}

/**
 * What the life of a worktree needs of git. Every function can be repeated, also after it was killed at any point; each
 * throws `GitError`. None changes the primary checkout: its HEAD, index, files and configuration stay as they are.
 */
export interface WorktreeGit {
  /**
   * Fetches exactly one branch into its remote-tracking reference: no tags, no submodules. Credentials come from git's
   * own helpers and the ssh agent; nothing ever asks.
   *
   * @throws GitError `fetch-failed`, `unknown-remote`
   */
  fetchBase(request: RemoteBranch): Promise<FetchedBase>;

  /** The base as it is known here, without the network. @throws GitError `unknown-ref` */
  localBase(request: { repositoryPath: string; branch: string; remote?: string }): Promise<LocalBase>;

  /** The remote that a branch of the repository is of: its upstream's, else `origin`; `undefined` when there is none. */
  defaultRemote(request: { repositoryPath: string; branch: string }): Promise<string | undefined>;

  /** SHA-256 (hex) of the remote's URL without credentials, the same for every spelling. @throws GitError `unknown-remote` */
  remoteFingerprint(request: { repositoryPath: string; remote: string }): Promise<string>;

  /** The commit a remote's branch is at, asked from the remote; `undefined` when it has no such branch. */
  remoteHead(request: RemoteBranch): Promise<string | undefined>;

  isAncestor(request: { repositoryPath: string; ancestor: string; descendant: string }): Promise<boolean>;

  listWorktrees(request: { repositoryPath: string }): Promise<ListedWorktree[]>;

  /** Inspects and changes nothing; what cannot be found out is a problem in the result and not an error. */
  inspectWorktree(request: InspectRequest): Promise<WorktreeEvidence>;

  /**
   * The same of a worktree that `ensureWorktree` has just made, without reading every file again: right after a checkout
   * git trusts no time stamp. `undefined` where something has changed.
   */
  inspectNew(request: InspectRequest, worktree: Worktree): Promise<WorktreeEvidence | undefined>;

  /** Processes that work in a directory: their own, root or executable, an open or a mapped file is inside. */
  holders(request: { worktreePath: string }): Promise<Holders>;

  /**
   * Removes a worktree and its branch. Without force only what is clean, pushed and merged; with force everything is stored
   * first, so that nothing becomes unreachable.
   *
   * @throws GitError `outside`, `mismatch` (another branch, not this repository's), `stale` (HEAD has moved), `dirty`,
   *   `unmerged`, `worktree-locked`
   */
  removeWorktree(request: RemoveRequest): Promise<Removed>;

  /**
   * Rebases the branch of a worktree onto an exact commit. A conflict puts everything back, unless it is to be kept.
   *
   * @throws GitError `merge-conflict` with the paths, `dirty`, `mismatch`, `stale`, `conflict` (another operation is
   *   unfinished)
   */
  rebaseOnto(request: RebaseRequest): Promise<Rebased>;

  /**
   * Merges a commit into the base in a detached worktree of its own. After a conflict that worktree is gone again.
   *
   * @throws GitError `merge-conflict` with the paths, `outside`
   */
  integrate(request: IntegrateRequest): Promise<Integrated>;

  /**
   * Makes a merge the base branch, never by force. `alreadyPushed`: an earlier call did it, perhaps with more on top.
   *
   * @throws GitError `push-rejected` (the base has moved), `push-failed`, and without a remote `checked-out`: moving a
   *   branch that is checked out would change what their checkout means
   */
  pushIntegration(request: PushRequest): Promise<{ alreadyPushed: boolean }>;

  /** Removes the integration worktree. `landed`: the reference to the merge goes too. @throws GitError `outside` */
  removeIntegration(request: {
    repositoryPath: string;
    integrationPath: string;
    insideDir: string;
    id: string;
    landed: boolean;
  }): Promise<void>;

  /** Fetches the base and collects what adoption of a worktree requires. @throws GitError `fetch-failed` */
  adoptable(request: AdoptionRequest): Promise<AdoptionEvidence>;
}
