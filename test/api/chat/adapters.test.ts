import { startRecordedDeliveries } from '../../../api/chat/adapters/start-deliveries';
import { eventually } from '../../../platform/testing/eventually';
import { openCredentialSeal } from '../../../stores/system/credential-key-store';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startWholeTestApi } from '../api-under-test';

const root = '/api/integrations/communication';
const url = 'https://hooks.slack.com/services/T000/B000/hunter2hunter2?sig=signature';
const publicKey = 'ab'.repeat(32);
const relay = { relayHttpUrl: 'https://relay.example.org', publicKey };
const channelId = '0b0a3c1e-4e6a-4c47-9a0e-1d2f3a4b5c6d';
const otherChannelId = '1b0a3c1e-4e6a-4c47-9a0e-1d2f3a4b5c6d';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const call = (method: string, path: string, body?: object, options: CallOptions = {}) =>
  board.call(method, `${root}${path}`, { ...(body ? { body } : {}), ...options });
const configure = (id: string, body: object, options?: CallOptions) => call('PUT', `/adapters/${id}`, body, options);
const pathsOf = (body: { details: { issues: { path: string }[] } }) => body.details.issues.map(({ path }) => path);

describe('adapters to team chats', () => {
  it('are configured without ever returning what is secret of them', async () => {
    const made = await configure('slack', {
      ...{ kind: 'slack', displayName: '<i>Slack</i>', webhookUrl: url, credential: 'gateway-credential' },
      ...{ teamId: 'T000', channelId: 'C000' },
    });
    expect(made).toMatchObject({
      status: 200,
      body: {
        id: 'slack',
        displayName: 'Slack',
        enabled: true,
        deliveryMode: 'webhook',
        destinationType: 'channel',
        destinationUrl: 'https://app.slack.com/client/T000/C000',
        webhookUrlConfigured: true,
        webhookUrlRedacted: 'https://hooks.slack.com/[REDACTED]',
        hasCredential: true,
        revision: 1,
      },
    });
    const answers = [made, await call('GET', '/adapters'), await call('GET', '/adapters/slack/health')];
    const audit = await board.call('GET', '/api/audit?action=communication.configure');
    const stored = await board.api.context.adapters.get('slack');
    expect(JSON.stringify([answers, audit.body, stored])).not.toMatch(/hunter2|signature|gateway-credential/);
    expect(audit.body.entries).toMatchObject([{ resource: 'slack' }]);
  });

  it('keep what is absent, lose what is null, and have a new revision only for a change', async () => {
    const { headers } = await configure('kept', { kind: 'teams', webhookUrl: url, credential: 'a', tenantId: 'here' });
    expect(headers.get('etag')).toBe('"communication-adapters:kept:1"');
    const same = await configure('kept', { kind: 'teams', webhookUrl: url });
    expect(same.body).toMatchObject({ revision: 1, hasCredential: true, tenantId: 'here' });
    const cleared = await configure('kept', { kind: 'teams', credential: null, tenantId: null });
    expect(cleared.body).toMatchObject({
      revision: 2,
      hasCredential: false,
      tenantId: null,
      webhookUrlConfigured: true,
    });
    const stale = await configure(
      'kept',
      { kind: 'teams', enabled: false },
      { headers: { 'If-Match': '"communication-adapters:kept:1"' } },
    );
    expect(stale).toMatchObject({ status: 409, body: { details: { currentRevision: 2, current: { id: 'kept' } } } });
    expect(JSON.stringify(stale.body)).not.toContain('hunter2');
    expect(await configure('kept', { kind: 'slack' })).toMatchObject({ status: 409, body: { code: 'ADAPTER_KIND' } });
  });

  it('never send a stored credential to another server than the one that it was given for', async () => {
    await configure('moved', { kind: 'slack', webhookUrl: url, credential: 'a' });
    for (const webhookUrl of ['https://example.org/x', null]) {
      const refused = await configure('moved', { kind: 'slack', webhookUrl });
      expect(refused.status).toBe(400);
      expect(pathsOf(refused.body)).toEqual(['credential']);
    }
    const moved = await configure('moved', { kind: 'slack', webhookUrl: 'https://example.org/x', credential: null });
    expect(moved.body).toMatchObject({ webhookUrlRedacted: 'https://example.org/[REDACTED]', hasCredential: false });
  });

  it('lose their secrets and send nothing once they are disconnected', async () => {
    await configure('left', { kind: 'slack', webhookUrl: url, credential: 'a' });
    const { body } = await call('POST', '/adapters/left/disconnect');
    expect(body).toMatchObject({ enabled: false, webhookUrlConfigured: false, hasCredential: false });
    expect(await board.api.context.adapters.get('left')).not.toHaveProperty('webhookUrl');
    expect(await call('POST', '/adapters/left/send', { message: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'ADAPTER_DISABLED', details: { next: { path: `${root}/adapters/left` } } },
    });
    expect((await call('GET', '/adapters/left/health')).body).toMatchObject({ status: 'disabled' });
  });

  it('are unconfigured without an address, and then send nothing', async () => {
    expect((await configure('empty', { kind: 'slack' })).body).toMatchObject({ webhookUrlConfigured: false });
    expect((await call('GET', '/adapters/empty/health')).body).toMatchObject({ status: 'unconfigured' });
    const refused = await call('POST', '/adapters/empty/send', { message: 'a' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'ADAPTER_NOT_CONFIGURED' } });
  });

  it.each([
    ['an unknown field', { kind: 'slack', token: 'x' }, 'token'],
    ['another mode', { kind: 'slack', deliveryMode: 'socket' }, 'deliveryMode'],
    ['an address without TLS', { kind: 'slack', webhookUrl: 'http://example.org/' }, 'webhookUrl'],
    ['another protocol', { kind: 'slack', webhookUrl: 'file:///etc/passwd' }, 'webhookUrl'],
    ['a credential in the address', { kind: 'slack', webhookUrl: 'https://a:b@example.org/' }, 'webhookUrl'],
    ['a credential that no header carries', { kind: 'slack', credential: 'a\nb' }, 'credential'],
    ['an id that is a path', { kind: 'teams', teamId: '../x' }, 'teamId'],
    ['an unknown kind', { kind: 'irc' }, 'kind'],
    ['fields of a community', { kind: 'slack', relayHttpUrl: 'https://relay.example.org' }, 'relayHttpUrl'],
  ])('are refused with %s', async (_case, body, path) => {
    const refused = await configure('refused', body);
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toContain(path);
    expect((await call('GET', '/adapters/refused/health')).status).toBe(404);
  });
});

describe('adapters to communities', () => {
  it('are configured with references only, which null clears', async () => {
    const command = { executable: '/usr/bin/sign', args: ['--quiet'] };
    const body = {
      ...{ kind: 'community', ...relay, relayWebSocketUrl: 'wss://relay.example.org', expectedCommunity: 'Garden' },
      ...{ credentialRef: 'env:GARDEN_KEY', authTagRef: 'env:GARDEN_TAG', command },
    };
    expect((await configure('garden', body)).body).toMatchObject({ ...body, allowLocalhost: false });
    const cleared = { relayWebSocketUrl: null, expectedCommunity: null, authTagRef: null, command: null };
    const changed = await configure('garden', { kind: 'community', ...cleared });
    expect(changed.body).toMatchObject({ ...cleared, credentialRef: 'env:GARDEN_KEY', ...relay, revision: 2 });
  });

  it.each([
    ['no address', { relayHttpUrl: undefined }, 'relayHttpUrl'],
    ['no public key', { publicKey: undefined }, 'publicKey'],
    ['what is no public key', { publicKey: 'ab' }, 'publicKey'],
    ['a raw credential', { credentialRef: 'ab'.repeat(32) }, 'credentialRef'],
    ['a setting of the service', { credentialRef: 'env:BOARD_ADMIN_KEY' }, 'credentialRef'],
    ['a credential of its own field', { credential: 'x' }, 'credential'],
    ['a user in the address', { relayHttpUrl: 'https://a:b@relay.example.org' }, 'relayHttpUrl'],
    ['a query', { relayHttpUrl: 'https://relay.example.org/?key=x' }, 'relayHttpUrl'],
    ['a fragment', { relayHttpUrl: 'https://relay.example.org/#x' }, 'relayHttpUrl'],
    ['a user in the other address', { relayWebSocketUrl: 'wss://a:b@relay.example.org' }, 'relayWebSocketUrl'],
    ['a query in the other address', { relayWebSocketUrl: 'wss://relay.example.org/?a=b' }, 'relayWebSocketUrl'],
    ['an address without TLS', { relayHttpUrl: 'http://relay.example.org' }, 'relayHttpUrl'],
    ['the other address without TLS', { relayWebSocketUrl: 'ws://relay.example.org' }, 'relayWebSocketUrl'],
    ['an option with a credential', { command: { executable: 'a', args: ['--token=x'] } }, 'command.args.0'],
    [
      'the option before a credential',
      { command: { executable: 'a', args: ['-v', '--api-key', 'x'] } },
      'command.args.1',
    ],
    ['a key as an argument', { command: { executable: 'a', args: ['cd'.repeat(32)] } }, 'command.args.0'],
  ])('are refused with %s', async (_case, fields, path) => {
    const refused = await configure('refused', { kind: 'community', ...relay, ...fields });
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toContain(path);
  });

  it('have one enabled channel that is the squad chat', async () => {
    await configure('mapped', { kind: 'community', ...relay });
    const channel = (id: string, body: object) => call('PUT', `/adapters/mapped/community/channels/${id}`, body);
    const target = { kind: 'squad' };
    const first = await channel(channelId, { target, enabled: true, actor: 'ada' });
    expect(first.body).toMatchObject({
      channelId,
      target,
      enabled: true,
      actor: 'ada',
      revision: 1,
      polledUntil: null,
    });
    expect((await channel(channelId, { target, actor: 'ada' })).body.revision).toBe(1);
    expect(await channel(otherChannelId, { target })).toMatchObject({
      status: 409,
      body: { code: 'CHANNEL_ALREADY_MAPPED', details: { channelId } },
    });
    const disabled = await call('POST', `/adapters/mapped/community/channels/${channelId}/disable`, {});
    expect(disabled.body).toMatchObject({ enabled: false, revision: 2 });
    expect((await channel(otherChannelId, { target })).body).toMatchObject({ enabled: true });
    const { channels } = (await call('GET', '/adapters/mapped/community/channels')).body;
    expect(channels.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([false, true]);
    expect((await channel('no-uuid', { target })).status).toBe(400);
    expect((await channel(channelId, { target: { kind: 'task' } })).status).toBe(400);
  });

  it('map one of ten channels that are mapped at once', async () => {
    await configure('contended', { kind: 'community', ...relay });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        call('PUT', `/adapters/contended/community/channels/${n}${channelId.slice(1)}`, { target: { kind: 'squad' } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
  });

  it('are the only ones with channels and polls', async () => {
    await configure('chat', { kind: 'slack' });
    expect(await call('GET', '/adapters/chat/community/channels')).toMatchObject({ status: 409 });
    expect(await call('POST', '/adapters/chat/poll')).toMatchObject({ body: { code: 'ADAPTER_NOT_POLLED' } });
    expect(await call('POST', '/adapters/chat/send', { message: 'a', channelId })).toMatchObject({ status: 400 });
  });
});

describe('messages by adapters', () => {
  const deliveries = async (query = '') => (await call('GET', `/deliveries${query}`)).body.deliveries;

  it('are recorded and started later where Temporal does not respond', async () => {
    await configure('later', { kind: 'slack', webhookUrl: url });
    const sent = await call(
      'POST',
      '/adapters/later/send',
      { message: 'later' },
      { headers: { 'Idempotency-Key': 'k1' } },
    );
    expect(sent).toMatchObject({ status: 202, body: { state: 'pending', adapterId: 'later', attempts: 0 } });
    const again = await call(
      'POST',
      '/adapters/later/send',
      { message: 'later' },
      { headers: { 'Idempotency-Key': 'k1' } },
    );
    expect(again.body.id).toBe(sent.body.id);
    expect(await deliveries('?adapterId=later&state=pending')).toMatchObject([{ id: sent.body.id }]);

    const started: string[] = [];
    const { adapterDeliveries, log } = board.api.context;
    const stop = await startRecordedDeliveries({
      ...{ adapterDeliveries, log, everyMs: 20 },
      now: () => new Date(Date.now() + 60_000),
      startDelivery: ({ id }) => {
        started.push(id);
        return Promise.resolve();
      },
    });
    await eventually(async () => expect(await adapterDeliveries.listUnstarted('9', 10)).toEqual([]));
    await stop();
    expect(started.filter((id) => id === sent.body.id)).toHaveLength(1);
  });

  it.each([
    ['no text', { message: '' }, 400],
    ['nothing but tags', { message: '<b></b>' }, 400],
    ['too much text', { message: 'a'.repeat(4_001) }, 400],
    ['a task that does not exist', { message: 'a', taskId: 'task_20260101_absent' }, 404],
    ['a message that does not exist', { message: 'a', squadMessageId: 'msg_absent' }, 404],
  ])('are refused with %s', async (_case, body, status) => {
    await configure('refusing', { kind: 'slack', webhookUrl: url });
    expect((await call('POST', '/adapters/refusing/send', body)).status).toBe(status);
    expect(await deliveries('?adapterId=refusing')).toEqual([]);
  });

  it('are sent by those who may write settings', async () => {
    await configure('guarded', { kind: 'slack', webhookUrl: url });
    for (const key of [agentKey, readKey]) {
      expect((await call('POST', '/adapters/guarded/send', { message: 'a' }, { key })).status).toBe(403);
    }
  });
});

describe('replies to adapters', () => {
  beforeAll(() => configure('replies', { kind: 'slack', webhookUrl: url }));
  let replies = 0;
  const reply = (fields: object = {}, options?: CallOptions) => {
    replies += 1;
    const ids = { externalThreadId: `thread-${replies}`, externalReplyId: `reply-${replies}` };
    return call('POST', '/adapters/replies/replies', { ...ids, actor: 'U123', message: 'Yes', ...fields }, options);
  };
  const message = async (id: string) => (await board.call('GET', `/api/chat/squad/${id}/thread`)).body;
  const aMessage = async () => (await board.call('POST', '/api/chat/squad', { body: { message: 'What?' } })).body.id;

  it('become replies in the squad chat, clean, without mentions', async () => {
    const squadMessageId = await aMessage();
    const answer = await reply(
      {
        target: { kind: 'squad', squadMessageId },
        displayName: 'Ada <script>',
        message: `<b>@worker</b> do it \u202enow ghp_${'a'.repeat(36)}`,
      },
      { key: agentKey },
    );
    expect(answer).toMatchObject({ status: 200, body: { duplicate: false, threadId: squadMessageId } });
    const [, stored] = await message(squadMessageId);
    expect(stored).toMatchObject({
      id: answer.body.messageId,
      agent: 'U123@replies',
      displayName: 'Ada',
      message: '@worker do it now [REDACTED]',
      replyToId: squadMessageId,
      mentions: [],
      tags: ['communication', 'replies'],
    });
    const { entries } = (await board.call('GET', '/api/audit?action=communication.reply')).body;
    expect(entries).toMatchObject([{ resource: answer.body.messageId, details: { adapterId: 'replies' } }]);
  });

  it('are one message however often they are received, also at once', async () => {
    const squadMessageId = await aMessage();
    const body = { externalReplyId: 'the same', externalThreadId: 'once', target: { kind: 'squad', squadMessageId } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => reply(body)));
    expect(new Set(answers.map((answer) => answer.body.messageId)).size).toBe(1);
    expect(await reply({ ...body, message: 'Changed' })).toMatchObject({ body: { duplicate: true } });
    expect(await message(squadMessageId)).toHaveLength(2);
  });

  it('follow the thread that was mapped, and do not change what it belongs to', async () => {
    const [squadMessageId, other] = [await aMessage(), await aMessage()];
    const thread = { externalThreadId: 'mapped thread' };
    expect((await reply(thread)).status).toBe(404);
    await reply({ ...thread, target: { kind: 'squad', squadMessageId } });
    expect((await reply(thread)).body).toMatchObject({ threadId: squadMessageId });
    expect(await reply({ ...thread, target: { kind: 'squad', squadMessageId: other } })).toMatchObject({
      status: 409,
      body: { code: 'MAPPING_CONFLICT', details: { current: { target: { squadMessageId } } } },
    });
    const { mappings } = (await call('GET', '/mappings?adapterId=replies')).body;
    expect(mappings).toContainEqual(
      expect.objectContaining({ ...thread, target: { kind: 'squad', squadMessageId }, createdBy: 'service:admin' }),
    );
  });

  it('about a task begin a thread of their own', async () => {
    const { id: taskId } = await board.createTask({ title: 'A' });
    const thread = { externalThreadId: 'about a task' };
    const first = await reply({ ...thread, target: { kind: 'task', taskId } });
    const second = await reply(thread);
    expect(second.body.threadId).toBe(first.body.messageId);
    expect(await message(first.body.messageId)).toMatchObject([
      { taskId },
      { taskId, replyToId: first.body.messageId },
    ]);
  });

  it.each([
    ['nothing but tags', { message: '<b> </b>', target: { kind: 'squad' } }, 400],
    ['no actor', { actor: '<i></i>', target: { kind: 'squad' } }, 400],
    ['a task target without a task', { target: { kind: 'task' } }, 400],
    ['an unknown message', { target: { kind: 'squad', squadMessageId: 'msg_absent' } }, 404],
    ['an unknown task', { target: { kind: 'task', taskId: 'task_20260101_absent' } }, 404],
  ])('are refused with %s', async (_case, fields, status) => {
    expect((await reply(fields)).status).toBe(status);
  });

  it('are refused while the squad chat is off, or under a policy that denies them', async () => {
    const set = (squadChat: boolean) => board.call('PATCH', '/api/settings/features', { body: { squadChat } });
    await set(false);
    expect((await reply({ target: { kind: 'squad' } })).body.code).toBe('FEATURE_DISABLED');
    await set(true);
    const rules = [{ action: 'communication-reply', effect: 'deny' }];
    const { body } = await board.call('POST', '/api/policies', { body: { name: 'No replies', rules } });
    expect((await reply({ target: { kind: 'squad' } })).body.code).toBe('POLICY_BLOCKED');
    await board.call('DELETE', `/api/policies/${body.id}`);
  });

  it('are limited to so many a minute, repetitions apart', async () => {
    await configure('busy', { kind: 'slack', webhookUrl: url });
    const post = (n: number) =>
      call('POST', '/adapters/busy/replies', {
        ...{ externalThreadId: 'busy', externalReplyId: `busy-${n}`, actor: 'a', message: 'b' },
        target: { kind: 'squad' },
      });
    let limited = 0;
    for (let n = 0; n < 250 && limited === 0; n += 1) {
      limited = (await post(n)).status === 429 ? n : 0;
    }
    expect(limited).toBeGreaterThanOrEqual(120);
    expect((await post(0)).body).toMatchObject({ duplicate: true });
  });
});

describe('a credential key', () => {
  it('of its own is what secrets are sealed with: with another one they cannot be read', async () => {
    const seal = (key: string) => openCredentialSeal(board.api.context.database, key);
    const [one, other] = [await seal('1'.repeat(32)), await seal('2'.repeat(32))];
    const box = await one.seal('secret', 'context');
    expect(JSON.stringify(box)).not.toContain('secret');
    expect(await one.open(box, 'context')).toBe('secret');
    expect(await one.open(box, 'another context')).toBeUndefined();
    expect(await other.open(box, 'context')).toBeUndefined();
  });
});
