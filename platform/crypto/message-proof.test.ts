import fc from 'fast-check';
import { createMessageProofs, MessageProofError, updateProofMs } from './message-proof';

const key = Buffer.alloc(32, 7);
const message = {
  purpose: 'decide',
  subject: 'approval/a1',
  actor: 'olivia',
  body: { decision: 'approved', revision: 1 },
};
const start = Date.parse('2026-11-22T12:00:00.000Z');
const proofsAt = (ms: number) => createMessageProofs(key, () => new Date(ms));

function problemOf(verify: () => void): string | undefined {
  try {
    verify();
    return undefined;
  } catch (error) {
    if (error instanceof MessageProofError) {
      return error.problem;
    }
    throw error;
  }
}

describe('message proofs', () => {
  const proofs = proofsAt(start);
  const proof = proofs.sign(message, updateProofMs);

  it('accept the message that was signed, however its fields are ordered', () => {
    const reordered = { ...message, body: { revision: 1, decision: 'approved', note: undefined } };
    expect(problemOf(() => proofs.verify(reordered, JSON.parse(JSON.stringify(proof))))).toBeUndefined();
  });

  it.each([
    ['missing', message, undefined],
    ['malformed', message, { ...proof, mac: undefined }],
    ['malformed', message, 'proof'],
    ['malformed', message, { ...proof, expiresAt: 'never' }],
    ['forged', message, { ...proof, expiresAt: '2100-01-01T00:00:00.000Z' }],
    ['forged', message, createMessageProofs(Buffer.alloc(32, 8)).sign(message, updateProofMs)],
    ['wrong-purpose', { ...message, purpose: 'stop' }, proof],
    ['wrong-subject', { ...message, subject: 'approval/a2' }, proof],
    ['wrong-actor', { ...message, actor: 'admin' }, proof],
    ['wrong-body', { ...message, body: { ...message.body, revision: 2 } }, proof],
  ])('refuse one whose proof is %s', (problem, claimed, given) => {
    expect(problemOf(() => proofs.verify(claimed, given))).toBe(problem);
  });

  it('count until they expire, by when the message was accepted, though clocks differ by minutes', () => {
    const later = proofsAt(start + 10 * updateProofMs);
    const behindMs = 120_000;
    expect(problemOf(() => later.verify(message, proof))).toBe('expired');
    const lastMs = start + updateProofMs + behindMs;
    expect(problemOf(() => later.verify(message, proof, new Date(lastMs)))).toBeUndefined();
    expect(problemOf(() => later.verify(message, proof, new Date(lastMs + 1)))).toBe('expired');
    expect(problemOf(() => proofs.verify(message, proof, new Date(start - 3_600_000)))).toBeUndefined();
    expect(problemOf(() => proofs.verify(message, proof, new Date(Number.NaN)))).toBe('expired');
  });

  it('are known by their text: no other one spells the same proof', () => {
    for (const other of [`${proof.mac}=`, `${proof.mac}\n`, ` ${proof.mac}`]) {
      expect(problemOf(() => proofs.verify(message, { ...proof, mac: other }))).toBe('forged');
    }
  });

  it('hold for nothing but what was signed, whatever is changed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (signed, sent) => {
        const given = proofs.sign({ ...message, body: signed }, updateProofMs);
        const same = JSON.stringify(sortKeys(signed)) === JSON.stringify(sortKeys(sent));
        expect(problemOf(() => proofs.verify({ ...message, body: sent }, given))).toBe(same ? undefined : 'wrong-body');
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(proof)), fc.string(), (name, value) => {
        fc.pre(proof[name as keyof typeof proof] !== value);
        expect(['forged', 'malformed']).toContain(problemOf(() => proofs.verify(message, { ...proof, [name]: value })));
      }),
    );
  });
});

/** The value with the fields of each object in one order; `-0` is `0` in JSON. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sortKeys);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each)]));
}
