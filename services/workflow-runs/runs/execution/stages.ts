import { ActivityFailure, ApplicationFailure, isCancellation, patched } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { Graph, GraphNode } from '../../graph/graph';
import type { ChildRunActivities } from '../children/activities';
import type { RunHooks, Stage, TreeBudget } from '../run';
import { runAgent } from '../stages/agent';
import { askModel } from '../stages/ask-model';
import { runChild } from '../stages/child';
import { runCommand } from '../stages/command';
import { withHooks } from '../stages/hooks';
import { runLaunch, runWrite } from '../stages/launch';
import { runMap } from '../stages/map';
import { runTool } from '../stages/tool';
import { awaitWebhook } from '../stages/webhook';
import { promptWithTools } from '../talks/prompt-with-tools';
import type { PromptInput } from './activities';
import { type Continuation, SuspendedError } from './continuation';
import type { Cursor, StageUnderWay } from './cursor';
import type { Outcome } from './edges';
import type { Answer, Delivery, Question } from './messages';
import type { RunProgress } from './progress';
import { fillIn, maxPromptCharacters } from './prompt-text';
import { reasonOf, RunFailedError } from './run-failed';
import type { Walkers } from './walkers';

/** What the stages of one run share. */
export interface StageContext {
  runId: string;
  goal: string | undefined;
  graph: Graph;
  /** Whether the run is paused: nothing further is begun meanwhile. */
  isPaused: () => boolean;
  /** Values that stages read and set: those of the run, or of one item of a map. */
  values: { all: () => Readonly<Record<string, unknown>>; set: (values: Record<string, unknown>) => void };
  progress: RunProgress;
  /** Answers that have come, by question. */
  answers: Map<string, Answer>;
  /** Bodies of calls that have come, by the stage that waits for them. */
  deliveries: Map<string, Delivery>;
  continuation: Continuation;
  walkers: Walkers;
  /** The task queue of the host with the run's workspace; absent until it has one. */
  workspace: { queue?: string };
  /** Absent where the run has none. */
  hooks: RunHooks | undefined;
  /** The first launch of the run on the board, whether one is under way, and the digest of the run's tool catalog. */
  board: { root?: string; launching: boolean; catalog?: string };
  tree: {
    /** Budgets that it shares with its child runs, and with the runs above it. */
    budgets: readonly TreeBudget[];
    /** What the runs have used that each of them covers, by the run it is of. */
    usage: () => Promise<Record<string, { tokens: number; cost: number }>>;
    /** How a child run has ended; nothing while it has not. */
    read: ChildRunActivities['readChildRun'];
    /** The child runs that have reported their end. */
    reported: Set<string>;
  };
}

/**
 * Visits one node, or resumes the visit that is under way: whatever it does is done when this resolves.
 *
 * @throws only when the run is cancelled, or SuspendedError
 */
export async function visit(node: GraphNode, run: StageContext, cursor: Cursor): Promise<Outcome> {
  const { progress } = run;
  if (!cursor.underWay) {
    cursor.underWay = { stage: progress.beginStage(node.id) };
    cursor.visit = progress.visit(node.id);
  }
  const { underWay } = cursor;
  try {
    const outcome = await perform(node, underWay, run);
    delete cursor.underWay;
    return outcome;
  } catch (error) {
    if (!(error instanceof SuspendedError)) {
      delete cursor.underWay;
    }
    throw error;
  }
}

/**
 * Does the work of a stage, and reports its end.
 *
 * @throws only when the run is cancelled or cannot continue, or SuspendedError, when the stage has not ended
 */
export async function perform(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Outcome> {
  const { progress } = run;
  const { stage } = underWay;
  try {
    const { outcome, reported } = await withHooks({ node, underWay }, run, () => work(node, underWay, run));
    progress.endStage(stage, outcome.outcome === 'success' ? 'completed' : 'failed', reported);
    return outcome;
  } catch (error) {
    if (error instanceof SuspendedError) {
      throw error;
    }
    if (isCancellation(error)) {
      progress.endStage(stage, 'cancelled');
      throw error;
    }
    const reason = reasonOf(error);
    progress.endStage(stage, 'failed', { failure_reason: reason, retries: retriesOf(error) });
    if (error instanceof RunFailedError) {
      throw error;
    }
    return { outcome: 'fail', reason };
  }
}

/** How the work of a stage ended, and what is reported of it. */
export interface Worked {
  outcome: Outcome;
  reported?: Partial<Stage>;
}

const done: Worked = { outcome: { outcome: 'success' } };

async function work(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  switch (node.kind) {
    case 'prompt':
      return promptModel(node, underWay, run);
    case 'human':
      return askHuman(node, underWay, run);
    case 'command':
      return runCommand(node, underWay, run);
    case 'map':
      return runMap(node, underWay, { ...run, perform });
    case 'child':
      return runChild(node, underWay, run);
    case 'agent':
      return runAgent(node, underWay, run);
    case 'tool':
      return runTool(node, underWay, run);
    case 'launch':
      return runLaunch(node, underWay, run);
    case 'write':
      return runWrite(node, underWay, run);
    case 'webhook':
      return awaitWebhook(node, underWay, run);
    case 'wait':
      await run.progress.flush();
      underWay.untilMs ??= Date.now() + (node.timeoutMs ?? 0);
      await wait(() => false, run, { untilMs: underWay.untilMs, summary: `wait in ${node.id}` });
      return done;
    default:
      return done;
  }
}

/** Waits in a stage; meanwhile the run does not work. */
export const wait = (
  holds: () => boolean,
  { walkers, continuation }: StageContext,
  until: { untilMs: number | undefined; summary: string },
): Promise<boolean> => walkers.rest(() => continuation.wait(holds, until));

async function promptModel(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { runId, goal, progress, values } = run;
  const prompt = fillIn(node.prompt ?? '', goal, values.all());
  if (prompt.length > maxPromptCharacters) {
    throw new Error(`The prompt has more than ${maxPromptCharacters} characters once its values are in it.`);
  }
  await progress.flush();
  const asked: PromptInput = {
    runId,
    stageId: underWay.stage.id,
    prompt,
    ...(progress.guidance.length > 0 && { guidance: [...progress.guidance] }),
    ...(node.system !== undefined && { system: fillIn(node.system, goal, values.all()) }),
    ...(node.model !== undefined && { model: node.model }),
    ...(node.maxTokens !== undefined && { maxTokens: node.maxTokens }),
    ...(node.outputSchema && { schema: node.outputSchema }),
  };
  const answer = node.promptTools
    ? await promptWithTools(node, node.promptTools, { underWay, run, prompt: asked })
    : await askModel(node, { underWay, ...run }, asked);
  const output = node.outputSchema ? answer.output : answer.text;
  values.set({ [`${node.id}_output`]: output, last_output: output });
  const { model, usage, retries, stopReason } = answer;
  const stopped = stopReason !== undefined && { stop_reason: stopReason };
  return {
    outcome: { outcome: 'success' },
    reported: { model, usage, retries, notes: cut(answer.text, 200), ...stopped },
  };
}

async function askHuman(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress, answers } = run;
  const { id } = underWay.stage;
  if (!node.question) {
    return done;
  }
  if (!progress.isAsked(id)) {
    const question = questionOf(node.question, id, run);
    progress.ask(question);
    progress.record({ InterviewStarted: { stage_id: id, question_id: id, text: question.text } }, id);
  }
  await progress.flush();
  if (node.timeoutMs !== undefined) {
    underWay.untilMs ??= Date.now() + node.timeoutMs;
  }
  try {
    await wait(() => answers.has(id), run, { untilMs: underWay.untilMs, summary: `answer to ${id}` });
  } catch (error) {
    if (!(error instanceof SuspendedError)) {
      progress.withdraw(id);
    }
    throw error;
  }
  progress.withdraw(id);
  const answer = answers.get(id);
  answers.delete(id);
  if (!answer) {
    progress.record({ InterviewTimedOut: { stage_id: id, question_id: id } }, id);
    const reason = 'No answer arrived in time.';
    return { outcome: { outcome: 'fail', reason }, reported: { failure_reason: reason } };
  }
  const value = answerValue(node.question, answer);
  progress.setValues({ [`${node.id}_answer`]: value, last_answer: value });
  const text = answer.value ?? answer.keys.join(', ');
  progress.record({ InterviewCompleted: { stage_id: id, question_id: id, answer: cut(text, 1_000) } }, id);
  return { outcome: { outcome: 'success', options: answer.keys }, reported: { notes: cut(text, 200) } };
}

/** The text, or the option; a list where several can be chosen, also of one. */
function answerValue(
  { type }: NonNullable<GraphNode['question']>,
  { value, keys }: Answer,
): string | readonly string[] | undefined {
  if (value !== undefined || keys.length !== 1) {
    return value ?? keys;
  }
  // Runs of earlier versions continue with a text.
  return type === 'multi_select' && patched('lists-of-options') ? keys : keys[0];
}

const questionOf = (
  asked: NonNullable<GraphNode['question']>,
  id: string,
  { goal, progress }: StageContext,
): Question => ({
  id,
  text: cut(fillIn(asked.text, goal, progress.context), 4_000),
  question_type: asked.type,
  options: asked.options,
  allow_freeform: asked.allowFreeform,
});

/** How often a stage was retried that failed in the end, as the activity reported it. */
function retriesOf(error: unknown): number {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const attempt =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as { attempt?: number } | undefined)?.attempt : 1;
  return Math.max(0, (attempt ?? 1) - 1);
}
