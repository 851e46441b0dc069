import { type Evaluation, measure, together } from './performance';

const of = (result: Evaluation['result'], more: Partial<Evaluation> = {}): Evaluation => ({
  result,
  first: result,
  ...more,
});

describe('control performance', () => {
  it('reports nothing of a control that was never checked in a run', () => {
    expect(measure([])).toEqual({});
  });

  it('takes the share that passed at the first try from runs that passed or failed', () => {
    const later = of('pass', { first: 'fail' });
    expect(measure([of('pass'), later, of('skip'), of('na')])).toEqual({
      pass_at_1: 0.5,
      evaluations: ['pass', 'pass', 'skip', 'na'],
    });
    expect(measure([of('skip')])).toEqual({ evaluations: ['skip'] });
  });

  it.each<[string, number | undefined, Evaluation[]]>([
    [
      'every find was right and none was missed',
      1,
      [of('fail', { expected: 'fail' }), of('pass', { expected: 'pass' })],
    ],
    ['one was right, one was wrong', 2 / 3, [of('fail', { expected: 'fail' }), of('fail', { expected: 'pass' })]],
    ['one was right, one was missed', 2 / 3, [of('fail', { expected: 'fail' }), of('pass', { expected: 'fail' })]],
    ['nothing was right', 0, [of('fail', { expected: 'pass' })]],
    ['there was nothing to be found', undefined, [of('pass', { expected: 'pass' })]],
    ['it is not known what was to be found', undefined, [of('fail'), of('pass')]],
    ['it did not decide', undefined, [of('skip', { expected: 'fail' })]],
  ])('measures a control when %s', (_case, f1, evaluations) => {
    expect(measure(evaluations).f1).toBe(f1);
  });

  it('lets one failure fail a criterion, and otherwise one pass pass it', () => {
    expect(together(['pass', 'fail', 'skip'])).toBe('fail');
    expect(together(['na', 'pass', 'skip'])).toBe('pass');
    expect(together(['na', 'skip'])).toBe('skip');
    expect(together(['na'])).toBe('na');
    expect(together([])).toBe('na');
  });
});
