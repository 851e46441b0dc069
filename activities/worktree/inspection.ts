import type { CleanupFinding, WorktreeInspection } from '../../contracts/runs/worktrees/worktree';
import { cut } from '../../platform/text/cut';
import { onOtherBranch } from '../../providers/git/refs/other-branch';
import type { Holders, WorktreeEvidence } from '../../providers/git/worktrees/worktree-git';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';
import type { WorktreeHostDependencies } from './dependencies';
import { heldBy, placeOf } from './record';

/** The most processes and the most problems that are listed. */
const listed = 20;

/** What a removal checks besides git. */
interface Circumstances {
  activeAttempt: string | undefined;
  holders: Holders;
  now: Date;
}

/**
 * Inspects a worktree and returns what speaks against removing it. Changes nothing.
 *
 * @param known the git state, where that has just been read
 */
export async function inspect(
  deps: WorktreeHostDependencies,
  record: WorktreeRecord,
  known?: WorktreeEvidence,
): Promise<WorktreeInspection> {
  const [evidence, holders, activeAttempt] = await Promise.all([
    known ?? deps.git.inspectWorktree(placeOf(record)),
    deps.git.holders({ worktreePath: record.path }),
    deps.activeRuns.holder(record._id),
  ]);
  const now = deps.now();
  return {
    evidence: {
      complete: evidence.complete && holders.complete,
      reasons: [...evidence.problems.slice(0, listed), ...unseen(holders)],
      exists: evidence.exists,
      registered: evidence.registered,
      headSha: evidence.headSha ?? evidence.branchSha,
      branch: evidence.branch,
      dirty: evidence.dirty,
      untracked: evidence.untracked,
      ahead: evidence.ahead,
      behind: evidence.behind,
      unpushed: evidence.unpushed,
      merged: !evidence.unmerged,
      operation: evidence.operation,
      inspectedAt: now.toISOString(),
    },
    // A removed worktree has nothing left to lose.
    findings: record.state === 'removed' ? [] : findings(record, evidence, { activeAttempt, holders, now }),
  };
}

const unseen = ({ complete }: Holders): string[] => (complete ? [] : ['Not every process could be inspected.']);

function findings(
  record: WorktreeRecord,
  evidence: WorktreeEvidence,
  { activeAttempt, holders, now }: Circumstances,
): CleanupFinding[] {
  return [...losses(evidence), ...held(holders), ...incomplete(evidence, holders), ...forbidden()];

  /** The findings that no override lifts (specification 1, Worktrees, rule 7). */
  function forbidden(): CleanupFinding[] {
    const cleanup: CleanupFinding[] = [];
    const add = (code: CleanupFinding['code'], message: string) => cleanup.push({ code, overridable: false, message });
    const owner = heldBy(record, now);
    if (activeAttempt !== undefined) {
      add('active-attempt', `The attempt ${activeAttempt} is active on this task.`);
    }
    if (owner !== null) {
      add('attempt-lease', `The attempt ${owner} holds the lease until ${record.lease.expiresAt}.`);
    }
    if (evidence.exists && evidence.replaced === null && evidence.registered && evidence.branch !== record.branch) {
      add('branch-mismatch', onOtherBranch(record.path, { actual: evidence.branch, expected: record.branch }));
    }
    // A worktree that failed in the making may be at a path with files of others.
    const isReplaced = evidence.replaced !== null;
    if (
      evidence.exists &&
      !isReplaced &&
      record.state !== 'failed' &&
      !(evidence.registered && evidence.gitDirMatches)
    ) {
      add('manifest-mismatch', `The directory ${record.path} is not the worktree that the manifest describes.`);
    }
    return cleanup;
  }
}

/** What a removal would lose. */
function losses({ dirty, untracked, unpushed, unmerged, ahead }: WorktreeEvidence): CleanupFinding[] {
  const cleanup: CleanupFinding[] = [];
  const add = (code: CleanupFinding['code'], count: number, message: string) =>
    cleanup.push({ code, overridable: true, message, count });
  if (dirty > 0) {
    add('dirty', dirty, `${dirty} tracked files have changes that are not committed.`);
  }
  if (untracked > 0) {
    add('untracked', untracked, `${untracked} files are untracked.`);
  }
  if (unpushed > 0) {
    add('unpushed', unpushed, `${unpushed} commits are on no branch of the remote.`);
  }
  if (unmerged) {
    add('unmerged', ahead, 'The branch has commits that the base does not have.');
  }
  return cleanup;
}

function held({ processes }: Holders): CleanupFinding[] {
  if (processes.length === 0) {
    return [];
  }
  const listedProcesses = processes.slice(0, listed).map(({ pid, command }) => ({ pid, command: cut(command, 200) }));
  const message = `${processes.length} processes run in the worktree.`;
  return [{ code: 'held', overridable: true, message, count: processes.length, processes: listedProcesses }];
}

function incomplete(evidence: WorktreeEvidence, holders: Holders): CleanupFinding[] {
  const reasons = [...(evidence.complete ? [] : evidence.problems), ...unseen(holders)].slice(0, listed);
  if (reasons.length === 0) {
    return [];
  }
  return [{ code: 'incomplete-inspection', overridable: true, message: reasons.join(' ') }];
}
