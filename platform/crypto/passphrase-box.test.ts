import { closeWithPassphrase, openWithPassphrase } from './passphrase-box';

describe('a box with a passphrase', () => {
  it('opens with its passphrase for its context, and with no other', async () => {
    const box = await closeWithPassphrase('the key of a launch', 'a secret', 'attempt_1');
    expect(await openWithPassphrase('the key of a launch', box, 'attempt_1')).toBe('a secret');
    expect(JSON.stringify(box)).not.toContain('a secret');
    await expect(openWithPassphrase('another key', box, 'attempt_1')).rejects.toThrow();
    await expect(openWithPassphrase('the key of a launch', box, 'attempt_2')).rejects.toThrow();
    const changed = { ...box, ciphertext: Buffer.from('b secret').toString('base64url') };
    await expect(openWithPassphrase('the key of a launch', changed, 'attempt_1')).rejects.toThrow();
  });
});
