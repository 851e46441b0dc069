import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import {
  aChannelId,
  anIdentity,
  type RelayServer,
  startRelay,
  type Verdict,
} from '../../support/communication/relay-server';
import { type Stack, startStack } from '../../support/stack/stack';

const root = '/api/integrations/communication';
const us = anIdentity();
const person = anIdentity();
let stack: Stack;
let relay: RelayServer;

beforeAll(async () => {
  process.env.COMMUNITY_TEST_KEY = us.privateKey;
  process.env.COMMUNITY_OTHER_KEY = anIdentity().privateKey;
  process.env.COMMUNITY_TEST_TAG = JSON.stringify(['auth', 'of the owner']);
  process.env.COMMUNITY_NO_TAG = 'a plain secret';
  [relay, stack] = await Promise.all([startRelay(), startStack({ BOARD_RETRY_BACKOFF_MS: '50' })]);
});
afterAll(async () => {
  await Promise.all([stack.close(), relay.close()]);
  for (const name of ['COMMUNITY_TEST_KEY', 'COMMUNITY_OTHER_KEY', 'COMMUNITY_TEST_TAG', 'COMMUNITY_NO_TAG']) {
    Reflect.deleteProperty(process.env, name);
  }
});

const call = (method: string, path: string, body?: object) => stack.call.ok(method, `${root}${path}`, body);
const configure = (id: string, fields: object = {}, { httpUrl, webSocketUrl }: RelayServer = relay) =>
  call('PUT', `/adapters/${id}`, {
    kind: 'community',
    relayHttpUrl: httpUrl,
    relayWebSocketUrl: webSocketUrl,
    publicKey: us.publicKey,
    credentialRef: 'env:COMMUNITY_TEST_KEY',
    allowLocalhost: true,
    ...fields,
  });
const map = (id: string, channelId: string) =>
  call('PUT', `/adapters/${id}/community/channels/${channelId}`, { target: { kind: 'squad' } });
const delivery = async (id: string) => (await call('GET', `/deliveries?deliveryId=${id}`)).deliveries[0];
const ended = (id: string) =>
  eventually(async () => {
    const one = await delivery(id);
    expect(one.state).not.toBe('pending');
    return one;
  });
const squad = (): Promise<any[]> => stack.call.ok('GET', '/api/chat/squad'); // eslint-disable-line @typescript-eslint/no-explicit-any -- messages of the squad

describe.each([
  ['its WebSocket', {}],
  ['HTTP', { relayWebSocketUrl: null }],
])('a community over %s', (transport, fields) => {
  const id = transport === 'HTTP' ? 'over-http' : 'over-websocket';
  const channelId = aChannelId();
  beforeAll(async () => {
    await configure(id, { ...fields, expectedCommunity: 'Garden', authTagRef: 'env:COMMUNITY_TEST_TAG' });
    await map(id, channelId);
  });
  const send = (body: object) => call('POST', `/adapters/${id}/send`, body);
  const poll = () => call('POST', `/adapters/${id}/poll`);

  it('is probed without writing anything there', async () => {
    const before = relay.arrived.length;
    const health = await call('POST', `/adapters/${id}/test`);
    expect(health).toMatchObject({
      status: 'healthy',
      reasonCode: 'verified',
      expectedCommunity: 'Garden',
      observedCommunity: 'Garden',
      publicKeyFingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      runtime: { facets: { software: 'test-relay', signing: 'key', protocols: '1, 11, 42' } },
    });
    expect(health.checks.map(({ id: check, state }: { id: string; state: string }) => `${check} ${state}`)).toEqual([
      'relay-information passed',
      'community passed',
      'identity passed',
      'read passed',
    ]);
    expect(relay.arrived).toHaveLength(before);
  });

  it('gets a message as a signed event of the mapped channel', async () => {
    const requested = await send({ title: 'News', message: 'It grows' });
    const delivered = await ended(requested.id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 1, channelId });
    const event = relay.stored.find((one) => one.id === delivered.externalMessageId);
    expect(event).toMatchObject({
      pubkey: us.publicKey,
      kind: 9,
      content: 'News\n\nIt grows',
      tags: [
        ['h', channelId],
        ['delivery', requested.id],
        ['auth', 'of the owner'],
      ],
    });
  });

  const verdicts: [string, Verdict][] = [
    ['a connection that ends', 'hang-up'],
    ['a malformed answer', 'malformed'],
    ['a rate limit', { accepted: false, message: 'rate-limited: slow down' }],
    ['an answer that does not come', 'silence'],
    ['an error of the relay', { accepted: false, message: 'error: no space' }],
  ];
  it.each(verdicts)('gets a message again as the same event after %s', async (_case, verdict) => {
    relay.judge(verdict);
    const { id: deliveryId } = await send({ message: 'once' });
    expect(await ended(deliveryId)).toMatchObject({ state: 'delivered', attempts: 2 });
    const events = relay.arrived.filter(({ tags }) => tags.some(([, value]) => value === deliveryId));
    expect(events).toHaveLength(2);
    expect(new Set(events.map((event) => event.id)).size).toBe(1);
  });

  it('refuses a message for good', async () => {
    relay.judge({ accepted: false, message: 'blocked: not a member' });
    const { id: deliveryId } = await send({ message: 'no' });
    expect(await ended(deliveryId)).toMatchObject({ state: 'failed', reasonCode: 'blocked', attempts: 1 });
  });

  it('has its messages read into the squad chat once, replies in their threads', async () => {
    const first = person.write(channelId, 'Hello <b>you</b>, password=hunter2hunter2');
    const reply = person.write(channelId, 'And another', { tags: [['e', first.id, '', 'reply']] });
    relay.add(first, reply, { ...person.write(channelId, 'forged'), content: 'changed' });
    relay.add(person.write(aChannelId(), 'of another channel'));
    expect(await poll()).toMatchObject({ channels: 1, ingested: 2, duplicates: 0, truncated: false });
    expect(await poll()).toMatchObject({ ingested: 0, duplicates: 2 });
    const all = (await squad()).filter(({ tags }) => tags.includes(id));
    expect(all.map(({ message }) => message)).toEqual(['Hello you, password=[REDACTED]', 'And another']);
    expect(all[1].replyToId).toBe(all[0].id);
    expect(all[0]).toMatchObject({
      agent: `${person.publicKey.slice(0, 16)}@${id}`,
      createdBy: 'system:communication',
    });
  });

  it('has what is replied to a sent message read into its thread', async () => {
    const { id: squadMessageId } = await stack.call.ok('POST', '/api/chat/squad', { message: 'What do you think?' });
    const { id: deliveryId } = await send({ message: 'What do you think?', squadMessageId });
    const { externalMessageId } = await ended(deliveryId);
    relay.add(person.write(channelId, 'I like it', { tags: [['e', externalMessageId, '', 'reply']] }));
    expect(await poll()).toMatchObject({ ingested: 1 });
    const [, answer] = await stack.call.ok('GET', `/api/chat/squad/${squadMessageId}/thread`);
    expect(answer).toMatchObject({ message: 'I like it', replyToId: squadMessageId });
    const { mappings } = await call('GET', `/mappings?adapterId=${id}`);
    expect(mappings).toContainEqual(
      expect.objectContaining({ externalThreadId: externalMessageId, target: { kind: 'squad', squadMessageId } }),
    );
  });

  it('reads more messages than fit one answer, and misses none', async () => {
    await poll();
    const at = Math.floor(Date.now() / 1000) - 250;
    const many = Array.from({ length: 230 }, (_, n) =>
      person.write(channelId, `message ${n}`, { created_at: at + Math.floor(n / 2) }),
    );
    relay.add(...many);
    expect(await poll()).toMatchObject({ ingested: 230, truncated: false });
    expect(await poll()).toMatchObject({ ingested: 0 });
  });
});

describe('a community that asks who calls', () => {
  let closed: RelayServer;
  beforeAll(async () => {
    closed = await startRelay({ authRequired: true });
  });
  afterAll(() => closed.close());

  it.each([
    ['WebSocket', {}],
    ['HTTP', { relayWebSocketUrl: null }],
  ])('is answered over %s, for messages and for reading', async (transport, fields) => {
    const id = `closed-${transport.toLowerCase()}`;
    await configure(id, fields, closed);
    await map(id, aChannelId());
    expect(await call('POST', `/adapters/${id}/test`)).toMatchObject({ status: 'healthy' });
    const { id: deliveryId } = await call('POST', `/adapters/${id}/send`, { message: 'a' });
    expect(await ended(deliveryId)).toMatchObject({ state: 'delivered', attempts: 1 });
    expect(new Set(closed.authenticated)).toEqual(new Set([us.publicKey]));
  });
});

describe('what is wrong with a community', () => {
  const over = (relayHttpUrl: string, fields: object = {}) => ({ relayHttpUrl, relayWebSocketUrl: null, ...fields });
  const onlyPrivate = { allowLocalhost: false, allowPrivateNetwork: true };
  const refused = { reasonCode: 'refused-address' };
  const cases: [string, object, object][] = [
    ['this machine as an address of IPv6', over('http://[::ffff:127.0.0.1]:9/', onlyPrivate), refused],
    ['an address of cloud metadata', over('http://169.254.169.254/latest', { allowPrivateNetwork: true }), refused],
    ['a name of this machine', over('http://localhost:9/', onlyPrivate), refused],
    ['a private network', over('http://10.0.0.1/'), refused],
    [
      'another community',
      { expectedCommunity: 'Desert' },
      { reasonCode: 'community-mismatch', observedCommunity: 'Garden' },
    ],
    ['a missing credential', { credentialRef: 'env:COMMUNITY_ABSENT' }, { reasonCode: 'credential-missing' }],
    ['the key of another identity', { credentialRef: 'env:COMMUNITY_OTHER_KEY' }, { reasonCode: 'identity-mismatch' }],
    ['what is no key', { credentialRef: 'env:COMMUNITY_NO_TAG' }, { reasonCode: 'credential-invalid' }],
    ['what is no tag', { authTagRef: 'env:COMMUNITY_NO_TAG' }, { reasonCode: 'auth-tag-invalid' }],
    [
      'an address of this machine',
      { allowLocalhost: false, allowPrivateNetwork: true },
      { reasonCode: 'refused-address' },
    ],
    [
      'a command that does not sign',
      { command: { executable: '/bin/false', args: [] } },
      { reasonCode: 'signing-failed' },
    ],
  ];
  it.each(cases)('is reported by its health: %s', async (name, fields, health) => {
    const id = `wrong-${cases.findIndex(([one]) => one === name)}`;
    await configure(id, fields);
    const tested = await call('POST', `/adapters/${id}/test`);
    expect(tested).toMatchObject({ status: 'unhealthy', ...health });
    expect(JSON.stringify(tested)).not.toContain('a plain secret');
  });

  it('is that it can only be read without a key', async () => {
    await configure('reader', { credentialRef: null });
    expect(await call('POST', '/adapters/reader/test')).toMatchObject({ status: 'degraded', reasonCode: 'read-only' });
    await map('reader', aChannelId());
    expect(await stack.call.post(`${root}/adapters/reader/send`, { message: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'ADAPTER_NOT_CONFIGURED' },
    });
  });

  it('is the reason of a poll that fails', async () => {
    const gone = await startRelay();
    await configure('gone', {}, gone);
    await map('gone', aChannelId());
    await gone.close();
    expect(await stack.call.post(`${root}/adapters/gone/poll`)).toMatchObject({
      status: 502,
      body: { code: 'ADAPTER_UNAVAILABLE', details: { reasonCode: 'unreachable' } },
    });
  });
});

describe('definitions of agents', () => {
  const define = (key: string, content: object, fields = {}) =>
    person.write(aChannelId(), JSON.stringify(content), { kind: 30_078, tags: [['d', key]], ...fields });
  const gardener = { name: 'Gardener', description: 'Grows things', instructions: 'Water <all> plants.' };
  const path = '/adapters/defining/community/definitions';
  const list = async () => (await call('GET', path)).definitions;
  const links = async () => (await call('GET', `${path}/links`)).links;
  const importing = async (fields: object = {}) => {
    const [{ id: definitionId }] = await list();
    const { digest } = await call('POST', `${path}/preview`, { definitionId, agent: 'codex' });
    return { definitionId, agent: 'codex', expectedDigest: digest, ...fields };
  };
  const profile = () => stack.call.ok('GET', '/api/config/profiles/gardener');

  beforeAll(async () => {
    await configure('defining');
    const at = Math.floor(Date.now() / 1000);
    relay.add(
      define('agent-definition/gardener', { ...gardener, instructions: 'old' }, { created_at: at - 60 }),
      define('agent-definition/gardener', gardener, { created_at: at - 30 }),
      define('agent-definition/empty', { name: 'Empty' }),
      define('something-else', gardener),
    );
  });

  it('are listed, the newest of each, without their instructions', async () => {
    expect(await list()).toEqual([
      {
        id: expect.stringMatching(/^definition_/),
        key: 'gardener',
        author: person.publicKey,
        name: 'Gardener',
        description: 'Grows things',
        digest: expect.stringMatching(/^sha256:/),
        publishedAt: expect.any(String),
        profileId: null,
        state: null,
      },
    ]);
  });

  it('are previewed without writing anything', async () => {
    const [{ id: definitionId }] = await list();
    expect(await call('POST', `${path}/preview`, { definitionId, agent: 'codex' })).toMatchObject({
      profileId: 'gardener',
      change: 'create',
      profile: { ...gardener, agent: 'codex', enabled: false },
      current: null,
    });
    expect((await stack.call.get('/api/config/profiles/gardener')).status).toBe(404);
    expect(await links()).toEqual([]);
  });

  it('become disabled profiles, the same one when they are imported again', async () => {
    const body = await importing();
    const first = await call('POST', `${path}/import`, body);
    expect(first).toMatchObject({ profileId: 'gardener', profileRevision: 1, state: 'current' });
    expect(await call('POST', `${path}/import`, body)).toMatchObject({ profileRevision: 1 });
    expect(await profile()).toMatchObject({ ...gardener, enabled: false, revision: 1 });
    expect(await links()).toMatchObject([{ profileId: 'gardener', author: person.publicKey, state: 'current' }]);
  });

  it('are refused once they have changed since the preview, and update what is as it was imported', async () => {
    const body = await importing();
    relay.add(define('agent-definition/gardener', { ...gardener, instructions: 'Water some.' }));
    expect(await list()).toMatchObject([{ profileId: 'gardener', state: 'outdated' }]);
    expect(await stack.call.post(`${root}${path}/import`, body)).toMatchObject({
      status: 409,
      body: { code: 'DEFINITION_CHANGED', details: { current: { change: 'update' } } },
    });
    expect(await call('POST', `${path}/import`, await importing())).toMatchObject({ profileRevision: 2 });
    expect(await profile()).toMatchObject({ instructions: 'Water some.' });
  });

  it('do not replace what was changed here, unless that is asked for', async () => {
    const { id: _id, revision: _revision, createdAt: _createdAt, updatedAt: _updatedAt, ...own } = await profile();
    await stack.call.ok('PUT', '/api/config/profiles/gardener', { ...own, instructions: 'Ours', enabled: true });
    expect(await links()).toMatchObject([{ state: 'changed' }]);
    const body = await importing();
    expect(await stack.call.post(`${root}${path}/import`, body)).toMatchObject({
      status: 409,
      body: { code: 'DEFINITION_CONFLICT' },
    });
    await call('POST', `${path}/import`, { ...body, overwrite: true });
    expect(await profile()).toMatchObject({ instructions: 'Water some.', enabled: false });
    await stack.call.ok('PUT', '/api/config/profiles/taken', { ...own, instructions: 'Of others' });
    const taken = await importing({ profileId: 'taken', overwrite: true });
    expect(await stack.call.post(`${root}${path}/import`, taken)).toMatchObject({
      status: 409,
      body: { code: 'DEFINITION_CONFLICT' },
    });
  });
});

describe('a command that signs', () => {
  it('is given the event, and its signature is sent', async () => {
    const script = join(stack.dir, 'sign.js');
    const curves = require.resolve('@noble/curves/secp256k1');
    await writeFile(
      script,
      `#!${process.execPath}
      const { schnorr } = require(${JSON.stringify(curves)});
      const { createHash } = require('node:crypto');
      const event = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
      const text = JSON.stringify([0, event.pubkey, event.created_at, event.kind, event.tags, event.content]);
      const id = createHash('sha256').update(text).digest('hex');
      const sig = Buffer.from(schnorr.sign(id, ${JSON.stringify(us.privateKey)})).toString('hex');
      process.stdout.write(JSON.stringify({ ...event, id, sig }));`,
    );
    await chmod(script, 0o755);
    await configure('by-command', { credentialRef: null, command: { executable: script, args: ['--quiet'] } });
    await map('by-command', aChannelId());
    expect(await call('POST', '/adapters/by-command/test')).toMatchObject({
      status: 'healthy',
      runtime: { facets: { signing: 'command' } },
    });
    const { id } = await call('POST', '/adapters/by-command/send', { message: 'signed elsewhere' });
    expect(await ended(id)).toMatchObject({ state: 'delivered' });
  });
});
