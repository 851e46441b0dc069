import { aPreset, aProfile } from '../../test/support/factories/contract';
import { childAuthority, type NamedAuthority, type ParentAuthority } from './authority';

const tight = aPreset({ filesystem: { deniedPaths: ['secrets'], writePaths: ['src', 'docs'] } });
const careful = aProfile({ restrictions: { tools: { allowed: ['read'], denied: ['shell'] } } });
const parent = (fields: Partial<ParentAuthority> = {}): ParentAuthority => ({
  attemptId: 'attempt_parent00',
  profile: null,
  sandbox: null,
  commitPolicy: 'allowed',
  ...fields,
});
const named = (fields: Partial<NamedAuthority> = {}): NamedAuthority => ({
  request: {
    ...(fields.profile ? { profileId: fields.profile.id } : {}),
    ...(fields.sandbox ? { sandboxPresetId: fields.sandbox.id } : {}),
  },
  profile: undefined,
  sandbox: undefined,
  ...fields,
});
const fieldsOf = (of: ParentAuthority, asked: NamedAuthority) => childAuthority(of, asked).problem?.details.fields;

describe('the authority of a child', () => {
  it('is what it names itself under a parent without limits', () => {
    const asked = named({ profile: careful, sandbox: tight });
    expect(childAuthority(parent(), asked)).toEqual({
      ...asked,
      inherited: { attemptId: 'attempt_parent00', fields: [] },
    });
  });

  it('is the preset, the restricted profile and the forbidden commits of its parent when it names none', () => {
    const limited = parent({ profile: careful, sandbox: tight, commitPolicy: 'forbidden' });
    expect(childAuthority(limited, named())).toEqual({
      request: { commitPolicy: 'forbidden' },
      profile: careful,
      sandbox: tight,
      inherited: { attemptId: 'attempt_parent00', fields: ['profile', 'sandbox', 'commitPolicy'] },
    });
  });

  it('keeps what the parent was admitted with, whatever the preset of that id allows by now', () => {
    const loosened = { ...aPreset(), id: tight.id };
    expect(childAuthority(parent({ sandbox: tight }), named({ sandbox: loosened })).sandbox).toBe(tight);
  });

  it('does not turn the id of nothing into what the parent has', () => {
    const asked = named({ request: { sandboxPresetId: 'gone', profileId: 'gone' } });
    expect(childAuthority(parent({ profile: careful, sandbox: tight }), asked)).toMatchObject({
      profile: undefined,
      sandbox: undefined,
    });
  });

  it('may be narrower', () => {
    const preset = {
      ...tight,
      id: 'tighter',
      filesystem: { ...tight.filesystem, deniedPaths: ['secrets', 'keys'], writePaths: ['docs'] },
    };
    const profile = aProfile({ restrictions: { tools: { allowed: [], denied: ['shell', 'net'] } } });
    const asked = named({ sandbox: preset, profile: { ...profile, id: 'harmless' } });
    expect(childAuthority(parent({ sandbox: tight, profile: careful }), asked)).toMatchObject({
      sandbox: { id: 'tighter' },
      profile: { id: 'harmless' },
      inherited: { fields: [] },
    });
    expect(fieldsOf(parent({ sandbox: tight, profile: careful }), asked)).toBeUndefined();
  });

  const strict = aPreset({
    requiredCapabilities: ['run.stop'],
    filesystem: {
      readPaths: ['src'],
      writePaths: ['src'],
      deniedPaths: ['x'],
      dotfileMasking: true,
      localOnlyHandles: true,
    },
    network: {
      defaultEgress: 'deny',
      allowedHosts: ['a.example'],
      allowedMethods: ['GET'],
      allowedPathPrefixes: ['/v1'],
      blockPrivateNetwork: true,
      blockMetadataEndpoints: true,
      blockLoopback: true,
    },
    environment: { passthrough: ['A'] },
    credentials: { mode: 'broker', brokerRefs: ['git'] },
  });
  it.each([
    ['enforcement', { enforcement: 'advisory' }],
    ['requiredCapabilities', { requiredCapabilities: [] }],
    ['filesystem.readPaths', { filesystem: { ...strict.filesystem, readPaths: [] } }],
    ['filesystem.writePaths', { filesystem: { ...strict.filesystem, writePaths: ['src', 'lib'] } }],
    ['filesystem.deniedPaths', { filesystem: { ...strict.filesystem, deniedPaths: ['y'] } }],
    ['filesystem.dotfileMasking', { filesystem: { ...strict.filesystem, dotfileMasking: false } }],
    ['filesystem.localOnlyHandles', { filesystem: { ...strict.filesystem, localOnlyHandles: false } }],
    ['network.defaultEgress', { network: { ...strict.network, defaultEgress: 'allow' } }],
    ['network.allowedHosts', { network: { ...strict.network, allowedHosts: ['a.example', 'b.example'] } }],
    ['network.allowedMethods', { network: { ...strict.network, allowedMethods: [] } }],
    ['network.allowedPathPrefixes', { network: { ...strict.network, allowedPathPrefixes: ['/'] } }],
    ['network.blockPrivateNetwork', { network: { ...strict.network, blockPrivateNetwork: false } }],
    ['network.blockMetadataEndpoints', { network: { ...strict.network, blockMetadataEndpoints: false } }],
    ['network.blockLoopback', { network: { ...strict.network, blockLoopback: false } }],
    ['environment.passthrough', { environment: { redactDisplay: true } }],
    ['environment.redactDisplay', { environment: { ...strict.environment, redactDisplay: false } }],
    ['credentials.mode', { credentials: { mode: 'environment', brokerRefs: [] } }],
    ['credentials.brokerRefs', { credentials: { mode: 'broker', brokerRefs: ['git', 'npm'] } }],
  ])('is not wider in %s of the preset', (field, change) => {
    const wider = { ...strict, id: 'wider', ...change } as typeof strict;
    expect(fieldsOf(parent({ sandbox: strict }), named({ sandbox: wider }))).toEqual([`sandbox.${field}`]);
  });

  it.each([
    ['tools.allowed', { tools: { denied: ['shell'] }, mcpServers: ['docs'], permissions: ['edit'] }],
    ['tools.denied', { tools: { allowed: ['read'] }, mcpServers: ['docs'], permissions: ['edit'] }],
    ['mcpServers', { ...careful.restrictions, mcpServers: ['docs', 'web'], permissions: ['edit'] }],
    ['permissions', { ...careful.restrictions, mcpServers: ['docs'] }],
  ])('is not wider in %s of the profile', (field, restrictions) => {
    const own = aProfile({ restrictions: { ...careful.restrictions, mcpServers: ['docs'], permissions: ['edit'] } });
    const wider = { ...aProfile({ restrictions }), id: 'wider' };
    expect(fieldsOf(parent({ profile: own }), named({ profile: wider }))).toEqual([`profile.restrictions.${field}`]);
  });

  it('is not that of another agent than the restricted profile is for, nor one that commits', () => {
    expect(fieldsOf(parent({ profile: careful }), named({ request: { agent: 'wasp' } }))).toEqual(['agent']);
    expect(fieldsOf(parent({ profile: careful }), named({ request: { agent: careful.agent } }))).toBeUndefined();
    const asked = named({ request: { commitPolicy: 'required' } });
    expect(fieldsOf(parent({ commitPolicy: 'forbidden' }), asked)).toEqual(['commitPolicy']);
  });
});
