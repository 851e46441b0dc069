import type { CostPrediction } from '../../../contracts/knowledge/cost-prediction';

/** The properties of a task before it is done. */
export interface Likeness {
  type: string;
  priority?: string | undefined;
  project?: string | undefined;
  subtaskCount?: number | undefined;
  descriptionLength?: number | undefined;
}

/** The cost of a finished task; `undefined` where it was not reported. */
export interface Finished extends Likeness {
  cost?: number | undefined;
  tokens?: number | undefined;
  durationMs?: number | undefined;
}

type Trait = CostPrediction['basedOn']['sameIn'][number];

/** From the most to the least that tasks can have in common; the first that enough of them have counts. */
const likenesses: readonly Trait[][] = [['type', 'project', 'priority'], ['type', 'project'], ['type'], []];

/** Tasks that are enough to go by. */
const enough = 3;
/** Tasks that are many. */
const many = 10;

/** However large or small a task is, it is not taken for more than this many times the usual one. */
const maxComplex = 2;

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  return sorted.length % 2 === 0 && upper !== undefined && lower !== undefined ? (lower + upper) / 2 : upper;
}

/** A subtask is a twentieth of a task, and so are a thousand characters of description. */
const sizeOf = ({ subtaskCount = 0, descriptionLength = 0 }: Likeness): number =>
  1 + subtaskCount / 20 + descriptionLength / 20_000;

/** How much larger than the usual one of those a task is. */
function complexity(task: Likeness, alike: readonly Finished[]): number {
  const times = sizeOf(task) / (median(alike.map(sizeOf)) ?? 1);
  return Math.min(maxComplex, Math.max(1 / maxComplex, times));
}

/**
 * The predicted cost of a task: the median of the finished tasks that are most like it, times how much larger it is than they
 * are. A median, because one run that went astray predicts nothing about the next.
 */
export function predict(task: Likeness, finished: readonly Finished[]): Omit<CostPrediction, 'predictedAt'> {
  const groups = likenesses.map((sameIn) => ({
    sameIn,
    alike: finished.filter((one) => sameIn.every((trait) => one[trait] === task[trait])),
  }));
  const { sameIn, alike } = groups.find((group) => group.alike.length >= enough) ?? { sameIn: [], alike: finished };
  const times = complexity(task, alike);
  const estimate = (of: (one: Finished) => number | undefined): number | null => {
    const usual = median(alike.flatMap((one) => of(one) ?? []));
    return usual === undefined ? null : usual * times;
  };
  const whole = (value: number | null): number | null => (value === null ? null : Math.round(value));
  const cost = estimate((one) => one.cost);
  return {
    estimatedTokens: whole(estimate((one) => one.tokens)),
    estimatedCost: cost === null ? null : Math.round(cost * 1e6) / 1e6,
    estimatedDurationMs: whole(estimate((one) => one.durationMs)),
    confidence: confidenceOf(alike.length, sameIn),
    basedOn: { sampleSize: alike.length, sameIn },
  };
}

/** `high` for many tasks of the same type and project, `medium` for enough of the same type. */
function confidenceOf(sampleSize: number, sameIn: readonly Trait[]): CostPrediction['confidence'] {
  if (sampleSize >= many && sameIn.includes('project')) {
    return 'high';
  }
  return sampleSize >= enough && sameIn.includes('type') ? 'medium' : 'low';
}
