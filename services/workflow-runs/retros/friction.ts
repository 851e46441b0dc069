import type { RunRecord, Stage } from '../runs/run';
import type { FrictionKind, FrictionPoint, OpenItem } from './retro-detail';

const timedOut = /\btime(d)?[ -]?out\b|\bdeadline\b/i;
const unclear = /\bambigu|\bunclear\b|\bunderspecified\b/i;
const toolFailed = /\b(tool|command|script|exit (code|status)|exited with|ENOENT|EACCES)\b/i;

/** Why a stage failed, by the words of its reason; a failure that names none of these is a wrong approach. */
export function failureKind({ kind, failure_reason = '' }: Pick<Stage, 'kind' | 'failure_reason'>): FrictionKind {
  if (timedOut.test(failure_reason)) {
    return 'timeout';
  }
  if (unclear.test(failure_reason)) {
    return 'ambiguity';
  }
  return kind === 'tool' || toolFailed.test(failure_reason) ? 'tool_failure' : 'wrong_approach';
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** One for the retries of a stage, and one for its failure, in the order of the stages. */
export function frictionPointsOf(stages: readonly Stage[]): FrictionPoint[] {
  return stages.flatMap((stage) => {
    const { id, name, retries, status, failure_reason } = stage;
    const points: FrictionPoint[] = [];
    if (retries > 0) {
      points.push({ kind: 'retry', description: `${name} was retried ${times(retries)}.`, stage_id: id });
    }
    if (status === 'failed') {
      const description = `${name} failed${failure_reason ? `: ${failure_reason}` : '.'}`;
      points.push({ kind: failureKind(stage), description, stage_id: id });
    }
    return points;
  });
}

/** An item of a map stands for itself. */
const nodeOf = ({ dot_id, id, parent }: Stage): string => (parent === undefined ? (dot_id ?? id) : id);

/** Failures that no later visit of the same node made good, and what a run that was cut short did not come to do. */
export function openItemsOf({ stages }: Pick<RunRecord, 'stages'>): OpenItem[] {
  const madeGood = new Set<string>();
  const items = stages.toReversed().flatMap((stage): OpenItem[] => {
    if (stage.status === 'cancelled') {
      return [{ kind: 'follow_up', description: `${stage.name} was cancelled before its end.` }];
    }
    if (stage.status === 'completed') {
      madeGood.add(nodeOf(stage));
    }
    return stage.status !== 'failed' || madeGood.has(nodeOf(stage))
      ? []
      : [{ kind: 'investigation', description: `${stage.name} failed and was not recovered.` }];
  });
  return items.reverse();
}
