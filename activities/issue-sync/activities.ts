import { ApplicationFailure } from '@temporalio/common';
import type { IssueSyncFailure, IssueSyncReport } from '../../contracts/integrations/issue-sync';
import { isInbound, isOutbound } from '../../domain/issue-sync/compare';
import { scopeOf } from '../../domain/issue-sync/scope';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { cut } from '../../platform/text/cut';
import { ForgeError } from '../../providers/forges/forge-error';
import type { PullRequestStore } from '../../stores/integrations/pull-request-store';
import type { SyncNowInput } from '../../workflows/issue-sync/messages';
import { issueSyncMessage } from '../../workflows/message-proofs';
import { forgeAdvice, forgeCodeOf } from '../shared/forge-refusals';
import type { RepositoryForges } from '../shared/repository-forges';
import { type DueRefreshes, requestDueRefreshes } from './due-pull-requests';
import { pullIssues, retryProblems } from './pull';
import { pushTasks } from './push';
import type { SyncRun, SyncStores } from './sync-run';

export interface IssueSyncDependencies extends SyncStores {
  forges: Pick<RepositoryForges, 'open'>;
  proofs: ProofVerifier;
  pullRequests: PullRequestStore;
}

/** One step of a round; `round` names the round in what it writes. */
export interface RoundStep {
  repo: string;
  round: string;
}

/** Why a round cannot continue; `retryAfterMs`: how long the forge asks to wait. */
export interface RoundFailure {
  status: 'failed';
  code: string;
  message: string;
  retryAfterMs?: number;
}
export type StepEnd = { status: 'done' } | { status: 'disabled' } | RoundFailure;

const done = { status: 'done' } as const;
const disabled = { status: 'disabled' } as const;

/** The steps of a round. Each may be repeated: what it does is written to the mappings before and after it is done. */
export function createIssueSyncActivities(deps: IssueSyncDependencies) {
  const { issueSyncs, issueMappings, forges, now } = deps;

  /** Runs a step of a synchronisation that is enabled, with the forge of its repository. */
  const withRun = ({ repo, round }: RoundStep, work: (run: SyncRun) => Promise<void>): Promise<StepEnd> =>
    withHeartbeat(async (signal) => {
      const sync = await issueSyncs.configs.get(repo);
      if (sync?.enabled !== true) {
        return disabled;
      }
      const opened = await forges.open(repo);
      if ('status' in opened) {
        return { status: 'failed', code: opened.code, message: opened.message };
      }
      const { forge, connection } = opened;
      const run: SyncRun = {
        ...deps,
        ...{ repo, round, forge, signal },
        repository: connection.repository,
        scope: scopeOf(connection),
        mode: sync.syncMode,
        labels: sync.labelFilter?.split(',') ?? [],
        commentsSince: sync.comments === true ? (sync.commentsSince ?? undefined) : undefined,
      };
      try {
        await work(run);
        return done;
      } catch (error) {
        return failureOf(error);
      }
    });

  return {
    /** Whether the synchronisation is to run, and how often. */
    async beginIssueSync({ repo }: Pick<RoundStep, 'repo'>): Promise<{ pollIntervalMs: number } | null> {
      const sync = await issueSyncs.configs.get(repo);
      return sync?.enabled === true ? { pollIntervalMs: sync.pollIntervalMs } : null;
    },

    /** Brings changed issues to their tasks. */
    pullIssues: (step: RoundStep): Promise<StepEnd> =>
      withRun(step, async (run) => {
        if (run.mode !== 'none') {
          await retryProblems(run);
        }
        if (isInbound(run.mode)) {
          await pullIssues(run);
        }
      }),

    /** Brings changed tasks to their issues. */
    pushTasks: (step: RoundStep): Promise<StepEnd> =>
      withRun(step, async (run) => {
        if (isOutbound(run.mode)) {
          await pushTasks(run);
        }
      }),

    /** Requests a refresh of each open pull request that is due; the round runs them. */
    async requestRefreshes({ repo }: RoundStep): Promise<DueRefreshes> {
      const sync = await issueSyncs.configs.get(repo);
      return sync?.enabled === true && sync.pullRequests !== false
        ? requestDueRefreshes(deps, { repo, pollIntervalMs: sync.pollIntervalMs })
        : { due: [], isMore: false };
    },

    /** Records that a round has come to its end, and what it has done. */
    async endIssueSync({ repo, round }: RoundStep): Promise<IssueSyncReport> {
      const report = { ...(await issueMappings.countRound(round)), lastSyncAt: now().toISOString() };
      await issueSyncs.report(repo, report);
      return report;
    },

    /** Records that a round has ended early. */
    async failIssueSync({ repo, code, message, retryAfterMs }: RoundStep & RoundFailure): Promise<IssueSyncFailure> {
      const at = now();
      const retryAt = retryAfterMs === undefined ? null : new Date(at.getTime() + retryAfterMs).toISOString();
      const failure = { code, message: cut(message, 1_000), at: at.toISOString(), retryAt };
      await issueSyncs.fail(repo, failure);
      return failure;
    },

    /** Refuses a request for a round that the API has not signed. */
    async verifyIssueSync({ repo, asked }: { repo: string; asked: SyncNowInput }): Promise<void> {
      await deps.proofs.require(issueSyncMessage({ ...asked, repo }), asked.proof);
    },
  };
}

/** @throws what passes by itself, to be tried again */
function failureOf(error: unknown): RoundFailure {
  if (!(error instanceof ForgeError)) {
    throw error;
  }
  const { code, message, retryAfterMs } = error;
  const type = forgeCodeOf(error);
  if (code === 'unavailable') {
    throw ApplicationFailure.create({ type, message });
  }
  return {
    status: 'failed',
    code: type,
    message: forgeAdvice(error),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export type IssueSyncActivities = ReturnType<typeof createIssueSyncActivities>;
