import type { CompletionResult } from '../../contracts/runs/completion';
import type { RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import type { Task } from '../../contracts/tasks/task';
import type { TerminalClaim } from './claim';

type Gate = NonNullable<RecordedTaskEnvelope['gates']>[number];
type Downgrade = CompletionResult['downgrades'][number];

/** The verification steps of the task that the run did not report. */
export interface Unreported {
  /** Those that have to be reported as passed. One that failed is reported, and a shortfall of its own. */
  required: Gate[];
  /** The optional ones, which were not reported. */
  others: Gate[];
}

/** Compares what a run reported, by the `gateId` of its verification, with the steps in its envelope. */
export function unreportedSteps(envelope: RecordedTaskEnvelope | undefined, { claims }: TerminalClaim): Unreported {
  const steps = (envelope?.gates ?? []).filter(({ kind }) => kind === 'verification-step');
  const reports = claims.verification ?? [];
  const judged = new Set(reports.filter(({ status }) => status === 'passed' || status === 'failed').map(idOf));
  const mentioned = new Set(reports.map(idOf));
  return {
    required: steps.filter(({ id, required }) => required === true && !judged.has(id)),
    others: steps.filter(({ id, required }) => required !== true && !mentioned.has(id)),
  };
}

const idOf = ({ gateId }: { gateId: string }): string => gateId;

const code = 'verification-unreported';

/** One entry for all of the steps, with their names. */
export const unreportedEntry = (steps: readonly Gate[], kind: string): Downgrade[] =>
  steps.length === 0
    ? []
    : [
        {
          code,
          message: `Not reported as verified, ${kind}: ${steps.map(({ id, description }) => `${description} (${id})`).join('; ')}.`,
        },
      ];

/**
 * The required verification steps that alone block a task from `done`: those its run did not report and that were not checked
 * since. `undefined` when the status has other reasons.
 */
export function awaitedSteps(
  { claimedStatus, downgrades, unverified = [] }: Pick<CompletionResult, 'claimedStatus' | 'downgrades' | 'unverified'>,
  { verificationSteps = [] }: Pick<Task, 'verificationSteps'>,
): NonNullable<CompletionResult['unverified']> | undefined {
  if (claimedStatus !== 'success' || unverified.length === 0) {
    return undefined;
  }
  if (downgrades.some((downgrade) => downgrade.code !== code)) {
    return undefined;
  }
  const open = new Set(verificationSteps.filter(({ checked }) => !checked).map(({ id }) => id));
  return unverified.filter(({ gateId }) => open.has(gateId));
}
