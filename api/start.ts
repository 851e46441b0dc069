import type { Client } from '@temporalio/client';
import type { ApiEnvironment } from '../platform/config/part-settings';
import { secretValues } from '../platform/config/secret-values';
import { callerAddressBehind } from '../platform/http/limits/caller-address';
import { listen, type RunningServer } from '../platform/http/server/server';
import type { Log } from '../platform/log/log';
import { hideOwnSecrets } from '../platform/log/own-secrets';
import { closeAll, type Closer } from '../platform/processes/closers';
import { createApp, requestTimes } from './app';
import { originRulesOf } from './authenticator';
import type { ApiContext } from './context';
import { openContext } from './open-context';
import { FeedHub } from './system/feed/hub';
import { defaultFeedSettings, serveFeed } from './system/feed/routes';
import { createWorkflowClients } from './workflow-clients';

export interface RunningApi {
  readonly url: string;
  readonly port: number;
  readonly context: ApiContext;
  /** Finishes running requests, then closes the board and the stores. */
  close(): Promise<void>;
}

/**
 * Starts one replica of the API in this process.
 *
 * @param client of the Temporal server; without one there are no runs
 * @throws ListenError when the port cannot be had; nothing stays open
 */
export async function startApi(env: ApiEnvironment, log: Log, client?: Client): Promise<RunningApi> {
  const closers: Closer[] = [];
  hideOwnSecrets(secretValues(env));
  try {
    const context = await openContext({ env, log, client }, closers);
    const workflows = client && { ...context, ...createWorkflowClients(context, client) };
    const hub = new FeedHub(context);
    await hub.start();
    closers.push(() => hub.stop());
    const { app, areas } = createApp(context, workflows);
    for (const { start } of areas) {
      if (start) {
        closers.push(await start());
      }
    }
    const server: RunningServer = await listen(app.callback(), {
      host: env.BOARD_HOST,
      port: env.BOARD_PORT,
      setting: 'BOARD_PORT',
      requestTimeoutMs: requestTimes.upload,
      log,
    });
    closers.push(() => server.close());
    closers.push(watchable(server, hub, context));
    return { url: server.url, port: server.port, context, close: () => closeAll(closers, log) };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

/** Serves the feed on the API's port; the closer ends its connections before the server waits for them. */
function watchable(
  { server }: RunningServer,
  hub: FeedHub,
  { env, authenticate, authFailures, watchers, log }: ApiContext,
): Closer {
  const feed = serveFeed(server, {
    hub,
    authenticate,
    authFailures,
    watchers,
    log,
    settings: {
      ...defaultFeedSettings,
      ...originRulesOf(env),
      addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
    },
  });
  return () => feed.close();
}
