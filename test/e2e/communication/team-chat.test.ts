import { eventually } from '../../../platform/testing/eventually';
import {
  hangUp,
  type Responder,
  silence,
  slackResponses,
  startTeamChat,
  type TeamChatServer,
  teamsResponses,
} from '../../support/communication/team-chat-server';
import { type Stack, startStack } from '../../support/stack/stack';

const root = '/api/integrations/communication';
let stack: Stack;
let slack: TeamChatServer;
let teams: TeamChatServer;

beforeAll(async () => {
  [slack, teams, stack] = await Promise.all([
    startTeamChat(slackResponses.ok),
    startTeamChat(teamsResponses.workflowAccepted),
    startStack({ BOARD_WEBHOOK_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' }),
  ]);
  await configure('slack', { kind: 'slack', webhookUrl: slack.url, credential: 'gateway-credential-1' });
  await configure('teams', { kind: 'teams', webhookUrl: teams.url });
});
afterAll(() => Promise.all([stack.close(), slack.close(), teams.close()]));

const configure = (id: string, body: object) => stack.call.ok('PUT', `${root}/adapters/${id}`, body);
const send = (id: string, body: object) => stack.call.ok('POST', `${root}/adapters/${id}/send`, body);
const delivery = async (id: string) =>
  (await stack.call.ok('GET', `${root}/deliveries?deliveryId=${id}`)).deliveries[0];
const ended = (id: string) =>
  eventually(async () => {
    const one = await delivery(id);
    expect(one.state).not.toBe('pending');
    return one;
  });
const postsOf = ({ posted }: TeamChatServer, id: string) =>
  posted.filter(({ headers }) => headers['idempotency-key'] === id);

describe('a message to Slack', () => {
  it('is delivered as blocks, escaped, without what looks like a secret', async () => {
    const title = 'Build';
    const message = `<!channel> a & b\n<b>bold</b> ghp_${'a'.repeat(36)}`;
    const requested = await send('slack', { title, message });
    expect(requested).toMatchObject({ state: 'pending', kind: 'slack', attempts: 0 });
    expect(await ended(requested.id)).toMatchObject({ state: 'delivered', attempts: 1, httpStatus: 200 });
    const [post] = postsOf(slack, requested.id);
    expect(post?.headers.authorization).toBe('Bearer gateway-credential-1');
    const text = '&lt;!channel&gt; a &amp; b\nbold [REDACTED]';
    expect(post?.body).toEqual({
      text: `Build\n${text}`,
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'Build' } },
        { type: 'section', text: { type: 'mrkdwn', text } },
      ],
    });
  });

  it('appears in the audit log when it is requested and when it is delivered, without its text', async () => {
    const { id } = await send('slack', { message: 'audited words' });
    await ended(id);
    const entries = await eventually(async () => {
      const read = (await stack.call.ok('GET', `/api/audit?resource=${id}`)).entries;
      expect(read.map(({ action }: { action: string }) => action)).toEqual([
        'communication.delivered',
        'communication.send',
      ]);
      return read;
    });
    expect(JSON.stringify(entries)).not.toContain('audited words');
  });

  const passing: [string, Responder][] = [
    ['a failure of Slack', slackResponses.rollupError],
    ['an answer of something else than Slack', slackResponses.proxyPage],
    ['a connection that ends', hangUp],
    ['an answer that does not come', silence],
  ];
  it.each(passing)('is sent again under the same id after %s', async (_case, responder) => {
    slack.answer(responder);
    const { id } = await send('slack', { message: 'again' });
    const delivered = await ended(id);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(delivered.reasonCode).toBeUndefined();
    expect(postsOf(slack, id)).toHaveLength(2);
  });

  it('waits as long as a rate limit asks', async () => {
    slack.answer(slackResponses.rateLimited(1));
    const { id } = await send('slack', { message: 'slowly' });
    await eventually(async () =>
      expect(await delivery(id)).toMatchObject({ state: 'pending', reasonCode: 'rate-limited', httpStatus: 429 }),
    );
    const { retryAt, updatedAt } = await delivery(id);
    expect(Date.parse(retryAt) - Date.parse(updatedAt)).toBeGreaterThan(900);
    const { deliveredAt } = await ended(id);
    expect(deliveredAt >= retryAt).toBe(true);
  });

  const final: [string, Responder, object][] = [
    ['an archived channel', slackResponses.archived, { reasonCode: 'gone', httpStatus: 410 }],
    ['a removed webhook', slackResponses.noService, { reasonCode: 'gone', httpStatus: 404 }],
    ['a payload that Slack refuses', slackResponses.invalidPayload, { reasonCode: 'refused', httpStatus: 400 }],
    ['a redirect, which is not followed', slackResponses.redirect, { reasonCode: 'refused', httpStatus: 302 }],
  ];
  it.each(final)('fails at once with %s', async (_case, responder, reason) => {
    slack.answer(responder);
    const { id } = await send('slack', { message: 'refused' });
    expect(await ended(id)).toMatchObject({ state: 'failed', attempts: 1, ...reason });
    expect(postsOf(slack, id)).toHaveLength(1);
  });
});

describe('a message to Teams', () => {
  it('is delivered as an adaptive card, whose texts are shown as they are', async () => {
    const { id } = await send('teams', { title: 'Build', message: '[a](http://b)\nline' });
    expect(await ended(id)).toMatchObject({ state: 'delivered', httpStatus: 202 });
    const { attachments } = postsOf(teams, id)[0]?.body;
    expect(attachments).toMatchObject([{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null }]);
    const { type, body } = attachments[0].content;
    expect(type).toBe('AdaptiveCard');
    expect(body.map((block: any) => block.inlines[0].text)).toEqual(['Build', '[a](http://b)', 'line']); // eslint-disable-line @typescript-eslint/no-explicit-any -- a card of Teams
  });

  it('counts as delivered with the answer of a connector, and not with one that reports a refusal', async () => {
    teams.answer(teamsResponses.connectorRateLimited, teamsResponses.connectorOk);
    const { id } = await send('teams', { message: 'limited' });
    expect(await ended(id)).toMatchObject({ state: 'delivered', attempts: 2, httpStatus: 200 });
  });

  it('fails with a card that Teams refuses', async () => {
    teams.answer(teamsResponses.badCard);
    const { id } = await send('teams', { message: 'bad' });
    expect(await ended(id)).toMatchObject({ state: 'failed', reasonCode: 'refused' });
  });
});

describe('an adapter to a team chat', () => {
  it('is tested without a message', async () => {
    const before = slack.posted.length;
    const health = await stack.call.ok('POST', `${root}/adapters/slack/test`);
    expect(health).toMatchObject({ status: 'healthy', reasonCode: 'reachable', probeRevision: 1 });
    expect(health.checks.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      ['credentials', 'passed'],
      ['reachable', 'passed'],
      ['accepts', 'skipped'],
    ]);
    expect(slack.heads).toHaveLength(1);
    expect(slack.posted).toHaveLength(before);
    expect(JSON.stringify(health)).not.toMatch(/hunter2|signature|gateway-credential/);
  });

  it('is unhealthy where nothing responds, and a message fails once it is disconnected', async () => {
    await configure('away', { kind: 'slack', webhookUrl: 'http://127.0.0.1:1/services/x' });
    expect(await stack.call.ok('POST', `${root}/adapters/away/test`)).toMatchObject({
      status: 'unhealthy',
      reasonCode: 'unreachable',
    });
    const { id } = await send('away', { message: 'lost' });
    await eventually(async () => expect(await delivery(id)).toMatchObject({ reasonCode: 'unreachable' }));
    await stack.call.ok('POST', `${root}/adapters/away/disconnect`);
    expect(await ended(id)).toMatchObject({ state: 'failed', reasonCode: 'adapter-disabled' });
    const health = await stack.call.ok('GET', `${root}/adapters/away/health`);
    expect(health).toMatchObject({ status: 'disabled', runtime: { lastFailure: { reasonCode: 'adapter-disabled' } } });
    expect(await stack.call.post(`${root}/adapters/away/send`, { message: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'ADAPTER_DISABLED' },
    });
  });

  it('is not called on a private network unless that is allowed', async () => {
    const worker = await startStack({ BOARD_RETRY_BACKOFF_MS: '50' });
    try {
      const call = (method: string, path: string, body?: object) => worker.call.ok(method, `${root}${path}`, body);
      const url = `https://127.0.0.1:${new URL(slack.url).port}/services/x`;
      await call('PUT', '/adapters/inside', { kind: 'slack', webhookUrl: url });
      expect(await call('POST', '/adapters/inside/test')).toMatchObject({ reasonCode: 'refused-address' });
      const { id } = await call('POST', '/adapters/inside/send', { message: 'a' });
      await eventually(async () =>
        expect(await call('GET', `/deliveries?deliveryId=${id}`)).toMatchObject({
          deliveries: [{ state: 'failed', reasonCode: 'refused-address' }],
        }),
      );
    } finally {
      await worker.close();
    }
  });

  it('has no secrets and no texts in its histories', async () => {
    const { id } = await send('slack', { message: 'words of this message' });
    await ended(id);
    const history = await stack.temporal.workflow.getHandle(`adapter-delivery/${id}`).fetchHistory();
    expect(JSON.stringify(history)).not.toMatch(/hunter2|gateway-credential|words of this message/);
  });
});

describe('a message that a policy denies', () => {
  it('is neither recorded nor sent', async () => {
    const rules = [{ action: 'communication-message', effect: 'deny' }];
    const { id } = await stack.call.ok('POST', '/api/policies', { name: 'Silence', rules });
    const before = slack.posted.length;
    const answer = await stack.call.post(`${root}/adapters/slack/send`, { message: 'denied' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'POLICY_BLOCKED' } });
    await stack.call.ok('DELETE', `/api/policies/${id}`);
    const { deliveries } = await stack.call.ok('GET', `${root}/deliveries`);
    expect(JSON.stringify(deliveries)).not.toContain('denied');
    expect(slack.posted).toHaveLength(before);
  });
});
