import { createHash } from 'node:crypto';
import { payloadLimits } from '../../contracts/runs/event';
import { outputPreview } from '../../contracts/runs/output';
import { createRedactor } from '../../platform/log/redact';
import { eventPayload, textPayload } from './event-payload';

const redact = createRedactor(['a-known-secret']);
const place = { attemptId: 'attempt_0123456789ab', key: 'process-1' };
const line = (text: string) => ({
  text,
  kind: 'stdout' as const,
  bytes: Buffer.byteLength(text) + 1,
  truncated: false,
});

describe('the payload of an event', () => {
  it('has no artifact when it fits', () => {
    const made = eventPayload({ message: 'hello a-known-secret' }, { redact, originalBytes: 20, location: place });
    expect(made.payload).toEqual({ message: 'hello [REDACTED]' });
    expect(made.captured).toBeUndefined();
  });

  it('shows the beginning and the end of a long line, which is kept whole and redacted', () => {
    const text = `first ${'é'.repeat(10_000)} a-known-secret last`;
    const { payload, captured, redaction, bytes } = textPayload(line(text), redact, place);
    const whole = text.replace('a-known-secret', '[REDACTED]');
    expect(captured?.body.toString()).toBe(whole);
    expect(captured).toMatchObject({ kind: 'stdout', truncated: false, bytes: Buffer.byteLength(whole) });
    expect(captured?.sha256).toBe(`sha256:${createHash('sha256').update(whole).digest('hex')}`);
    const preview = outputPreview.parse(payload.outputArtifact);
    expect(whole.startsWith(preview.head) && whole.endsWith(preview.tail)).toBe(true);
    expect(preview).toMatchObject({ artifactId: captured?.id, bytes: captured?.bytes, sha256: captured?.sha256 });
    expect(preview.head.length).toBeGreaterThan(1_000);
    expect(preview.tail.length).toBeGreaterThan(500);
    expect(text.startsWith(payload.text as string)).toBe(true);
    expect(bytes).toBe(Buffer.byteLength(JSON.stringify(payload)));
    expect(redaction).toMatchObject({ persistedBytes: bytes, originalBytes: Buffer.byteLength(text) + 1 });
  });

  it('stays within its limit beside the largest preview', () => {
    const value = { note: 'small', noise: '\u0001'.repeat(40_000), list: Array.from({ length: 5_000 }, () => '"') };
    const { payload, captured, bytes } = eventPayload(value, { redact, originalBytes: 0, location: place });
    expect(bytes).toBe(Buffer.byteLength(JSON.stringify(payload)));
    expect(bytes).toBeLessThanOrEqual(payloadLimits.bytes);
    expect(JSON.parse(captured!.body.toString())).toEqual(value);
    const text = textPayload(line('\u0001'.repeat(40_000)), redact, place);
    expect(text.bytes).toBeLessThanOrEqual(payloadLimits.bytes);
    expect(outputPreview.parse(text.payload.outputArtifact).head.length).toBeGreaterThan(100);
  });

  it('is never given a preview by its producer', () => {
    const made = eventPayload(
      { outputArtifact: { artifactId: 'artifact_of_another' }, text: 'x' },
      { redact, originalBytes: 0, location: place },
    );
    expect(made.payload).toEqual({ text: 'x' });
  });

  it('is the same artifact when it is made again', () => {
    const [one, again, next] = ['process-1', 'process-1', 'process-2'].map((key) =>
      textPayload(line('x'.repeat(9_000)), redact, { ...place, key }),
    );
    expect(again?.captured?.id).toBe(one?.captured?.id);
    expect(next?.captured?.id).not.toBe(one?.captured?.id);
  });

  it('is cut where there is no place for an artifact', () => {
    const made = eventPayload({ text: 'x'.repeat(9_000) }, { redact, originalBytes: 0 });
    expect(made).toMatchObject({ payload: { text: 'x'.repeat(8_192) }, redaction: { status: 'redacted' } });
  });
});
