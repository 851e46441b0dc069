import type { Scorer, ScorerResult } from '../../../contracts/governance/scoring';
import type { FindPatterns } from './patterns/find-patterns';

/** What is scored. */
export interface Work {
  output: string;
  action?: string | undefined;
}

interface Judgement {
  score: number;
  explanation: string;
}

type OfType<T extends Scorer['type']> = Extract<Scorer, { type: T }>;

const targetOf = ({ target }: Scorer, work: Work): string => (target === 'action' ? (work.action ?? '') : work.output);

const turned = (score: number, { invert }: Scorer): number => (invert ? 1 - score : score);

function byKeywords(scorer: OfType<'KeywordContains'>, work: Work): Judgement {
  const { keywords, caseSensitive, match } = scorer;
  const folded = (text: string) => (caseSensitive ? text : text.toLowerCase());
  const text = folded(targetOf(scorer, work));
  const matches = keywords.filter((keyword) => text.includes(folded(keyword))).length;
  const share = matches / keywords.length;
  const score = match === 'all' ? Math.floor(share) : match === 'any' ? Math.ceil(share) : share;
  return { score: turned(score, scorer), explanation: `${matches} of ${keywords.length} keywords found` };
}

/** A pattern that takes too long does not count for the work, whichever way round it counts. */
function byPattern(scorer: OfType<'RegexMatch'>, isMatch: boolean | undefined): Judgement {
  if (isMatch === undefined) {
    return { score: 0, explanation: 'the pattern took too long' };
  }
  return { score: turned(isMatch ? 1 : 0, scorer), explanation: isMatch ? 'pattern found' : 'pattern not found' };
}

/** Each scorer's judgement of the work, in their order. */
export async function score(
  scorers: readonly Scorer[],
  work: Work,
  findPatterns: FindPatterns,
): Promise<ScorerResult[]> {
  const patterns = scorers.filter((scorer) => scorer.type === 'RegexMatch');
  const searches = patterns.map((scorer) => ({
    pattern: scorer.pattern,
    flags: scorer.flags,
    text: targetOf(scorer, work),
  }));
  const results = searches.length > 0 ? await findPatterns(searches) : [];
  return scorers.map((scorer) => {
    const judged =
      scorer.type === 'RegexMatch' ? byPattern(scorer, results[patterns.indexOf(scorer)]) : byKeywords(scorer, work);
    const { id, name, type, weight } = scorer;
    return { scorerId: id, name, type, weight, ...judged };
  });
}
