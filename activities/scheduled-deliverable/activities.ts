import { createHash } from 'node:crypto';
import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { DeliverableRunStatus } from '../../contracts/runs/schedules/scheduled-deliverable';
import { earlierShown, namesItsTime } from '../../domain/periods/repeated-time';
import { compact } from '../../platform/json/compact';
import type { ProofVerifier } from '../../platform/temporal/proof-verifier';
import { cut } from '../../platform/text/cut';
import type {
  DeliverableRunRecord,
  ScheduledDeliverableRunStore,
} from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import type {
  ScheduledDeliverableRecord,
  ScheduledDeliverableStore,
} from '../../stores/runs/schedules/scheduled-deliverable-store';
import { deliverableRunMessage } from '../../workflows/message-proofs';
import type { StartedRun } from '../../workflows/scheduled-deliverable/messages';
import { endOfChain } from '../shared/end-of-chain';
import { attemptIdOf, launchOnce, type OnceLaunchDependencies } from '../shared/launch-once';
import { createRunTask } from './task';

export interface ScheduledDeliverableDependencies extends OnceLaunchDependencies {
  scheduledDeliverables: Pick<ScheduledDeliverableStore, 'get'>;
  deliverableRuns: ScheduledDeliverableRunStore;
  proofs: Pick<ProofVerifier, 'require'>;
}

interface OfRun {
  runId: string;
}

interface Beginning {
  id: string;
  occurrence: string;
  /** The id of the workflow within its workspace. */
  workflow: string;
  started?: StartedRun;
}

/** `waiting`: the run before is under way, and this one begins after it. */
interface BegunRun extends OfRun {
  status: DeliverableRunStatus | 'waiting';
}

/** More than a schedule that names its minutes begins in the hours that clocks show twice. */
const maxRunsOfHour = 200;

const edge = 'root' as const;
const origin: LaunchOrigin = { source: 'scheduled', edge };

export function createScheduledDeliverableActivities(deps: ScheduledDeliverableDependencies) {
  const { deliverableRuns: runs, scheduledDeliverables } = deps;
  const at = (): string => deps.now().toISOString();

  /** Ends a run that is under way; the first end stands. @returns its status */
  async function end(
    runId: string,
    status: 'due' | 'success' | 'failed' | 'skipped',
    fields: Partial<DeliverableRunRecord> = {},
  ): Promise<DeliverableRunStatus> {
    const run = await runs.get(runId);
    const endedAt = status === 'due' ? null : at();
    const durationMs = run && endedAt !== null ? Date.parse(endedAt) - Date.parse(run.startedAt) : undefined;
    const ended = await runs.change(runId, 'running', { ...compact({ durationMs }), ...fields, status, endedAt });
    return ended?.status ?? run?.status ?? 'skipped';
  }

  /**
   * Why an occurrence is none of its own: clocks were set back over the time of day that is due, and it was run when they
   * showed it first. Temporal starts it both times.
   */
  async function shownBefore(
    { id, schedule, cronExpr, timezone }: ScheduledDeliverableRecord,
    workflow: string,
  ): Promise<string | undefined> {
    const due = dueAt(workflow);
    const isFixed = schedule !== 'biweekly' && (cronExpr === undefined || namesItsTime(cronExpr));
    const first = due !== undefined && isFixed ? earlierShown(timezone, due) : undefined;
    if (first === undefined) {
      return undefined;
    }
    const since = new Date(first).toISOString();
    const { items } = await runs.ofDeliverable(id, { limit: maxRunsOfHour });
    const earlier = items.find(
      ({ trigger, status, startedAt }) => trigger === 'schedule' && status !== 'skipped' && startedAt >= since,
    );
    return earlier && `${earlier._id} was run when the clocks of ${timezone} showed this time first.`;
  }

  return {
    /**
     * Records a run of the definition, once for each occurrence; one that continues has its record already.
     *
     * @throws ApplicationFailure `MESSAGE_UNPROVEN` for one that the API has not started in this name
     */
    async beginDeliverableRun({ id, occurrence, workflow, started }: Beginning): Promise<BegunRun> {
      const runId = started?.runId ?? runOf(id, occurrence);
      const existing = await runs.get(runId);
      if (existing) {
        await runs.change(runId, 'running', { workflow });
        return { runId, status: existing.status };
      }
      const definition = await scheduledDeliverables.get(id);
      if (!definition || (started && !('begin' in started))) {
        return { runId, status: 'skipped' };
      }
      if (started) {
        await deps.proofs.require(deliverableRunMessage(id, started), started.proof);
      }
      const { trigger, startedBy } = started?.begin ?? {
        trigger: 'schedule' as const,
        startedBy: definition.updatedBy,
      };
      const startedAt = at();
      const older = async () => (await runs.runningOf(id)).find(({ _id }) => _id !== runId);
      if (definition.overlapPolicy === 'buffer-one' && (await older())) {
        return { runId, status: 'waiting' as const };
      }
      const reason = definition.enabled ? await shownBefore(definition, workflow) : 'The deliverable was paused.';
      const { status } = await runs.begin({
        ...{ _id: runId, deliverableId: id, trigger, startedAt, startedBy, workflow },
        ...{ taskId: null, attemptId: null, reportedBy: null },
        ...compact({ error: reason }),
        status: reason === undefined ? 'running' : 'skipped',
        endedAt: reason === undefined ? null : startedAt,
      });
      // Of two that begin at once each sees the other, and the older one runs.
      const [first] = definition.overlapPolicy === 'allow-all' ? [] : await runs.runningOf(id);
      if (status === 'running' && first && first._id !== runId) {
        return { runId, status: await end(runId, 'skipped', { error: `${first._id} is under way.` }) };
      }
      return { runId, status };
    },

    /** Creates the task of a run. Without an agent the run is due until it is reported. */
    async prepareDeliverableTask({ runId }: OfRun): Promise<DeliverableRunStatus> {
      const run = await runs.get(runId);
      if (run?.status !== 'running') {
        return run?.status ?? 'skipped';
      }
      const definition = await scheduledDeliverables.get(run.deliverableId);
      if (!definition) {
        return end(runId, 'skipped', { error: 'The deliverable was deleted.' });
      }
      const created = await createRunTask(deps, run, definition);
      if ('error' in created) {
        return end(runId, 'failed', created);
      }
      if (definition.agent === undefined) {
        return end(runId, 'due', created);
      }
      const { outputPath } = definition;
      return (await runs.change(runId, 'running', { ...created, ...compact({ outputPath }) }))?.status ?? 'skipped';
    },

    /** Launches the agent on the task of a run through the ordinary path, once. */
    async launchDeliverableAgent({ runId }: OfRun): Promise<DeliverableRunStatus> {
      const run = await runs.get(runId);
      if (run?.status !== 'running' || run.taskId === null) {
        return run?.status ?? 'skipped';
      }
      const { agent } = (await deps.board.get(run.taskId))?.task ?? {};
      const attemptId = run.attemptId ?? attemptIdOf(runId);
      const { taskId, startedBy: actor } = run;
      const outcome = await launchOnce(deps, { attemptId, taskId, request: compact({ agent }), actor, origin });
      if (outcome?.status === 'refused') {
        return end(runId, 'failed', { attemptId, error: cut(`${outcome.code}: ${outcome.message}`, 2_000) });
      }
      return (await runs.change(runId, 'running', { attemptId }))?.status ?? 'skipped';
    },

    /** Ends the run once its agent is done, with all that recovery tries after it. */
    async observeDeliverableAgent({ runId }: OfRun): Promise<DeliverableRunStatus> {
      const run = await runs.get(runId);
      if (run?.status !== 'running') {
        return run?.status ?? 'skipped';
      }
      const last = await endOfChain(deps, run.attemptId ?? attemptIdOf(runId));
      if (!last) {
        return 'running';
      }
      const { completion, refusal } = last;
      const attemptId = last._id;
      const { outputPath } = run;
      const written = completion?.harness.changedFiles?.find(({ path }) => path === outputPath)?.path;
      const summary = completion && cut(completion.summary, 10_000);
      const fields = { attemptId, ...compact({ summary, outputFile: written }) };
      if (completion?.status !== 'success') {
        const reason = completion ? (completion.error ?? completion.status) : (refusal?.message ?? last.state);
        return end(runId, 'failed', { ...fields, error: cut(reason, 2_000) });
      }
      if (outputPath !== undefined && written === undefined) {
        return end(runId, 'failed', { ...fields, error: `The agent has not written ${outputPath}.` });
      }
      return end(runId, 'success', fields);
    },

    /** Ends a run whose steps failed for good. */
    endDeliverableRun: ({ runId, error }: OfRun & { error: string }): Promise<DeliverableRunStatus> =>
      end(runId, 'failed', { error: cut(error, 2_000) }),
  };
}

export type ScheduledDeliverableActivities = ReturnType<typeof createScheduledDeliverableActivities>;

const digestOf = (...parts: string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);

const runOf = (id: string, occurrence: string): string => `recurring_run_${digestOf(id, occurrence)}`;

/** When the Schedule had this workflow due: Temporal adds it to the id. */
function dueAt(workflow: string): number | undefined {
  const [, due = ''] = /-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/.exec(workflow) ?? [];
  const moment = Date.parse(due);
  return Number.isNaN(moment) ? undefined : moment;
}
