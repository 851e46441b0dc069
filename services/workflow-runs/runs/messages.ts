import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Graph, QuestionType } from '../graph/graph';

export interface RunInput {
  runId: string;
  graph: Graph;
}

export const runWorkflowId = (runId: string): string => `workflow-run/${runId}`;

/** A question a run waits for the answer of. */
export interface Question {
  id: string;
  text: string;
  question_type: QuestionType;
  options: { key: string; label: string }[];
  allow_freeform: boolean;
}

/** An answer that passed the checks of its question. */
export interface Answer {
  questionId: string;
  value?: string;
  keys: string[];
}

export interface Guidance {
  text: string;
  file?: string;
  line?: number;
}

/** The failure types of updates that come too late or too early. */
export const notNow = 'NotNow';

export const pauseRun = defineUpdate('pause');
export const unpauseRun = defineUpdate('unpause');
/** Ends the run, whatever it does; also one that has not begun. */
export const cancelRun = defineUpdate('cancel');
export const answerQuestion = defineUpdate<unknown, [Answer]>('answer');
export const steerRun = defineUpdate<unknown, [Guidance]>('steer');

/** Has the dispatcher look whether a queued run can be started. */
export const lookAgain = defineSignal('lookAgain');
export const dispatchId = (taskQueue: string): string => `${taskQueue}/dispatch`;
