import type { Continuation } from '../../contracts/runs/completion';
import { runContinuationMessage } from '../../domain/governance/watched-end';
import { refusal } from '../../domain/refusal';
import { AppError } from '../../platform/errors/app-error';
import type { RunContinuationStore } from '../../stores/governance/watcher-policies/run-continuation-store';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { continuationOf } from '../../stores/runs/launch/continuation';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { ContinueRunInput } from '../../workflows/continue-run/messages';
import { type ContinuationLaunchDependencies, launchContinuation } from '../shared/continuation-launch';

export interface ContinueRunDependencies extends ContinuationLaunchDependencies {
  runContinuations: Pick<RunContinuationStore, 'get' | 'settle'>;
  routing: Pick<RoutingStore, 'configuration' | 'inputs'>;
}

export function createContinueRunActivities(deps: ContinueRunDependencies) {
  return {
    /**
     * Launches the continuation that is planned for a run, and records what came of it. Repeated, it finds the run by its id, which
     * was fixed when it was planned.
     *
     * @returns the outcome
     */
    async dispatchRunContinuation({ attemptId: sourceAttemptId }: ContinueRunInput): Promise<string> {
      const continuation = await deps.runContinuations.get(sourceAttemptId);
      if (continuation?.state !== 'planned') {
        return continuation?.state ?? 'missing';
      }
      const { attemptId } = continuation;
      const outcome = await launched(sourceAttemptId, attemptId);
      const settledAt = deps.now().toISOString();
      const refused = outcome.status === 'refused';
      const settled = await deps.runContinuations.settle(
        sourceAttemptId,
        refused
          ? { state: 'failed', settledAt, error: { code: outcome.code, message: outcome.message } }
          : { state: 'dispatched', settledAt },
      );
      const { taskId } = continuation;
      await deps.audit.record({
        action: 'run.continue',
        actor: watcherSystem,
        resource: sourceAttemptId,
        details: { taskId, attemptId, state: settled?.state, code: settled?.error?.code ?? null },
        once: `run.continue/${sourceAttemptId}`,
      });
      return refused ? `refused: ${outcome.code}` : `${outcome.status}: ${attemptId}`;
    },
  };

  async function launched(sourceAttemptId: string, attemptId: string) {
    const source = await deps.attempts.get(sourceAttemptId);
    if (!source) {
      throw new Error(`The attempt ${sourceAttemptId} is missing from the stores.`);
    }
    const session = await sessionOf(source);
    if (session instanceof AppError) {
      return refusal(session.code, session.message, session.details);
    }
    const outcome = await launchContinuation(deps, {
      attemptId,
      source,
      message: runContinuationMessage(source.completion?.status ?? 'ended'),
      continuation: session,
      actor: source.createdBy,
      byWatcher: true,
    });
    return (
      outcome ?? refusal('LAUNCH_LOST', 'The workflow of the run ended before its launch was decided.', { attemptId })
    );
  }

  /** The session of the run, or why it cannot be continued. */
  function sessionOf(source: AttemptRecord): Promise<Continuation | AppError> {
    return continuationOf(deps.routing, source, 'follow-up').catch((error: unknown) => {
      if (error instanceof AppError && error.status === 409) {
        return error;
      }
      throw error;
    });
  }
}

export type ContinueRunActivities = ReturnType<typeof createContinueRunActivities>;

/** Who continues runs when no person does. */
const watcherSystem = 'system:watcher';
