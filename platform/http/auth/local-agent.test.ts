import type { AuthContext } from './auth';
import type { CredentialRequest } from './credentials';
import { assertMayRunAgents, mayRunAgents } from './local-agent';

const caller = (fields: Partial<AuthContext> = {}): AuthContext => ({
  role: 'admin',
  userId: 'ada',
  workspaceId: 'local',
  actorType: 'device',
  authMethod: 'device-session',
  tokenName: 'phone',
  permissions: ['agent:write'],
  actor: 'device:phone',
  ...fields,
});
const host = '127.0.0.1:3001';
const connection = { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', localPort: 3001 };
const here = { headers: { host }, connection };
const elsewhere = { headers: { host }, connection: { ...connection, remoteAddress: '203.0.113.9' } };

describe('agents are run', () => {
  it.each<[string, AuthContext, CredentialRequest]>([
    ['on this machine', caller(), here],
    ...['desktop:local', 'agent:run:local', 'agent:run:unrestricted', 'local-agent:run'].map(
      (capability): [string, AuthContext, CredentialRequest] => [
        `with ${capability}`,
        caller({ capabilities: ['a', capability] }),
        elsewhere,
      ],
    ),
    ['by a desktop', caller({ clientMode: 'desktop-local' }), elsewhere],
    ['by a command line', caller({ clientMode: 'cli' }), elsewhere],
  ])('%s', (_case, auth, request) => expect(mayRunAgents(auth, request)).toBe(true));

  it.each<[string, AuthContext, CredentialRequest]>([
    ['by a phone', caller({ clientMode: 'mobile' }), elsewhere],
    ['by a client with another capability', caller({ capabilities: ['agent:run', 'local-agent'] }), elsewhere],
    ['through a proxy', caller(), { headers: { host, via: '1.1 proxy' }, connection }],
    ['for a foreign page', caller(), { headers: { host, origin: 'https://evil.example' }, connection }],
  ])('not %s', (_case, auth, request) => expect(mayRunAgents(auth, request)).toBe(false));

  it('by others not at all, who get what they lack', () =>
    expect(() => assertMayRunAgents(caller({ clientMode: 'mobile' }), elsewhere)).toThrow(
      expect.objectContaining({
        code: 'FORBIDDEN',
        status: 403,
        details: expect.objectContaining({
          required: expect.arrayContaining(['local-agent:run']),
          currentCapabilities: [],
          clientMode: 'mobile',
        }),
      }),
    ));
});
