import fc from 'fast-check';
import { failureClass } from '../../contracts/runs/recovery';
import { isRetryable, needsOperator } from './classify';
import { backoffOf, decideRecovery, type Failure } from './decide';

const failure = (fields: Partial<Failure> = {}): Failure => ({
  failureClass: 'transient-transport',
  retryNumber: 0,
  maxRetries: 1,
  agent: 'first',
  fallbackAgent: undefined,
  agentMayLive: false,
  firstBackoffMs: 1_000,
  random: 0.5,
  ...fields,
});

describe('recovery decision', () => {
  test('a retry while there is one left, then the fallback agent once, then nothing', () => {
    const withFallback = { maxRetries: 1, fallbackAgent: 'second' };
    expect(decideRecovery(failure(withFallback))).toEqual({
      action: 'retry',
      state: 'scheduled',
      backoffMs: 1_000,
      route: { agent: 'first', reason: 'retry 1 of 1' },
    });
    expect(decideRecovery(failure({ ...withFallback, retryNumber: 1 }))).toMatchObject({
      action: 'fallback',
      state: 'scheduled',
      route: { agent: 'second' },
    });
    expect(decideRecovery(failure({ ...withFallback, retryNumber: 2, agent: 'second' }))).toEqual({
      action: 'terminal',
      state: 'exhausted',
      backoffMs: 0,
    });
    expect(decideRecovery(failure({ retryNumber: 1 }))).toMatchObject({ action: 'terminal' });
  });

  test('a run whose worker was lost is retried at once, and then like any other', () => {
    const lost = (retryNumber: number) => decideRecovery(failure({ workerLost: true, retryNumber, maxRetries: 3 }));
    expect([lost(0), lost(1), lost(2)].map(({ backoffMs }) => backoffMs)).toEqual([0, 2_000, 4_000]);
  });

  test('nothing follows a run that was cancelled', () => {
    expect(decideRecovery(failure({ failureClass: 'cancellation', fallbackAgent: 'second' }))).toEqual({
      action: 'cancelled',
      state: 'cancelled',
      backoffMs: 0,
    });
  });

  test('an agent that may still be alive is followed by no other', () => {
    expect(decideRecovery(failure({ agentMayLive: true, fallbackAgent: 'second' }))).toMatchObject({
      action: 'terminal',
      state: 'exhausted',
    });
  });

  test('the wait doubles up to half a minute, and moves by at most a fifth', () => {
    expect([0, 1, 2, 3, 4, 5, 20].map((retry) => backoffOf(retry, 1_000, 0.5))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
    expect(backoffOf(0, 1_000, 0)).toBe(800);
    expect(backoffOf(0, 1_000, 1)).toBe(1_200);
  });

  test('whatever fails, what is scheduled has an agent and a bounded wait, and people are asked where they must be', () => {
    fc.assert(
      fc.property(
        fc.record({
          failureClass: fc.constantFrom(...failureClass.options),
          retryNumber: fc.nat(5),
          maxRetries: fc.nat(3),
          agent: fc.constantFrom('first', 'second'),
          fallbackAgent: fc.option(fc.constantFrom('first', 'second'), { nil: undefined }),
          agentMayLive: fc.boolean(),
          firstBackoffMs: fc.integer({ min: 1, max: 60_000 }),
          random: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        (fields) => {
          const decision = decideRecovery(fields);
          expect(decision.state === 'scheduled').toBe(decision.route !== undefined);
          expect(decision.backoffMs).toBeLessThanOrEqual(30_000);
          expect(decision.state === 'approval-required').toBe(needsOperator(fields.failureClass));
          if (decision.action === 'retry') {
            expect(fields.retryNumber).toBeLessThan(fields.maxRetries);
          }
          if (decision.action === 'fallback') {
            expect(decision.route?.agent).not.toBe(fields.agent);
          }
          if (decision.state === 'scheduled') {
            expect(isRetryable(fields.failureClass)).toBe(true);
          }
        },
      ),
    );
  });
});
