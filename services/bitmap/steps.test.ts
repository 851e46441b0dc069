import fc from 'fast-check';
import { finish, itemsOfStep, sortedInSteps } from './steps';

describe('sorting in steps', () => {
  it('sorts like a sort at once, and leaves its input alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (items) => {
        const before = [...items];
        expect(finish(sortedInSteps(items, (a, b) => a - b))).toEqual([...items].sort((a, b) => a - b));
        expect(items).toEqual(before);
      }),
    );
  });

  it('takes many steps for many items', () => {
    const items = Array.from({ length: 5 * itemsOfStep + 1 }, (_, at) => (at * 7_919) % 100_003);
    const steps = sortedInSteps(items, (a, b) => a - b);
    let taken = 0;
    for (;;) {
      const step = steps.next();
      if (step.done) {
        expect(step.value).toEqual([...items].sort((a, b) => a - b));
        break;
      }
      taken += 1;
    }
    expect(taken).toBeGreaterThan(10);
  });
});
