import type { HarnessEvidence } from '../../../contracts/runs/completion';
import type { Features } from '../../../contracts/settings/settings';
import { judgementOf, type TerminalClaim } from '../../../domain/completion';
import { commitMessage, commitSubject } from '../../../domain/completion/commit-message';
import { compact } from '../../../platform/json/compact';
import { cut } from '../../../platform/text/cut';
import type { Git } from '../../../providers/git/git';
import { GitError } from '../../../providers/git/git-error';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import { isWorkLost, reportReplaced, type WorktreeObservationDependencies } from './observe-worktree';

export interface KeepWorkDependencies extends WorktreeObservationDependencies {
  /** What the run may do now. */
  phases: Pick<PhaseStore, 'get' | 'endEmergency'>;
  /** The current settings of agents. */
  agentSettings(): Promise<Features['agents']>;
}

type KeptWork = Pick<
  HarnessEvidence,
  'committed' | 'commits' | 'uncommitted' | 'preservedRef' | 'workLost' | 'headSha'
>;

/** Ends whose work is a result; that of others stays in the worktree as it is, for the next attempt. */
const hasResult = ({ status }: TerminalClaim): boolean => ['success', 'partial', 'blocked'].includes(status);

/**
 * Makes what an agent left uncommitted part of its result: a commit on its branch where its policy, its phase and the
 * settings allow one, else a commit that only a reference leads to. Repeated, it is the same commit.
 */
export async function keepWork(
  deps: KeepWorkDependencies,
  record: AttemptRecord,
  { claim, git }: { claim: TerminalClaim; git: Pick<Git, 'storeWork'> },
): Promise<KeptWork> {
  const { baseline, taskEnvelope } = record;
  const { changedFiles, commits = [], workLost } = claim.harness;
  if (!baseline || !taskEnvelope?.workspace || !hasResult(claim) || workLost !== undefined) {
    return {};
  }
  if (!baseline.dirty && changedFiles?.length === 0 && commits.length === 0) {
    return {};
  }
  const settings = await deps.agentSettings();
  const { branch, path: worktreePath } = taskEnvelope.workspace;
  const { agentConfig, taskId, _id: attemptId, objective } = record;
  const subject = { taskId, attemptId, title: objective.title, summary: claim.summary };
  const { type, name } = agentConfig;
  try {
    const stored = await git.storeWork({
      worktreePath,
      gitDir: baseline.gitDir,
      identity: baseline.identity,
      id: attemptId,
      branch,
      message: commitMessage({ ...subject, ...(settings.commitCoAuthor ? { coAuthor: { type, name } } : {}) }),
      author: settings.commitAuthor,
      ...compact({ withhold: await whyNoCommit(deps, record, settings) }),
    });
    if (!stored) {
      return {};
    }
    const { sha, ref, files, withheld, skipped } = stored;
    // A try that was killed after it had moved the branch is followed by one that finds this commit among the agent's.
    const ofAgent = commits.filter((commit) => commit.sha !== sha);
    return withheld === null
      ? {
          committed: { sha, subject: commitSubject(subject), files },
          commits: ofAgent,
          headSha: sha,
          ...unread(skipped),
        }
      : { uncommitted: { files, reason: withheld }, preservedRef: ref };
  } catch (error) {
    if (isWorkLost(error)) {
      return reportReplaced(deps, record, error);
    }
    if (!(error instanceof GitError) || error.code === 'fenced') {
      throw error;
    }
    deps.log.warn({ attemptId, err: error }, 'commit of uncommitted work failed');
    return { uncommitted: { files: changedFiles?.length ?? 0, reason: cut(error.message, 2_000) } };
  }
}

/** What a commit had to leave out. */
function unread(paths: readonly string[]): Pick<KeptWork, 'uncommitted'> {
  const reason = `git could not read ${paths.slice(0, 10).join(', ')}${paths.length > 10 ? ', …' : ''}.`.slice(
    0,
    2_000,
  );
  return paths.length === 0 ? {} : { uncommitted: { files: paths.length, reason } };
}

/** Why nothing may be committed for this run; `undefined` when it may. */
async function whyNoCommit(
  { phases, now }: Pick<KeepWorkDependencies, 'phases' | 'now'>,
  record: AttemptRecord,
  { commitUncommitted }: Features['agents'],
): Promise<string | undefined> {
  if (record.taskEnvelope?.commitPolicy === 'forbidden') {
    return 'The commit policy of the run forbids commits.';
  }
  if (!commitUncommitted) {
    return 'The setting agents.commitUncommitted is off.';
  }
  const current = await phases.endEmergency(record._id, { now: now().toISOString() });
  const held = judgementOf(record, current)?.held.at(-1);
  if (held && !held.allowed.some(({ kind }) => kind === 'git-commit')) {
    return `The phase ${held.phase} allows no commits.`;
  }
  return undefined;
}
