import type { CompositeMethod, ScorerResult } from '../../../contracts/governance/scoring';

type Scored = Pick<ScorerResult, 'score' | 'weight'>;

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Beyond this, differences are noise of the arithmetic. */
const rounded = (score: number): number => Math.round(Math.min(1, Math.max(0, score)) * 1e9) / 1e9;

/**
 * One score of several, from 0 to 1. Scorers without a weight do not count; at least one has some.
 *
 * @param scored scores from 0 to 1
 */
export function composite(method: CompositeMethod, scored: readonly Scored[]): number {
  const counting = scored.filter(({ weight }) => weight > 0);
  const scores = counting.map(({ score }) => score);
  const weights = sum(counting.map(({ weight }) => weight));
  switch (method) {
    case 'weightedAverage':
      return rounded(sum(counting.map(({ score, weight }) => score * weight)) / weights);
    case 'geometricMean':
      if (scores.includes(0)) {
        return 0;
      }
      return rounded(Math.exp(sum(counting.map(({ score, weight }) => Math.log(score) * weight)) / weights));
    case 'minimum':
      return rounded(Math.min(...scores));
    case 'maximum':
      return rounded(Math.max(...scores));
  }
}
