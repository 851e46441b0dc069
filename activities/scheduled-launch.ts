import { createHash } from 'node:crypto';
import type { LaunchOutcome } from '../contracts/launch';
import type { LaunchOrigin } from '../contracts/admission';
import type { AttemptStore } from '../stores/attempt-store';
import type { RoutingStore } from '../stores/routing-store';
import type { ScheduledLaunchStore, ScheduledOutcomeStore } from '../stores/scheduled-launch-store';
import type { AgentRunInput, RunTimings } from '../workflows/agent-run/messages';

export interface ScheduledLaunchDependencies {
  scheduledLaunches: Pick<ScheduledLaunchStore, 'get'>;
  scheduledOutcomes: Pick<ScheduledOutcomeStore, 'note'>;
  attempts: Pick<AttemptStore, 'get'>;
  routing: Pick<RoutingStore, 'configuration'>;
  /** Starts the run under this id once, and answers what was decided; `undefined` when its workflow is over. */
  launch(input: AgentRunInput): Promise<LaunchOutcome | undefined>;
  timings: RunTimings;
  now(): Date;
}

const edge = 'root' as const;
const origin: LaunchOrigin = { source: 'scheduled', edge };

export function createScheduledLaunchActivities(deps: ScheduledLaunchDependencies) {
  return {
    /**
     * Launches what the definition says by now, for whoever made it. The same occurrence again is the same attempt.
     *
     * @returns what came of it, as the definition shows it
     */
    async launchScheduled({ id, occurrence }: { id: string; occurrence: string }): Promise<string> {
      const definition = await deps.scheduledLaunches.get(id);
      if (!definition) return 'skipped: the definition is gone';
      if (definition.paused) return 'skipped: the definition is paused';
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

/** The attempt of one occurrence, however often it is asked for. */
const attemptOf = (id: string, occurrence: string): string =>
  `attempt_${createHash('sha256').update(`${id}\n${occurrence}`).digest('hex').slice(0, 12)}`;
