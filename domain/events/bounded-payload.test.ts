import fc from 'fast-check';
import { payloadLimits } from '../../contracts/runs/event';
import { createRedactor } from '../../platform/log/redact';
import { boundedPayload, redactedJson } from './bounded-payload';
import { clipText } from './clip';

const redact = createRedactor(['a-known-secret']);

describe('a bounded payload', () => {
  it('leaves what fits as it is', () => {
    const value = { message: 'hello', percent: 5, list: [1, null, { deep: true }] };
    const { payload, redaction, bytes } = boundedPayload(value, redact);
    expect(payload).toEqual(value);
    expect(redaction).toEqual({ status: 'none', fields: [], originalBytes: bytes, persistedBytes: bytes });
  });

  it('names what it removed', () => {
    const value = {
      password: 'x',
      text: 'it is a-known-secret',
      deep: [{ token: 'y', tokens: 3 }],
      'a-known-secret': 1,
    };
    const { payload, redaction } = boundedPayload(value, redact);
    expect(payload).toEqual({
      password: '[REDACTED]',
      text: 'it is [REDACTED]',
      deep: [{ token: '[REDACTED]', tokens: 3 }],
      '[REDACTED]': 1,
    });
    expect(redaction).toMatchObject({ status: 'redacted', fields: ['password', 'text', 'deep.0.token', '[REDACTED]'] });
  });

  it('cuts strings, lists, objects and depth', () => {
    const deep = Array.from({ length: 30 }).reduce<unknown>((inner) => ({ inner }), 'bottom');
    const value = {
      text: 'é'.repeat(5_000),
      list: Array.from({ length: 300 }, () => 0),
      keys: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])),
      deep,
    };
    const { payload, redaction } = boundedPayload(value, redact);
    expect(Buffer.byteLength(payload.text as string)).toBe(payloadLimits.stringBytes);
    expect(payload.list).toHaveLength(200);
    expect(Object.keys(payload.keys as object)).toHaveLength(256);
    expect(JSON.stringify(payload.deep)).toContain('[TOO DEEP]');
    expect(redaction.fields).toEqual(['text', 'list', 'keys', expect.stringMatching(/^deep\.inner/)]);
  });

  it('shows the beginning of what is too long even so', () => {
    const value = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`k${n}`, 'x'.repeat(8_000)]));
    const { payload, redaction, bytes } = boundedPayload(value, redact);
    expect(payload).toEqual({ truncated: true, preview: expect.stringMatching(/^\{"k0":"x/) });
    expect(bytes).toBeLessThanOrEqual(payloadLimits.bytes);
    expect(redaction).toMatchObject({ status: 'dropped', originalBytes: expect.any(Number), persistedBytes: bytes });
  });

  it('holds its limits whatever it is given', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 15 })), (value) => {
        const { payload, bytes } = boundedPayload(value, redact);
        expect(bytes).toBe(Buffer.byteLength(JSON.stringify(payload)));
        expect(bytes).toBeLessThanOrEqual(payloadLimits.bytes);
      }),
    );
  });

  it('never splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(80), (text, maxBytes) => {
        const clipped = clipText(text, maxBytes);
        expect(text.startsWith(clipped)).toBe(true);
        expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(maxBytes);
        expect(Buffer.byteLength(clipped)).toBeGreaterThan(Math.min(maxBytes, Buffer.byteLength(text)) - 4);
      }),
    );
  });

  it('hides every value under the name of a secret, and keeps numbers', () => {
    const value = { credentials: { user: 'me' }, cookie: ['a'], token: 12 };
    expect(boundedPayload(value, redact).payload).toEqual({
      credentials: '[REDACTED]',
      cookie: '[REDACTED]',
      token: 12,
    });
  });

  it('reports whether something is missing for its length', () => {
    expect(boundedPayload({ text: 'a-known-secret' }, redact).cut).toBe(false);
    expect(boundedPayload({ text: 'x'.repeat(9_000) }, redact).cut).toBe(true);
    expect(boundedPayload({ text: 'x'.repeat(100) }, redact, { maxBytes: 50 }).cut).toBe(true);
  });

  it('makes names that every store takes', () => {
    expect(boundedPayload({ 'a\0b': 1 }, redact).payload).toEqual({ 'a\uFFFDb': 1 });
  });
});

describe('a whole payload', () => {
  it('has everything but the secrets', () => {
    const value = {
      text: 'é'.repeat(50_000),
      list: Array.from({ length: 500 }, () => 'a-known-secret'),
      password: 'x',
    };
    expect(JSON.parse(redactedJson(value, redact))).toEqual({
      text: value.text,
      list: Array.from({ length: 500 }, () => '[REDACTED]'),
      password: '[REDACTED]',
    });
  });

  it('can be written out however deep it is', () => {
    const deep: unknown = JSON.parse('[{"a":'.repeat(5_000) + '1' + '}]'.repeat(5_000));
    expect(redactedJson({ deep }, redact)).toContain('[TOO DEEP]');
  });
});

test('a number that JSON cannot write is reported as text', () => {
  const { payload, redaction } = boundedPayload(JSON.parse('{"cost":1e999,"list":[-1e999,1]}'), (text) => text);
  expect(payload).toEqual({ cost: null, list: [null, 1] });
  expect(redaction.fields).toEqual(['cost', 'list.0']);
});
