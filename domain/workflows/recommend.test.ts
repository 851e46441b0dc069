import { type Evidence, leastRate, type Outcome, recommend } from './recommend';

const outcomes = (text: string, fields: Partial<Outcome> = {}): Outcome[] =>
  text.split('').map((each) => ({
    ...{ succeeded: each === '+', startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:01:00.000Z' },
    ...fields,
  }));
const of = (workflowId: string, runs: Outcome[]): Evidence => ({
  workflowId,
  name: workflowId,
  version: 1,
  outcomes: runs,
});
const ids = (evidence: Evidence[], options: object = {}): string[] =>
  recommend(evidence, { minSamples: 1, ...options }).map(({ workflowId }) => workflowId);

describe('recommendations of launches', () => {
  it('trust many samples more than one', () => {
    expect(ids([of('one', outcomes('+')), of('many', outcomes('+'.repeat(19) + '-'))])).toEqual(['many', 'one']);
    expect(leastRate(1, 1)).toBeCloseTo(0.207, 3);
    expect(leastRate(19, 20)).toBeCloseTo(0.764, 3);
    expect(leastRate(0, 0)).toBe(0);
  });

  it('leave out what has too few samples, or has never succeeded', () => {
    expect(
      ids([of('few', outcomes('++')), of('never', outcomes('----')), of('enough', outcomes('+--'))], { minSamples: 3 }),
    ).toEqual(['enough']);
  });

  it('count the runs for one type of tasks, with the median of their durations', () => {
    const mixed = [...outcomes('++', { taskType: 'bug' }), ...outcomes('--', { taskType: 'docs' }), ...outcomes('+')];
    expect(recommend([of('mixed', mixed)], { taskType: 'bug', minSamples: 1 })).toEqual([
      {
        ...{ workflowId: 'mixed', name: 'mixed', version: 1, samples: 2, successes: 2, successRate: 1, score: 0.342 },
        ...{ medianDurationMs: 60_000, lastEndedAt: '2026-01-01T00:01:00.000Z' },
      },
    ]);
    expect(ids([of('mixed', mixed)], { taskType: 'docs' })).toEqual([]);
  });
});
