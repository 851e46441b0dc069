import fc from 'fast-check';
import type { RunEventKind } from '../../contracts/runs/event';
import type { WatchedEvent } from './observation';
import { recordsOf } from './records';
import { defaultWatchdogSettings as settings } from './settings';
import { ProgressWatch, type Sighting } from './watch';

type EventInput = Omit<WatchedEvent, 'sequence' | 'receivedAt'> & { afterMs?: number };

/** Events in order, a second apart by default. */
function sequenced(inputs: readonly EventInput[]): WatchedEvent[] {
  let at = Date.UTC(2026, 0, 1);
  return inputs.map(({ afterMs = 1_000, ...event }, index) => {
    at += afterMs;
    return { ...event, sequence: index + 1, receivedAt: new Date(at).toISOString() };
  });
}

function watchAll(inputs: readonly EventInput[]): Sighting[] {
  const watch = new ProgressWatch(settings);
  return sequenced(inputs).flatMap((event) => watch.see(event));
}

const event = (
  kind: RunEventKind,
  payload: Record<string, unknown> = {},
  rest: Partial<EventInput> = {},
): EventInput => ({
  kind,
  payload,
  ...rest,
});
const tool = (name: string, rest: Record<string, unknown> = {}, more: Partial<EventInput> = {}) =>
  event('tool.completed', { name, status: 'completed', ...rest }, more);
const times = (count: number, inputs: (index: number) => EventInput | EventInput[]): EventInput[] =>
  Array.from({ length: count }, (_, index) => inputs(index)).flat();
const reported = (inputs: readonly EventInput[]) =>
  watchAll(inputs).map(({ detector, confidence }) => `${detector} ${confidence}`);

describe('detectors', () => {
  test('the same action three times is seen, more surely the longer it continues, and reported once each', () => {
    expect(reported(times(2, () => tool('ls')))).toEqual([]);
    expect(reported(times(12, () => tool('ls')))).toEqual([
      'identical-repetition low',
      'identical-repetition medium',
      'identical-repetition high',
    ]);
  });

  test('what differs from call to call does not make actions different, what they are about does', () => {
    expect(
      reported(times(3, (index) => tool('read', { detail: { path: 'a' }, callId: index, durationMs: index }))),
    ).toEqual(['identical-repetition low']);
    expect(reported(times(9, (index) => tool('read', { detail: { path: `${index}` } })))).toEqual([]);
  });

  test('a cycle of two to four steps three times is seen wherever it begins', () => {
    for (const steps of [2, 3, 4]) {
      const cycle = times(3 * steps, (index) => tool(`step-${index % steps}`));
      expect(reported([tool('before'), ...cycle])).toEqual(['multi-step-cycle low']);
      expect(reported(cycle.slice(0, -1))).toEqual([]);
      expect(watchAll(cycle)).toMatchObject([
        { cycleLength: steps, observed: 3, fromSequence: 1, sequence: 3 * steps },
      ]);
    }
    expect(reported(times(15, (index) => tool(`step-${index % 5}`)))).toEqual([]);
    expect(reported(times(24, (index) => tool(`step-${index % 4}`)))).toEqual([
      'multi-step-cycle low',
      'multi-step-cycle medium',
      'multi-step-cycle high',
    ]);
  });

  test('edits of one file that fail are seen, also when each is another one', () => {
    const failing = (index: number) =>
      tool('edit_file', { status: 'failed', detail: { path: 'a.ts', text: `${index}` } });
    expect(watchAll(times(3, failing))).toMatchObject([{ detector: 'failed-file-edit', path: 'a.ts', observed: 3 }]);
    const worked = event('file.changed', { path: 'a.ts', status: 'modified' });
    expect(reported([failing(1), failing(2), worked, failing(3), failing(4)])).toEqual([]);
    expect(reported(times(3, (index) => event('file.changed', { path: 'b.ts', status: 'rejected', index })))).toEqual([
      'failed-file-edit low',
    ]);
    expect(
      reported(times(5, (index) => tool('edit_file', { status: 'failed', detail: { path: `${index}` } }))),
    ).toEqual([]);
  });

  test('no progress needs eight events and two minutes, or tokens, or money', () => {
    const idle = (index: number) => event('progress', { message: `${index}` }, { afterMs: 20_000 });
    expect(reported(times(6, idle))).toEqual([]);
    expect(reported(times(8, idle))).toEqual(['no-durable-progress low']);
    expect(reported(times(100, (index) => event('progress', { message: `${index}` }, { afterMs: 10 })))).toEqual([]);
    const usage = (tokens: number, cost = 0) => event('usage.updated', { inputTokens: tokens, outputTokens: 0, cost });
    expect(reported([usage(19_999)])).toEqual([]);
    expect(watchAll([usage(15_000), usage(5_000)])).toMatchObject([
      { unit: 'tokens', observed: 20_000, tokens: 20_000 },
    ]);
    expect(reported([usage(1, 2)])).toEqual(['no-durable-progress low']);
    expect(reported([usage(1, 4.5)])).toEqual(['no-durable-progress high']);
  });
});

describe('progress', () => {
  const signals: EventInput[] = [
    event('file.changed', { path: 'a', status: 'modified' }),
    event('workspace.checkpoint.created', { changedPaths: 2 }),
    event('artifact.created', { path: 'a' }),
    event('tool.completed', { name: 'test', status: 'completed', verification: { gateId: 'tests', status: 'passed' } }),
    event('command.completed', { externalEvidence: { reference: 'https://ci/1' } }),
    event('message.operator', { message: 'go on', delivered: true, sentBy: 'user:local' }),
    event('approval.resolved', { status: 'approved' }),
    event('progress', { message: 'fine' }, { dedupeKey: 'watchdog-override/x' }),
  ];
  test.each(signals)('$kind begins again', (signal) => {
    expect(reported([...times(2, () => tool('ls')), signal, ...times(2, () => tool('ls'))])).toEqual([]);
  });

  const none: EventInput[] = [
    event('progress', { message: 'I am doing fine' }),
    event('message.operator', { message: 'x', delivered: false }),
    event('conversation.steered', { message: 'look', delivered: true, sentBy: 'system:watchdog' }),
    event('progress', { message: 'seen' }, { dedupeKey: 'watchdog/x' }),
    event('workspace.checkpoint.created', { changedPaths: 0 }),
    event('stream.stdout', { text: 'progress' }),
  ];
  test.each(none)('$kind that shows nothing does not', (signal) => {
    expect(reported([...times(2, () => tool('ls')), signal, tool('ls')])).toEqual(['identical-repetition low']);
  });
});

describe('actions', () => {
  test('at most two in a turn and six in a run; a person who reports something begins a turn', () => {
    const circling = (name: string) => times(6, () => tool(name));
    expect(watchAll(circling('a')).map(({ suppressed }) => suppressed)).toEqual([undefined, undefined, undefined]);
    const two = [...circling('a'), ...circling('b')];
    expect(watchAll(two).map(({ suppressed }) => suppressed)).toEqual([
      ...[undefined, undefined, undefined],
      ...['turn-limit', 'turn-limit', undefined],
    ]);
    const turns = times(5, (index) => [...circling(`t${index}`), event('message.operator', { sentBy: 'user:x' })]);
    expect(
      watchAll(turns)
        .map(({ suppressed }) => suppressed ?? 'taken')
        .join(' '),
    ).toBe(
      [
        ...Array.from({ length: 2 }, () => 'taken taken taken'),
        ...Array.from({ length: 3 }, () => 'run-limit run-limit run-limit'),
      ].join(' '),
    );
    const named = times(6, (index) => tool('a', {}, { turnId: `turn-${index}` }));
    expect(watchAll(named).map(({ suppressed }) => suppressed)).toEqual([undefined, undefined, undefined]);
  });

  test('the surer, the more is done, under ids of the form that is documented', () => {
    const records = watchAll(times(6, () => tool('a'))).map((seen) =>
      recordsOf({ taskId: 'task_1', attemptId: 'attempt_12345678' }, seen),
    );
    expect(records.map(({ action }) => action.action)).toEqual(['warn', 'require-observation', 'pause']);
    expect(records.map(({ action }) => action.state)).toEqual(['requested', 'requested', 'requested']);
    expect(new Set(records.map(({ finding }) => finding.id)).size).toBe(3);
    for (const { finding } of records) {
      expect(finding.id).toMatch(/^watchdog_[0-9a-f]{8}(-[0-9a-f]{8}){3}$/);
    }
  });
});

const anEvent: fc.Arbitrary<EventInput> = fc.record({
  kind: fc.constantFrom<RunEventKind>(
    'tool.completed',
    'tool.started',
    'message.assistant',
    'file.changed',
    'usage.updated',
    'stream.stdout',
    'message.operator',
    'progress',
    'run.error',
  ),
  payload: fc.oneof(
    fc.record({
      name: fc.constantFrom('a', 'b', 'edit'),
      status: fc.constantFrom('completed', 'failed'),
      path: fc.constantFrom('x', 'y'),
    }),
    fc.record({
      inputTokens: fc.integer({ min: -5, max: 30_000 }),
      cost: fc.double({ noDefaultInfinity: true, noNaN: true }),
    }),
    fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Record<string, unknown>>,
  ),
  turnId: fc.option(fc.constantFrom('t1', 't2', 't3'), { nil: undefined }),
  afterMs: fc.integer({ min: 0, max: 60_000 }),
});

describe('whatever a run reports', () => {
  const runs = fc.array(anEvent, { maxLength: 150 });

  test('the same events give the same records, each under an id of its own', () => {
    fc.assert(
      fc.property(runs, (inputs) => {
        const records = () =>
          watchAll(inputs).map((seen) => recordsOf({ taskId: 'task_1', attemptId: 'attempt_12345678' }, seen));
        const [first, second] = [records(), records()];
        expect(second).toEqual(first);
        expect(new Set(first.map(({ finding }) => finding.id)).size).toBe(first.length);
      }),
      { numRuns: 60 },
    );
  });

  test('the limits of automated actions hold', () => {
    fc.assert(
      fc.property(runs, (inputs) => {
        const taken = watchAll(inputs).filter(({ suppressed }) => suppressed === undefined);
        expect(taken.length).toBeLessThanOrEqual(settings.automatedActions.perRun);
      }),
      { numRuns: 60 },
    );
  });

  test('a run that shows progress with every other event is left alone', () => {
    fc.assert(
      fc.property(runs, (inputs) => {
        const cheap = inputs.filter(({ kind }) => kind !== 'usage.updated');
        expect(watchAll(cheap.flatMap((one) => [one, event('artifact.created', { path: 'a' })]))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('evidence lies in the window, and no finding is reported twice with the same confidence', () => {
    fc.assert(
      fc.property(runs, (inputs) => {
        for (const seen of watchAll(inputs)) {
          expect(seen.observed).toBeGreaterThanOrEqual(seen.unit === 'events' ? settings.noProgress.events : 0);
          expect(seen.fromSequence).toBeGreaterThan(seen.sinceSequence);
          expect(seen.fromSequence).toBeLessThanOrEqual(seen.sequence);
        }
      }),
      { numRuns: 60 },
    );
  });
});
