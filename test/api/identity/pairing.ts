import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import canonicalize from 'canonicalize';

/** The key pair of a device. */
export interface Device {
  publicKey: string;
  privateKey: KeyObject;
}

export function aDevice(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: String(publicKey.export({ format: 'jwk' }).x), privateKey };
}

/** What a device redeems a pairing code with, signed by it. */
export function signedPairing(code: string, fields: object = {}, device: Device = aDevice()) {
  const payload = {
    ...{ code, clientId: 'app', clientMode: 'mobile', capabilities: ['push', 'camera'], deviceId: 'phone-1' },
    ...{ scopes: ['workspace:read', 'task:read', 'settings:read'], role: 'agent', workspace: 'local' },
    ...{ nonce: randomBytes(16).toString('hex'), signedAt: new Date().toISOString(), publicKey: device.publicKey },
    ...fields,
  };
  const signature = sign(null, Buffer.from(canonicalize(payload) ?? ''), device.privateKey).toString('base64url');
  return { ...payload, signature };
}
