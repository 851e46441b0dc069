import { generateKeyPairSync, sign } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isSignedBy, keyFingerprint } from './device-signature';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const key = String(publicKey.export({ format: 'jwk' }).x);
const value = { b: [1, 'two'], a: { z: true, y: null } };
const signature = sign(null, Buffer.from(canonicalize(value) ?? ''), privateKey).toString('base64url');

describe('the signature of a device', () => {
  it('is that of the value, however its fields are ordered', () => {
    expect(isSignedBy(key, signature, { a: { y: null, z: true }, b: [1, 'two'] })).toBe(true);
  });

  it.each<[string, string, string, unknown]>([
    ['another value', key, signature, { ...value, c: 1 }],
    ['another key', String(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x), signature, value],
    ['what is no key', '', signature, value],
    ['what is no signature', key, 'x', value],
    ['no value', key, signature, undefined],
  ])('is not that of %s', (_case, by, given, of) => {
    expect(isSignedBy(by, given, of)).toBe(false);
  });

  it('is by a key with a fingerprint that people can compare', () => {
    expect(keyFingerprint(key)).toMatch(/^[0-9a-f]{64}$/);
  });
});
