import { setTimeout as delay } from 'node:timers/promises';
import { feedMessages, FeedRefusedError, unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { exitCodes, UsageError } from '../failures';
import { oneLine, plain } from '../output/plain';
import { stateStyle } from '../output/style';
import { table } from '../output/table';
import type { Session } from '../session';
import { pollingNote, progressBar } from './run-events';

export type WorkflowRun = components['schemas']['WorkflowRun'];
type Step = WorkflowRun['steps'][number];

const pollMs = 500;
const hasEnded = ({ status }: Pick<WorkflowRun, 'status'>): boolean =>
  ['completed', 'failed', 'cancelled'].includes(status);
const isOver = ({ status }: Step): boolean => ['completed', 'failed', 'skipped'].includes(status);

export const readRun = ({ board, signal }: Session, runId: string): Promise<WorkflowRun> =>
  unwrap(board.GET('/api/workflows/runs/{runId}', { params: { path: { runId } }, signal }));

/** A run in a line. */
export const runLine = ({ style }: Session, { id, workflowId, status, currentStep }: WorkflowRun): string =>
  `${id}  ${stateStyle(style, status)}  ${workflowId}${currentStep === null ? '' : `  at ${currentStep}`}\n`;

/** What a step asks, and how it is answered. */
function questionOf(session: Session, runId: string, { stepId, question, approvalId }: Step): string {
  const remedy =
    approvalId === undefined
      ? `Answer with: runboard workflow approve ${runId} ${stepId} (or reject)`
      : `Its call of a tool waits for the approval ${approvalId}, which an administrator reviews.`;
  const asked = question === undefined ? '' : `${plain(question).trimEnd()}\n`;
  return `${asked}${session.style('yellow', remedy)}\n`;
}

/** A run with its steps, and what it waits for. */
export function runText(session: Session, run: WorkflowRun): string {
  const rows = run.steps.map(({ stepId, type, status, visits, durationMs, agent, error }) => [
    ...[stepId, type, status, visits],
    `${Math.round(durationMs / 1_000)} s`,
    agent,
    oneLine(error ?? '', 60),
  ]);
  const waiting = run.steps.filter(({ status }) => status === 'blocked');
  return [
    runLine(session, run),
    ...(run.error === null ? [] : [`${oneLine(run.error, 200)}\n`]),
    table(['STEP', 'TYPE', 'STATUS', 'VISITS', 'TIME', 'AGENT', 'ERROR'], rows),
    ...waiting.map((step) => questionOf(session, run.id, step)),
  ].join('');
}

/** A run as it is, and whenever it has changed: by the feed, and again and again only where that is refused. */
async function* followRun(session: Session, runId: string): AsyncGenerator<WorkflowRun> {
  let revision = -1;
  try {
    for await (const message of feedMessages(session.feed, () => [{ type: 'subscribe', channel: 'workflow-runs' }])) {
      if (message.type === 'error') {
        break;
      }
      // What has changed while there was no connection is read when there is one.
      const isNews =
        message.type === 'workflow-runs:subscribed' ||
        (message.type === 'workflow-run:changed' && message.runId === runId && message.revision >= revision);
      if (isNews) {
        const run = await readRun(session, runId);
        ({ revision } = run);
        yield run;
      }
    }
  } catch (error) {
    if (!(error instanceof FeedRefusedError)) {
      throw error;
    }
  }
  session.signal.throwIfAborted();
  session.note(pollingNote);
  for (;;) {
    yield await readRun(session, runId);
    await delay(pollMs, undefined, { signal: session.signal });
  }
}

/** Prints each change of a step, with how many have ended, until the run has. @returns the exit code */
export async function watchRun(session: Session, runId: string): Promise<number> {
  const seen = new Map<string, string>();
  for await (const run of followRun(session, runId)) {
    const over = run.steps.filter(isOver).length;
    for (const step of run.steps) {
      const { stepId, status, visits, error } = step;
      const state = `${status} ${visits}`;
      if (status === 'pending' || seen.get(stepId) === state) {
        continue;
      }
      seen.set(stepId, state);
      const bar = progressBar((100 * over) / Math.max(1, run.steps.length));
      const why = error === null ? '' : `  ${oneLine(error, 100)}`;
      session.print({ runId, ...step }, () => {
        const line = `${bar}  ${stepId}  ${stateStyle(session.style, status)}${why}\n`;
        return status === 'blocked' ? `${line}${questionOf(session, runId, step)}` : line;
      });
    }
    if (hasEnded(run)) {
      session.print(run, () => runLine(session, run));
      if (run.status === 'failed') {
        session.note(`Continue it after the last step that succeeded: runboard workflow resume ${runId}`);
      }
      return run.status === 'completed' ? exitCodes.done : exitCodes.unsuccessful;
    }
  }
  return exitCodes.interrupted;
}

/** The step that is decided: the one that is named, or the only one that waits. */
export async function stepToDecide(session: Session, runId: string, step: string | undefined): Promise<string> {
  if (step !== undefined) {
    return step;
  }
  const run = await readRun(session, runId);
  const [waiting, ...others] = run.steps.filter(({ status }) => status === 'blocked');
  if (!waiting) {
    throw new UsageError(`No step of ${runId} waits for a decision: the run is ${run.status}.`);
  }
  if (others.length > 0) {
    const names = [waiting, ...others].map(({ stepId }) => stepId).join(', ');
    throw new UsageError(`Several steps wait for a decision; name one of ${names}.`);
  }
  return waiting.stepId;
}

type Value = string | number | boolean;

/** Values of variables from `name=value`: numbers, true and false are what they look like, the rest is text. */
export function variablesOf(assignments: string[]): Record<string, Value> {
  const entries = assignments.map((assignment): [string, Value] => {
    const [, name, text = ''] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(assignment) ?? [];
    if (name === undefined) {
      throw new UsageError(`"${oneLine(assignment, 60)}" is no variable: write name=value.`);
    }
    if (text === 'true' || text === 'false') {
      return [name, text === 'true'];
    }
    return [name, /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries);
}
