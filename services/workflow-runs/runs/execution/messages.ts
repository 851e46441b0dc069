import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ProvenMessage } from '../../../../platform/crypto/message-proof';
import type { MessageProof } from '../../../../platform/crypto/message-proof-shape';
import type { Graph, QuestionType } from '../../graph/graph';
import type { RunHooks, RunRecord, RunSetup, RunVars, TreeBudget } from '../run';
import type { RunState } from './continuation';

/** What the service signs: only the service starts or steers a run. */
export interface Signed {
  proof?: MessageProof;
}

export interface RunInput extends Signed {
  runId: string;
  graph: Graph;
  /** Values that the run begins with; absent when it has none. */
  vars?: RunVars;
  /** Absent when it has none. */
  setup?: RunSetup;
  /** Absent when it has none. */
  hooks?: RunHooks;
  /** Guidance that it begins with, of its parent; absent when there is none. */
  guidance?: RunRecord['guidance'];
  /** Of a child run: its parent, and the budgets that it shares. */
  tree?: { parent: string; budgets: TreeBudget[] };
  /** An execution continues as new when its history has so many events. */
  maxEvents?: number;
  /** Of an execution that continues another one. */
  state?: RunState;
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

/** A stage that waits for a call of its webhook, whose address follows from its id and is in no history. */
export interface WebhookWait {
  stage_id: string;
  /** Absent where it waits for ever. */
  expires_at?: string;
}

/** An answer that passed the checks of its question. */
export interface Answer extends Signed {
  questionId: string;
  value?: string;
  keys: string[];
}

/** The body of a call that passed the checks of its webhook. */
export interface Delivery extends Signed {
  stageId: string;
  body: string;
  isJson: boolean;
}

export interface Guidance extends Signed {
  /** By which runs of a tree recognise it; absent in what a caller sends. */
  id?: string;
  text: string;
  file?: string;
  line?: number;
}

/** A message that must not be accepted again until its proof counts no longer. */
export interface AcceptedProof {
  mac: string;
  expiresAt: string;
}

/** The failure type of updates that come too late or too early. */
export const notNow = 'NotNow';
/** Why a webhook takes no call. */
export const webhookUsed = 'The webhook was called before, or its stage waits no longer.';

/** The failure type of guidance beyond what a run takes. */
export const tooMuch = 'TooMuch';
/** The failure type of updates that come while the execution continues as new; the next one takes them. */
export const continuing = 'Continuing';
/** The failure type of a prompt that its model does not answer. */
export const modelFailed = 'MODEL';

export const pauseRun = defineUpdate<unknown, [Signed]>('pause');
export const unpauseRun = defineUpdate<unknown, [Signed]>('unpause');
/** A cancel; one that comes from the parent of a run also ends a run that is paused. */
export interface Cancel extends Signed {
  byParent?: true;
}
/** Ends the run, whatever it does; also one that has not begun. */
export const cancelRun = defineUpdate<unknown, [Cancel]>('cancel');
export const answerQuestion = defineUpdate<unknown, [Answer]>('answer');
/** Hands the body of a call to the stage that waits for it. */
export const deliverWebhook = defineUpdate<unknown, [Delivery]>('deliver');
export const steerRun = defineUpdate<unknown, [Guidance]>('steer');

/** Has a run read how its child runs are: one has ended. It changes nothing by itself, and is not signed. */
export const lookAtChild = defineSignal<[childId: string]>('lookAtChild');

/** Has the dispatcher check whether a queued run can be started. */
export const lookAgain = defineSignal('lookAgain');
export const dispatchId = (taskQueue: string): string => `${taskQueue}/dispatch`;

/** What may be done to a run. */
export type RunMessageKind = 'start' | 'continue' | 'pause' | 'unpause' | 'cancel' | 'answer' | 'deliver' | 'steer';

/** A message to a run as it is signed, and verified before it is acted on. */
export function runMessage(kind: RunMessageKind, runId: string, message: object): ProvenMessage {
  const { proof: _proof, ...body } = message as Signed & object;
  return { purpose: `workflow-run-${kind}`, subject: runWorkflowId(runId), actor: 'system:workflow-runs', body };
}
