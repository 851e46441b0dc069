import type { RunEvent, RunEventKind } from '../../contracts/runs/event';
import { createEventSpans, maxEventSpans } from './event-spans';

const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

let sequence = 0;
const event = (kind: RunEventKind, ms: number, fields: Partial<RunEvent> = {}): RunEvent => {
  sequence += 1;
  return { kind, sequence, receivedAt: at(ms), payload: {}, ...fields } as RunEvent;
};
const spansOf = (events: RunEvent[], endedAt?: string) => {
  const made = createEventSpans();
  events.forEach((one) => made.add(one));
  return made.spans(endedAt);
};

describe('spans of events', () => {
  beforeEach(() => {
    sequence = 0;
  });

  it('last from the start of a tool to its end, whichever tools ran beside it', () => {
    const spans = spansOf([
      event('tool.started', 0, { itemId: 'a', payload: { name: 'Read', toolKind: 'read' } }),
      event('tool.started', 10, { itemId: 'b', payload: { name: 'Run' } }),
      event('tool.completed', 30, { itemId: 'b', payload: { name: 'Run', status: 'failed' } }),
      event('tool.completed', 70, { itemId: 'a', payload: { name: 'Read', status: 'completed' } }),
    ]);
    expect(spans).toEqual([
      expect.objectContaining({ spanId: 'tool:2', name: 'Run', status: 'error', durationMs: 20, startedAt: at(10) }),
      expect.objectContaining({ spanId: 'tool:1', name: 'Read', status: 'ok', durationMs: 70, parentSpanId: 'agent' }),
    ]);
    expect(spans[1]!.attributes).toEqual({ itemId: 'a', toolKind: 'read', sequence: 1, outcome: 'completed' });
  });

  it('are parts of the turn that they were in, which lasts from its first event to its last', () => {
    const inTurn = { turnId: 't1' };
    const spans = spansOf([
      event('message.assistant', 0, inTurn),
      event('tool.started', 5, { ...inTurn, itemId: 'a' }),
      event('tool.completed', 9, { ...inTurn, itemId: 'a' }),
      event('message.assistant', 40, { turnId: 't2' }),
    ]);
    expect(spans.map(({ spanId, parentSpanId, durationMs }) => [spanId, parentSpanId, durationMs])).toEqual([
      ['turn:1', 'agent', 9],
      ['turn:4', 'agent', 0],
      ['tool:2', 'turn:1', 4],
    ]);
  });

  it('are open while the attempt runs, and of unknown end once it is over', () => {
    const started = event('command.started', 0, { payload: { command: 'npm test' } });
    expect(spansOf([started])).toMatchObject([{ name: 'npm test', status: 'open', endedAt: null, durationMs: null }]);
    expect(spansOf([started], at(9))).toMatchObject([{ status: 'unknown', endedAt: null, durationMs: null }]);
  });

  it('measure how long an approval was waited for, by its id', () => {
    const payload = { approvalId: 'one' };
    const [waited] = spansOf([
      event('approval.requested', 0, { payload: { ...payload, action: 'git push' } }),
      event('approval.resolved', 5_000, { payload: { ...payload, status: 'rejected' } }),
    ]);
    expect(waited).toMatchObject({ kind: 'approval', name: 'git push', status: 'error', durationMs: 5_000 });
  });

  it('ignore an end without a beginning, clocks that went back, and names without end', () => {
    const spans = spansOf([
      event('tool.completed', 0, { itemId: 'never-begun' }),
      event('tool.started', 50, { itemId: 'a', payload: { name: 'x'.repeat(5_000) } }),
      event('tool.completed', 20, { itemId: 'a' }),
    ]);
    expect(spans).toMatchObject([{ durationMs: 0, name: 'x'.repeat(200) }]);
  });

  it('are limited in number, which is reported', () => {
    const made = createEventSpans();
    for (let n = 0; n < maxEventSpans; n += 1) {
      made.add(event('tool.started', n, { itemId: `i${n}` }));
    }
    expect(made.isTruncated()).toBe(false);
    made.add(event('tool.started', maxEventSpans, { itemId: 'one-more' }));
    expect(made.isTruncated()).toBe(true);
    expect(made.spans(undefined)).toHaveLength(maxEventSpans);
  });
});
