import type {
  GateResult,
  TransitionGate,
  TransitionHooks,
  TransitionVerdict,
} from '../../contracts/settings/transition-hook';
import type { Task } from '../../contracts/tasks/task';
import { rulesAbout } from './rules';

/** How long a comment has to be to close a task with, in characters. */
export const closingCommentLength = 20;

interface Gate {
  /** Whether the task, as it is after the change, has what the gate requires. */
  isMet(task: Task): boolean;
  /** What is missing and what to do. */
  remedy: string;
}

const gates: Record<TransitionGate, Gate> = {
  'require-agent': {
    isMet: ({ agent, attempt }) => agent !== undefined || attempt !== undefined,
    remedy: 'The task has no agent: set its agent, or start a run of it.',
  },
  'require-plan': {
    isMet: ({ plan = '' }) => plan.trim() !== '',
    remedy: 'The task has no plan: write its plan.',
  },
  'require-verification-complete': {
    isMet: ({ verificationSteps = [] }) => verificationSteps.every(({ checked }) => checked),
    remedy: 'A verification step of the task is not checked: check each one, or remove it.',
  },
  'require-time-tracked': {
    isMet: ({ timeTracking }) =>
      timeTracking !== undefined &&
      (timeTracking.isRunning ||
        timeTracking.entries.some(({ durationMs, duration }) => (durationMs ?? duration ?? 0) > 0)),
    remedy: 'The task has no tracked time: start its timer, or add a time entry.',
  },
  'require-closing-comment': {
    isMet: ({ comments = [] }) => comments.some(({ text }) => text.trim().length >= closingCommentLength),
    remedy: `The task has no comment of at least ${closingCommentLength} characters: add one on how it ended.`,
  },
  'require-subtasks-complete': {
    isMet: ({ subtasks }) => subtasks.every(({ completed }) => completed),
    remedy: 'A subtask is not completed: complete each one, or remove it.',
  },
  'require-blocker-reason': {
    isMet: ({ status, blockedReason }) => status !== 'blocked' || (blockedReason ?? undefined) !== undefined,
    remedy: 'The task has no reason for being blocked: send blockedReason with the status.',
  },
};

/**
 * Whether the rules let a task change from one status to another: every gate of every rule about the change is judged on the task
 * as it is after the change.
 */
export function judgeTransition(hooks: TransitionHooks, from: Task['status'], after: Task): TransitionVerdict {
  const about = rulesAbout(hooks, { ...after, from, to: after.status });
  const required = [...new Set(about.flatMap((rule) => rule.gates))];
  const gateResults = required.map((gate): GateResult => {
    const passed = gates[gate].isMet(after);
    const rules = about.filter((rule) => rule.gates.includes(gate)).map(({ id }) => id);
    return { gate, passed, rules, ...(passed ? {} : { message: gates[gate].remedy }) };
  });
  const failed = gateResults.filter(({ passed }) => !passed);
  const verdict = { allowed: failed.length === 0, gateResults, failedGates: failed.map(({ gate }) => gate) };
  return failed.length === 0 ? verdict : { ...verdict, errorMessage: messageOf(from, after, failed) };
}

const messageOf = (from: string, { status }: Task, failed: readonly GateResult[]): string =>
  `The rules do not let the task change from ${from} to ${status}. ${failed.map(({ gate, message }) => `${gate}: ${message}`).join(' ')}`;
