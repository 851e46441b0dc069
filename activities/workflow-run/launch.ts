import { createHash } from 'node:crypto';
import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { LaunchOutcome, LaunchRequest } from '../../contracts/runs/launch/launch';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import type {
  LaunchActivities,
  LaunchInput,
  LaunchKey,
  LaunchState,
} from '../../services/workflow-runs/runs/stages/launch-messages';
import type { Board } from '../../stores/board-files/board';
import type { DecisionPoint } from '../../stores/governance/decision-point';
import { requireAllowed } from '../../stores/governance/require-allowed';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { WorkflowRunRecord, WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { AgentRunInput, RunTimings } from '../../workflows/agent-run/messages';
import { endOfChain } from '../scheduled-deliverable/end-of-chain';

export interface StepLaunchDependencies {
  workflowRuns: Pick<WorkflowRunStore, 'get'>;
  board: Pick<Board, 'create' | 'get'>;
  rules: DecisionPoint;
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
  routing: Pick<RoutingStore, 'configuration'>;
  /** Starts the run under this id once, and returns the decision; `undefined` when its workflow is over. */
  launch(input: AgentRunInput): Promise<LaunchOutcome | undefined>;
  requestStop(attemptId: string, actor: string): Promise<boolean>;
  /** Prevents what recovery has planned after an attempt. */
  cancelRecovery(attemptId: string, actor: string): Promise<unknown>;
  workspaceId: string;
  timings: RunTimings;
  now(): Date;
}

const digestOf = (...parts: (string | number)[]): string => createHash('sha256').update(parts.join('\n')).digest('hex');

/** The attempt of a launch: the same one however often it is made. */
const attemptOf = ({ runId, stageId, attempt }: LaunchKey): string =>
  `attempt_${digestOf(runId, stageId, attempt).slice(0, 12)}`;

/** The task of a step, whatever the attempt. */
const taskOf = ({ created_at }: WorkflowRunRecord, { runId, stageId }: LaunchKey): string =>
  `task_${created_at.slice(0, 10).replaceAll('-', '')}_${digestOf(runId, stageId).slice(0, 8)}`;

const waiting: LaunchState = { state: 'waiting' };
const failed = (reason: string): LaunchState => ({ state: 'failed', reason: reason.slice(0, 1_000) });
/** The part of a summary that is a value of its run. */
const maxOutput = 8_000;

/** Launches of agents for the steps of workflow runs, through admission as any other, in the name of who started the run. */
export function createStepLaunchActivities(deps: StepLaunchDependencies): LaunchActivities {
  const { workflowRuns, board, attempts } = deps;

  /** The task that an agent works on; a step with an input has one of its own. */
  async function taskFor(run: WorkflowRunRecord, input: LaunchInput): Promise<{ taskId: string } | { error: string }> {
    const { taskId: ofRun } = run.board;
    const parent = ofRun === null ? undefined : (await board.get(ofRun))?.task;
    if (input.input === undefined) {
      return parent ? { taskId: parent.id } : { error: 'The step has no input, and the run has no task.' };
    }
    const taskId = taskOf(run, input);
    if (await board.get(taskId)) {
      return { taskId };
    }
    const about = `Step \`${input.stepId}\` of the workflow run \`${input.runId}\`.`;
    const fields = {
      title: input.title,
      description: `${input.input}\n\n${about}`,
      ...compact({
        agent: input.agent,
        project: parent?.project,
        git: parent?.git?.repo === undefined ? undefined : { repo: parent.git.repo },
      }),
    };
    const { created_by: actor } = run;
    try {
      const { project, title } = fields;
      await requireAllowed(deps.rules, {
        action: 'create-task',
        actor,
        project,
        subject: { ...fields },
        change: title,
      });
      await board.create(fields, { actor, id: taskId });
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 503) {
        throw error;
      }
      return { error: `${error.code}: ${error.message}` };
    }
    return { taskId };
  }

  /** How a launch ended, with all that recovery tried after it; `waiting` while it goes on. */
  async function stateOf(input: LaunchInput): Promise<LaunchState> {
    const last = await endOfChain(deps, attemptOf(input));
    if (!last) {
      return waiting;
    }
    const { completion } = last;
    const output = completion?.summary.slice(0, maxOutput);
    const reason = completion ? (completion.error ?? completion.status) : (last.refusal?.message ?? last.state);
    if (completion?.status !== 'success') {
      return { state: 'failed', reason: reason.slice(0, 1_000), ...compact({ output }) };
    }
    const { outputFile } = input;
    if (outputFile !== undefined && !wrote(last, outputFile)) {
      return { state: 'failed', reason: `The agent has not written ${outputFile}.`, ...compact({ output }) };
    }
    return { state: 'success', output: output ?? '' };
  }

  async function stop(launch: LaunchKey, actor: string): Promise<void> {
    for (let attemptId: string | undefined = attemptOf(launch); attemptId !== undefined;) {
      await deps.cancelRecovery(attemptId, actor);
      await deps.requestStop(attemptId, actor);
      const recovery = await deps.recoveries.get(attemptId);
      attemptId = recovery?.state === 'launched' ? (recovery.nextAttemptId ?? undefined) : undefined;
    }
  }

  return {
    async startLaunch(input) {
      const run = await workflowRuns.get(input.runId);
      if (!run) {
        return failed('The run does not exist.');
      }
      const attemptId = attemptOf(input);
      const task = await taskFor(run, input);
      if ('error' in task) {
        return failed(task.error);
      }
      const { maxRetries } = (await deps.routing.configuration()).value;
      const { agent, model, phase, runId, stepId } = input;
      const origin: LaunchOrigin = { source: 'workflow', edge: 'root', workflow: { runId, stepId } };
      const outcome =
        (await deps.launch({
          ...{ attemptId, taskId: task.taskId, request: compact({ agent, model, phase }) as LaunchRequest },
          ...{ actor: run.created_by, workspaceId: deps.workspaceId, timings: deps.timings, maxRetries, origin },
        })) ?? (await attempts.get(attemptId))?.launch;
      if (outcome?.status !== 'refused') {
        return waiting;
      }
      const isBusy = outcome.details.retryable === true || outcome.code === 'RUN_ACTIVE';
      return isBusy ? { state: 'overloaded' } : failed(`${outcome.code}: ${outcome.message}`);
    },

    async observeLaunch(input) {
      const state = await stateOf(input);
      const { timeoutMs } = input;
      const startedAt = (await attempts.get(attemptOf(input)))?.startedAt;
      const isLate =
        state.state === 'waiting' && timeoutMs !== undefined && startedAt && isOver(startedAt, timeoutMs, deps.now());
      if (!isLate) {
        return state;
      }
      await stop(input, 'system:workflow-timeout');
      return failed(`The agent has not ended within ${Math.round(timeoutMs / 1_000)} s.`);
    },

    stopLaunch: (launch) => stop(launch, 'system:workflow-cancel'),
  };
}

const isOver = (startedAt: string, timeoutMs: number, now: Date): boolean =>
  now.getTime() > Date.parse(startedAt) + timeoutMs;

const wrote = ({ completion }: AttemptRecord, file: string): boolean =>
  completion?.harness.changedFiles?.some(({ path }) => path === file) === true;
