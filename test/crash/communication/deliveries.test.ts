import { randomUUID } from 'node:crypto';
import { aChannelId, anIdentity, type RelayServer, startRelay } from '../../support/communication/relay-server';
import { slackResponses, startTeamChat, type TeamChatServer } from '../../support/communication/team-chat-server';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, startService } from '../../support/stack/service';

const root = '/api/integrations/communication';
const us = anIdentity();

describe('kill -9 while messages are delivered', () => {
  let service: Service;
  let relay: RelayServer;
  let slack: TeamChatServer;
  /** What is done while a message is received, before it is answered. */
  let onReceived: () => void = () => undefined;
  const channelId = aChannelId();

  beforeAll(async () => {
    [relay, slack] = await Promise.all([
      startRelay(),
      startTeamChat((response, posted) => {
        onReceived();
        slackResponses.ok(response, posted);
      }),
    ]);
    relay.state.onEvent = () => onReceived();
    service = await startService({
      BOARD_WEBHOOK_ALLOW_PRIVATE: 'true',
      BOARD_RETRY_BACKOFF_MS: '50',
      COMMUNITY_CRASH_KEY: us.privateKey,
    });
    const put = (path: string, body: object) => service.call.ok('PUT', `${root}/adapters/${path}`, body);
    await put('slack', { kind: 'slack', webhookUrl: slack.url });
    await put('garden', {
      ...{ kind: 'community', relayHttpUrl: relay.httpUrl, relayWebSocketUrl: relay.webSocketUrl },
      ...{ publicKey: us.publicKey, credentialRef: 'env:COMMUNITY_CRASH_KEY', allowLocalhost: true },
    });
    await put(`garden/community/channels/${channelId}`, { target: { kind: 'squad' } });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([relay.close(), slack.close()]);
  });

  /** Sends under a key, as callers do who may have to repeat it. */
  const send = (adapter: string, message: string) => {
    const headers = { 'idempotency-key': randomUUID() };
    return persistently(() => service.call.ok('POST', `${root}/adapters/${adapter}/send`, { message }, headers));
  };
  const delivered = (id: string) =>
    persistently(async () => {
      const { deliveries } = await service.call.ok('GET', `${root}/deliveries?deliveryId=${id}`);
      expect(deliveries).toMatchObject([{ state: 'delivered' }]);
      return deliveries[0];
    });
  const killOnce = (part: 'worker' | 'api') => {
    let kills = 0;
    onReceived = () => {
      kills += 1;
      if (kills === 1) {
        killPart(service, part);
      }
    };
    return () => kills;
  };

  it('of the worker, a community has the message once: it is sent again as the same event', async () => {
    const received = killOnce('worker');
    const { id } = await send('garden', 'killed');
    const { externalMessageId, attempts } = await delivered(id);
    expect(attempts).toBeGreaterThan(1);
    expect(received()).toBe(attempts);
    const stored = relay.stored.filter(({ content }) => content === 'killed');
    expect(stored.map((event) => event.id)).toEqual([externalMessageId]);
    const arrived = relay.arrived.filter(({ content }) => content === 'killed');
    expect(new Set(arrived.map((event) => event.id))).toEqual(new Set([externalMessageId]));
  });

  it('of the worker, a team chat gets the message again under the same id', async () => {
    killOnce('worker');
    const { id } = await send('slack', 'killed');
    const { attempts } = await delivered(id);
    const posts = slack.posted.filter(({ body }) => body.text === 'killed');
    expect(attempts).toBeGreaterThan(1);
    expect(posts.map(({ headers }) => headers['idempotency-key'])).toEqual(posts.map(() => id));
  });

  it('of the api right after it has accepted messages, none is lost and none is sent under two ids', async () => {
    onReceived = () => undefined;
    const names = Array.from({ length: 6 }, (_, n) => `burst ${n}`);
    const sent = Promise.all(names.map((name) => send('slack', name)));
    killPart(service, 'api');
    const ids = (await sent).map(({ id }: { id: string }) => id);
    for (const id of ids) {
      await delivered(id);
    }
    const posts = slack.posted.filter(({ body }) => String(body.text).startsWith('burst '));
    expect(new Set(posts.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(ids));
    expect(posts.map(({ body }) => body.text).sort()).toEqual(names);
  });
});
