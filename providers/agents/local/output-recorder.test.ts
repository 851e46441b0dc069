import fc from 'fast-check';
import type { RunEventInput } from '../../../contracts/runs/event';
import { createRedactor } from '../../../platform/log/redact';
import { LineSplitter } from './line-splitter';
import { OutputRecorder } from './output-recorder';

const known = 'correct-horse-battery';
const secrets = [
  known,
  `ghp_${'Ab1'.repeat(12)}`,
  `sk-${'q9'.repeat(20)}`,
  `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`,
  'AKIAIOSFODNN7EXAMPLE',
];
const key = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIIEowIBAAKCAQEA7x',
  'q83vZm9vYmFyMTIz==',
  '-----END RSA PRIVATE KEY-----',
];

/** Feeds bytes in pieces of the given lengths and returns what would be stored. */
async function record(bytes: Buffer, lengths: number[], limitBytes = 10_000_000) {
  const events: RunEventInput[] = [];
  const recorder = new OutputRecorder({
    attemptId: 'attempt_0123456789ab',
    limitBytes,
    redact: createRedactor([known]),
    captureFile: async () => ({ problem: 'not here' }),
    emit: (event) => {
      events.push(event);
      return undefined;
    },
  });
  const splitter = new LineSplitter();
  let at = 0;
  for (const length of lengths) {
    for (const line of splitter.push(bytes.subarray(at, (at += length)))) {
      await recorder.stdout(line);
    }
  }
  for (const line of splitter.push(bytes.subarray(at))) {
    await recorder.stdout(line);
  }
  for (const line of splitter.end()) {
    await recorder.stdout(line);
  }
  return { events, totals: recorder.totals };
}

/** Everything that leaves the recorder, as text. */
const stored = (events: RunEventInput[]): string =>
  events.map((event) => JSON.stringify({ ...event, captured: undefined }) + String(event.captured?.body)).join('\n');

const filler = fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom('x'.repeat(8_180), 'word '.repeat(2_000), ' '));

describe('recording output', () => {
  it('lets no planted secret through, wherever the pieces, lines and limits cut it', async () => {
    const planted = fc.record({
      secret: fc.constantFrom(...secrets),
      before: filler,
      after: filler,
      as: fc.constantFrom('text', 'message', 'nested', 'key'),
    });
    const lines = fc.array(planted, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.nat(5_000), { maxLength: 8 }), async (parts, lengths) => {
        // A letter beside a shape makes it another word; known values are hidden anywhere.
        const text = parts.map(({ secret, before, after, as }) => {
          const around = `${before} ${secret} ${after}`;
          if (as === 'text') {
            return around.replaceAll(/[\r\n]/g, ' ');
          }
          if (as === 'message') {
            return JSON.stringify({ type: 'message', text: around });
          }
          if (as === 'key') {
            return JSON.stringify({ type: 'tool', name: 't', status: 'ok', detail: { [around]: 1 } });
          }
          return JSON.stringify({ type: 'other', deep: [{ list: Array.from({ length: 210 }, () => around) }] });
        });
        const { events } = await record(Buffer.from(text.join('\n')), lengths);
        expect(events).toHaveLength(parts.length);
        for (const { secret } of parts) {
          expect(stored(events)).not.toContain(secret);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('hides a private key over several lines', async () => {
    const { events } = await record(Buffer.from(['before', ...key, 'after it', ''].join('\n')), [40, 3, 50]);
    expect(stored(events)).not.toMatch(/MIIEowIBAAKCAQEA7x|q83vZm9vYmFyMTIz/);
    expect(events.map(({ payload }) => payload.text)).toEqual(['before', ...key.map(() => '[REDACTED]'), 'after it']);
    expect(events[2]?.redaction).toMatchObject({ status: 'redacted', fields: ['text'] });
  });

  it('keeps a long line and a large message whole, beside the event', async () => {
    const long = 'abc '.repeat(50_000);
    const message = { type: 'message', text: 'é'.repeat(300_000), note: 'kept' };
    const { events, totals } = await record(Buffer.from(`${long}\n${JSON.stringify(message)}\n`), [65_536, 65_536]);
    const [first, second] = events;
    expect(first?.captured).toMatchObject({ kind: 'stdout', mediaType: 'text/plain; charset=utf-8', truncated: false });
    expect(first?.captured?.body.toString()).toBe(long);
    expect(second).toMatchObject({ kind: 'message.assistant', payload: { note: 'kept' } });
    expect(JSON.parse(second!.captured!.body.toString())).toEqual({ text: message.text, note: 'kept' });
    const bodies = events.reduce((sum, { captured }) => sum + (captured?.bytes ?? 0), 0);
    expect(totals.persistedBytes).toBeGreaterThan(bodies);
  });

  it('takes the names of session, turn and item from a line', async () => {
    const line = {
      type: 'message',
      text: 'x',
      sessionId: 's-1',
      turnId: `t:${secrets[1]!}`,
      itemId: { not: 'a name' },
    };
    const { events } = await record(Buffer.from(JSON.stringify(line)), []);
    expect(events[0]).toMatchObject({
      sessionId: 's-1',
      turnId: 't:[REDACTED]',
      payload: { text: 'x', itemId: { not: 'a name' } },
    });
    expect(events[0]).not.toHaveProperty('itemId');
    expect(events[0]?.payload).not.toHaveProperty('sessionId');
  });

  it('counts what it keeps beside events to the output limit, and then keeps the event alone', async () => {
    const line = 'y'.repeat(60_000);
    const { events, totals } = await record(Buffer.from(`${line}\n${line}\n${line}\n`), [], 100_000);
    expect(events.map(({ captured }) => captured?.bytes)).toEqual([60_000, undefined, undefined]);
    expect(events[1]?.payload).toEqual({ text: 'y'.repeat(8_192) });
    expect(totals.persistedBytes).toBeLessThanOrEqual(100_000);
  });
});
