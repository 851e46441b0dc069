import type { Continuation } from '../../contracts/runs/completion';
import type { LaunchRequest } from '../../contracts/runs/launch/launch';
import { reportBy } from '../../domain/workflows/launch-node';
import { AppError } from '../../platform/errors/app-error';
import { JsonLimitError } from '../../platform/json/bounded';
import { compact } from '../../platform/json/compact';
import { parseStorableJson } from '../../platform/json/storable';
import { compileUntrustedSchema, UntrustedSchemaError } from '../../platform/json/untrusted-schema';
import { cut } from '../../platform/text/cut';
import type {
  LaunchActivities,
  LaunchEnd,
  LaunchInput,
  LaunchKey,
  LaunchState,
} from '../../services/workflow-runs/runs/stages/launch-messages';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import type { ConversationStore } from '../../stores/runs/conversation-store';
import { continuationOf } from '../../stores/runs/launch/continuation';
import type { WorkflowRunRecord, WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import type { RoutingStore } from '../../stores/settings/routing-store';
import type { AgentRunInput } from '../../workflows/agent-run/messages';
import { endOfChain } from '../shared/end-of-chain';
import { attemptIdOf, createTaskOnce, launchOnce, type OnceLaunchDependencies, taskIdOf } from '../shared/launch-once';

export interface StepLaunchDependencies extends OnceLaunchDependencies {
  workflowRuns: Pick<WorkflowRunStore, 'get'>;
  conversations: Pick<ConversationStore, 'put'>;
  routing: Pick<RoutingStore, 'configuration' | 'inputs'>;
  requestStop(attemptId: string, actor: string): Promise<boolean>;
  /** Prevents what recovery has planned after an attempt. */
  cancelRecovery(attemptId: string, actor: string): Promise<unknown>;
}

/** The attempt of a launch: the same one however often it is made. */
const attemptOf = ({ runId, stageId, attempt }: LaunchKey): string => attemptIdOf(runId, stageId, attempt);

type StepLaunch = Pick<AgentRunInput, 'taskId' | 'request' | 'origin' | 'conversation'>;

const waiting: LaunchState = { state: 'waiting' };
const failed = (reason: string): LaunchEnd => ({ state: 'failed', reason: cut(reason, 1_000) });
/** So much may be sent to a session that continues, in characters. */
const maxMessage = 20_000;
/** The part of a summary that is a value of its run. */
const maxOutput = 8_000;

/** Launches of agents for the steps of workflow runs, through admission as any other, in the name of who started the run. */
export function createStepLaunchActivities(deps: StepLaunchDependencies): LaunchActivities {
  const { workflowRuns, board, attempts } = deps;

  /** The task that an agent works on; a step with an input has one of its own. */
  async function taskFor(run: WorkflowRunRecord, input: LaunchInput): Promise<{ taskId: string } | { error: string }> {
    const { taskId: ofRun } = run.board;
    const parent = ofRun === null ? undefined : (await board.get(ofRun))?.task;
    if (input.input === undefined && !input.repair) {
      return parent ? { taskId: parent.id } : { error: 'The step has no input, and the run has no task.' };
    }
    const about = `Step \`${input.stepId}\` of the workflow run \`${input.runId}\`.`;
    const fields = {
      title: input.title,
      description: `${input.repair ? repairOf(input, input.repair) : input.input}\n\n${about}`,
      ...compact({
        agent: input.agent,
        project: parent?.project,
        git: parent?.git?.repo === undefined ? undefined : { repo: parent.git.repo },
      }),
    };
    // The task of a step, whatever the attempt; a repair has one of its own.
    const taskId = taskIdOf(
      run.created_at,
      input.runId,
      input.stageId,
      ...(input.repair ? ['repair', input.repair.problem, input.repair.output] : []),
    );
    return createTaskOnce(deps, { taskId, input: fields, actor: run.created_by });
  }

  /** The launch of a step with a session of its own. */
  async function rooted(run: WorkflowRunRecord, input: LaunchInput): Promise<StepLaunch | { error: string }> {
    const task = await taskFor(run, input);
    if ('error' in task) {
      return task;
    }
    const { agent, model, phase, runId, stepId } = input;
    return {
      taskId: task.taskId,
      request: compact({ agent, model, phase }) as LaunchRequest,
      origin: { source: 'workflow', edge: 'root', workflow: { runId, stepId } },
    };
  }

  /** The launch of a step that continues the session of an earlier attempt, on the task of that one. */
  async function continued(
    run: WorkflowRunRecord,
    { continues, input: message = '', phase, runId, stepId, ...key }: LaunchInput,
  ): Promise<StepLaunch | { error: string }> {
    const source = typeof continues === 'string' ? await attempts.get(continues) : undefined;
    if (!source) {
      return { error: 'No earlier step has left a session of this agent that can be continued.' };
    }
    if (message.length > maxMessage) {
      return { error: `The input has more than ${maxMessage} characters, which a message to a session may have.` };
    }
    const { _id: sourceAttemptId, taskId } = source;
    const edge = 'follow-up' as const;
    const attemptId = attemptOf({ runId, ...key });
    // Repeated, it continues as decided then.
    const session = (await attempts.get(attemptId)) ? 'decided' : await sessionOf(source);
    if (session instanceof AppError) {
      return { error: `${session.code}: ${session.message}` };
    }
    if (session !== 'decided') {
      const about = { edge, sourceAttemptId, message, actor: run.created_by, createdAt: deps.now().toISOString() };
      await deps.conversations.put({ _id: attemptId, ...about, continuation: session });
    }
    const { profileId, sandboxPresetId, model, mode, commitPolicy } = source.request;
    return {
      taskId,
      request: {
        agent: source.agent,
        parentAttemptId: sourceAttemptId,
        ...compact({ profileId, sandboxPresetId, model, mode, commitPolicy, phase: phase ?? source.request.phase }),
      } as LaunchRequest,
      origin: { source: 'workflow', edge, parentAttemptId: sourceAttemptId, workflow: { runId, stepId } },
      conversation: { documentId: attemptId, edge, sourceAttemptId },
    };
  }

  const sessionOf = (source: AttemptRecord): Promise<Continuation | AppError> =>
    continuationOf(deps.routing, source, 'follow-up').catch((error: unknown) => {
      if (error instanceof AppError && error.status === 409) {
        return error;
      }
      throw error;
    });

  /** How a launch ended, with all that recovery tried after it; `waiting` while it goes on. */
  async function stateOf(input: LaunchInput): Promise<LaunchState> {
    const last = await endOfChain(deps, attemptOf(input));
    // A repair reports for the attempt that has done the work.
    const leavesSession = last?.completion?.claims.continuation !== undefined && !input.repair;
    return last ? { ...(await endOf(last, input)), ...(leavesSession && { session: last._id }) } : waiting;
  }

  async function endOf(last: AttemptRecord, input: LaunchInput): Promise<LaunchEnd> {
    const { completion } = last;
    const output = completion && cut(completion.summary, maxOutput);
    if (completion?.status !== 'success') {
      return { state: 'failed', reason: cut(reasonOf(last), 1_000), ...compact({ output }) };
    }
    const { outputFile } = input;
    if (outputFile !== undefined && !input.repair && !wrote(last, outputFile)) {
      return { state: 'failed', reason: `The agent has not written ${outputFile}.`, ...compact({ output }) };
    }
    return input.outputSchema
      ? fitting(input.outputSchema, completion.summary)
      : { state: 'success', output: output ?? '' };
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
      const launch = await (input.continues === undefined || input.repair ? rooted(run, input) : continued(run, input));
      if ('error' in launch) {
        return failed(launch.error);
      }
      const outcome = await launchOnce(deps, { attemptId: attemptOf(input), actor: run.created_by, ...launch });
      if (outcome?.status !== 'refused') {
        return waiting;
      }
      const isBusy = outcome.details.retryable === true || outcome.code === 'RUN_ACTIVE';
      return isBusy ? { state: 'overloaded' } : failed(`${outcome.code}: ${outcome.message}`);
    },

    async observeLaunch(input) {
      const first = await attempts.get(attemptOf(input));
      if (!first) {
        return failed('Its launch has left no attempt.');
      }
      const state = await stateOf(input);
      const { timeoutMs } = input;
      const { startedAt } = first;
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

/** How much JSON may be an output, in characters. */
const maxJson = 65_536;
const schemaBounds = { maxBytes: 65_536 };
/** JSON in a block of Markdown is JSON. */
const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/;

/** A summary as the JSON that a schema asks for, or what is wrong with it. */
function fitting(schema: Record<string, unknown>, summary: string): LaunchEnd {
  const misfit = (reason: string): LaunchEnd => ({
    ...{ state: 'failed', misfit: true, output: cut(summary, maxOutput) },
    reason: cut(`Its summary does not fit the schema of the step: ${reason}`, 1_000),
  });
  const [, block = summary] = fenced.exec(summary) ?? [];
  if (block.length > maxJson) {
    return misfit(`it has more than ${maxJson} characters.`);
  }
  let value: unknown;
  try {
    value = parseStorableJson(block);
  } catch (error) {
    return misfit(error instanceof JsonLimitError ? error.message : 'it is no JSON.');
  }
  try {
    const issues = compileUntrustedSchema(schema, schemaBounds)(value);
    const named = issues.map(({ path, message }) => `${path} ${message}`.trim());
    return issues.length === 0 ? { state: 'success', output: value } : misfit(`${named.join('; ')}.`);
  } catch (error) {
    if (!(error instanceof UntrustedSchemaError)) {
      throw error;
    }
    return misfit(`${error.message}.`);
  }
}

/** What an agent works on that reports again what another one has reported otherwise than its schema asks for. */
const repairOf = (
  { title, outputSchema = {} }: LaunchInput,
  { output, problem }: NonNullable<LaunchInput['repair']>,
): string =>
  `An agent has worked on "${title}" and reported the summary below. ${problem}\n\n` +
  `${reportBy(outputSchema)}\n\nChange nothing else. The summary was:\n\n${output}`;

const isOver = (startedAt: string, timeoutMs: number, now: Date): boolean =>
  now.getTime() > Date.parse(startedAt) + timeoutMs;

/** Why an attempt has not succeeded: without an error, by the status and what its agent has summed up. */
function reasonOf({ completion, refusal, state }: AttemptRecord): string {
  if (!completion) {
    return refusal?.message ?? state;
  }
  const { error, status, summary } = completion;
  return error ?? (summary === '' ? status : `${status}: ${summary}`);
}

const wrote = ({ completion }: AttemptRecord, file: string): boolean =>
  completion?.harness.changedFiles?.some(({ path }) => path === file) === true;
