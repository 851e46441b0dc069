import { assertHarmless } from './program';
import { InvalidQueryError } from './statement';

const of = (opcode: string, p4: string | null = null, p2 = 0) => [{ opcode, p2, p4 }];

describe('query program', () => {
  it.each([
    of('Function', 'like(2)'),
    of('PureFunc', 'DATE(-1)'),
    of('AggStep', 'count(0)'),
    of('Function', '->>(2)'),
    of('Transaction', '0', 0),
    of('Column', 'readfile(1)'),
  ])('lets %j run', (instruction) => {
    expect(() => assertHarmless([instruction])).not.toThrow();
  });

  it.each([
    of('Function', 'readfile(1)'),
    of('PureFunc', 'writefile(-1)'),
    of('AggStep', 'unheard_of(1)'),
    of('AggInverse', 'unheard_of(1)'),
    of('Function', null),
    of('Function', 'count(1)(1)'),
    of('Transaction', '0', 1),
    of('VOpen', 'vtab:1'),
  ])('does not let %j run', (instruction) => {
    expect(() => assertHarmless([...of('Init'), instruction])).toThrow(InvalidQueryError);
  });
});
