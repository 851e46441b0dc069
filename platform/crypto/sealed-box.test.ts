import { createSealedBoxKey, seal } from './sealed-box';

describe('sealed box', () => {
  test('a text is readable with its key and with no other', () => {
    const key = createSealedBoxKey();
    const box = seal(key.publicKey, 'the password is swordfish', 'approval 1');
    expect(JSON.stringify(box)).not.toContain('swordfish');
    expect(key.open(box, 'approval 1')).toBe('the password is swordfish');
    expect(() => createSealedBoxKey().open(box, 'approval 1')).toThrow();
  });

  test('a box is bound to its context and to its content', () => {
    const key = createSealedBoxKey();
    const box = seal(key.publicKey, 'yes', 'approval 1');
    expect(() => key.open(box, 'approval 2')).toThrow();
    const flipped = Buffer.from(box.ciphertext, 'base64url');
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    expect(() => key.open({ ...box, ciphertext: flipped.toString('base64url') }, 'approval 1')).toThrow();
  });

  test('the same text is never the same box', () => {
    const key = createSealedBoxKey();
    expect(seal(key.publicKey, 'yes', 'c').ciphertext).not.toBe(seal(key.publicKey, 'yes', 'c').ciphertext);
  });
});
