import { ActivityFailure, ApplicationFailure, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { GraphNode } from '../../graph/graph';
import type { Stage } from '../run';
import { askModel } from './ask-model';
import type { Outcome } from './edges';
import type { Answer, Question } from './messages';
import type { RunProgress } from './progress';
import { fillIn, maxPromptCharacters, withGuidance } from './prompt-text';

/** What the stages of one run share. */
export interface StageContext {
  runId: string;
  goal: string | undefined;
  progress: RunProgress;
  /** Answers that have come, by question. */
  answers: Map<string, Answer>;
}

/** Visits one node: whatever it does is done when this resolves. @throws only when the run is cancelled */
export async function visit(node: GraphNode, run: StageContext): Promise<Outcome> {
  const { progress } = run;
  const stage = progress.beginStage(node.id);
  try {
    const { outcome, reported } = await work(node, stage, run);
    progress.endStage(stage, outcome.outcome === 'success' ? 'completed' : 'failed', reported);
    return outcome;
  } catch (error) {
    if (isCancellation(error)) {
      progress.endStage(stage, 'cancelled');
      throw error;
    }
    const reason = reasonOf(error);
    progress.endStage(stage, 'failed', { failure_reason: reason, retries: retriesOf(error) });
    return { outcome: 'fail', reason };
  }
}

interface Worked {
  outcome: Outcome;
  reported?: Partial<Stage>;
}

const done: Worked = { outcome: { outcome: 'success' } };

async function work(node: GraphNode, stage: Stage, run: StageContext): Promise<Worked> {
  switch (node.kind) {
    case 'prompt':
      return promptModel(node, stage, run);
    case 'human':
      return askSomebody(node, stage, run);
    case 'wait':
      await run.progress.flush();
      await sleep(node.timeoutMs ?? 0, { summary: `wait in ${node.id}` });
      return done;
    default:
      return done;
  }
}

async function promptModel(node: GraphNode, stage: Stage, { runId, goal, progress }: StageContext): Promise<Worked> {
  const prompt = withGuidance(fillIn(node.prompt ?? '', goal, progress.context), progress.guidance);
  if (prompt.length > maxPromptCharacters) {
    throw new Error(`The prompt has more than ${maxPromptCharacters} characters once its values are in it.`);
  }
  await progress.flush();
  const answer = await askModel(node, {
    runId,
    stageId: stage.id,
    prompt,
    ...(node.system !== undefined && { system: fillIn(node.system, goal, progress.context) }),
    ...(node.model !== undefined && { model: node.model }),
    ...(node.maxTokens !== undefined && { maxTokens: node.maxTokens }),
  });
  progress.setValues({ [`${node.id}_output`]: answer.text, last_output: answer.text });
  const { model, usage, retries } = answer;
  return { outcome: { outcome: 'success' }, reported: { model, usage, retries, notes: answer.text.slice(0, 200) } };
}

async function askSomebody(node: GraphNode, stage: Stage, run: StageContext): Promise<Worked> {
  const { progress, answers, goal } = run;
  const asked = node.question;
  if (!asked) {
    return done;
  }
  const question: Question = {
    id: stage.id,
    text: fillIn(asked.text, goal, progress.context).slice(0, 4_000),
    question_type: asked.type,
    options: asked.options,
    allow_freeform: asked.allowFreeform,
  };
  progress.ask(question);
  progress.tell({ InterviewStarted: { stage_id: stage.id, question_id: question.id, text: question.text } });
  await progress.flush();
  try {
    const answered = (): boolean => answers.has(question.id);
    if (node.timeoutMs === undefined) {
      await condition(answered);
    } else {
      await condition(answered, node.timeoutMs, { summary: `answer to ${question.id}` });
    }
  } finally {
    progress.withdraw(question);
  }
  const answer = answers.get(question.id);
  if (!answer) {
    progress.tell({ InterviewTimedOut: { stage_id: stage.id, question_id: question.id } });
    const reason = 'Nobody answered in time.';
    return { outcome: { outcome: 'fail', reason }, reported: { failure_reason: reason } };
  }
  const answerText = answer.value ?? (answer.keys.length === 1 ? answer.keys[0] : answer.keys);
  progress.setValues({ [`${node.id}_answer`]: answerText, last_answer: answerText });
  const text = typeof answerText === 'string' ? answerText : answer.keys.join(', ');
  progress.tell({ InterviewCompleted: { stage_id: stage.id, question_id: question.id, answer: text.slice(0, 1_000) } });
  return { outcome: { outcome: 'success', options: answer.keys }, reported: { notes: text.slice(0, 200) } };
}

/** The message of a failure. */
function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : error;
  return (cause instanceof Error ? cause.message : String(cause)).slice(0, 1_000);
}

/** How often a stage was retried that failed in the end, as the activity reported it. */
function retriesOf(error: unknown): number {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const attempt =
    cause instanceof ApplicationFailure ? (cause.details?.[0] as { attempt?: number } | undefined)?.attempt : 1;
  return Math.max(0, (attempt ?? 1) - 1);
}
