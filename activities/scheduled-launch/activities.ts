import { createHash } from 'node:crypto';
import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { ScheduledLaunchStore, ScheduledOutcomeStore } from '../../stores/runs/launch/scheduled-launch-store';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { AgentRunInput, RunTimings } from '../../workflows/agent-run/messages';

export interface ScheduledLaunchDependencies {
  scheduledLaunches: Pick<ScheduledLaunchStore, 'get'>;
  scheduledOutcomes: Pick<ScheduledOutcomeStore, 'note'>;
  attempts: Pick<AttemptStore, 'get'>;
  routing: Pick<RoutingStore, 'configuration'>;
  /** Starts the run under this id once, and returns the decision; `undefined` when its workflow is over. */
  launch(input: AgentRunInput): Promise<LaunchOutcome | undefined>;
  timings: RunTimings;
  now(): Date;
}

const edge = 'root' as const;
const origin: LaunchOrigin = { source: 'scheduled', edge };

export function createScheduledLaunchActivities(deps: ScheduledLaunchDependencies) {
  return {
    /**
     * Launches the definition in its present form, for the actor who made it. The same occurrence again is the same attempt.
     *
     * @returns the outcome, as the definition shows it
     */
    async launchScheduled({ id, occurrence }: { id: string; occurrence: string }): Promise<string> {
      const definition = await deps.scheduledLaunches.get(id);
      if (!definition) {
        return 'skipped: the definition no longer exists';
      }
      if (definition.paused) {
        return 'skipped: the definition is paused';
      }
      const attemptId = attemptOf(id, occurrence);
      const { taskId, launch: request, createdBy: actor, workspaceId } = definition;
      const { maxRetries } = (await deps.routing.configuration()).value;
      const outcome =
        (await deps.launch({
          attemptId,
          taskId,
          request,
          actor,
          workspaceId,
          timings: deps.timings,
          maxRetries,
          origin,
        })) ?? (await deps.attempts.get(attemptId))?.launch;
      const status = outcome?.status ?? 'refused';
      const refused = outcome?.status === 'refused' ? outcome : undefined;
      await deps.scheduledOutcomes.note(id, {
        at: deps.now().toISOString(),
        status,
        attemptId,
        code: refused?.code ?? null,
        message: refused?.message ?? null,
      });
      return refused ? `refused: ${refused.code}` : `${status}: ${attemptId}`;
    },
  };
}

export type ScheduledLaunchActivities = ReturnType<typeof createScheduledLaunchActivities>;

/** The attempt of one occurrence, however often it is requested. */
const attemptOf = (id: string, occurrence: string): string =>
  `attempt_${createHash('sha256').update(`${id}\n${occurrence}`).digest('hex').slice(0, 12)}`;
