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
    if (error instanceof MessageProofError) return error.problem;
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

  it('count from the moment they were issued until they expire, by when the message was accepted', () => {
    const later = proofsAt(start + 10 * updateProofMs);
    expect(problemOf(() => later.verify(message, proof))).toBe('expired');
    expect(problemOf(() => later.verify(message, proof, new Date(start + updateProofMs)))).toBeUndefined();
    expect(problemOf(() => later.verify(message, proof, new Date(start + updateProofMs + 1)))).toBe('expired');
    expect(problemOf(() => proofs.verify(message, proof, new Date(start - 60_000)))).toBe('expired');
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
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, sortKeys(each)]));
}
