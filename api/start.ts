import type { Client } from '@temporalio/client';
import { localWorkspace } from '../contracts/common';
import type { ApiEnvironment } from '../platform/config/part-settings';
import { secretValues } from '../platform/config/secret-values';
import { callerAddressBehind } from '../platform/http/limits/caller-address';
import { listen, type RunningServer } from '../platform/http/server/server';
import type { Log } from '../platform/log/log';
import { hideOwnSecrets } from '../platform/log/own-secrets';
import { closeAll, type Closer } from '../platform/processes/closers';
import { registryOf, type WorkspaceRegistry } from '../stores/identity/workspace-registry';
import { createApp, requestTimes } from './app';
import { originRulesOf } from './authenticator';
import type { ApiContext } from './context';
import { redeemTicket } from './identity/sessions/ws-tickets';
import { openContext } from './open-context';
import { FeedHub } from './system/feed/hub';
import { defaultFeedSettings, serveFeed } from './system/feed/routes';
import { openPage } from './system/index/page';
import { createWorkflowClients } from './workflow-clients';
import type { OpenWorkspaces } from './workspaces';

export interface RunningApi {
  readonly url: string;
  readonly port: number;
  readonly context: ApiContext;
  /** Finishes running requests, then closes the board and the stores. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Of the Temporal server; without one there are no runs. */
  client?: Client | undefined;
  /** Which workspaces there are besides `local`; those that were created when absent. */
  registry?: WorkspaceRegistry | undefined;
}

/**
 * Starts one replica of the API in this process.
 *
 * @throws ListenError when the port cannot be had; nothing stays open
 */
export async function startApi(
  env: ApiEnvironment,
  log: Log,
  { client, registry }: StartOptions = {},
): Promise<RunningApi> {
  const closers: Closer[] = [];
  hideOwnSecrets(secretValues(env));
  try {
    const context = await openContext({ env, log, client }, closers);
    const hub = new FeedHub(context);
    await hub.start();
    closers.push(() => hub.stop());
    const { app, areas, workspaces } = createApp(context, {
      connect: client && ((own) => createWorkflowClients(own, client)),
      registry: registry ?? registryOf(context.workspaces),
      page: await openPage(context),
    });
    closers.push(() => workspaces.close());
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
    closers.push(watchable(server, { hub, workspaces }, context));
    closers.push(openRegularly(workspaces));
    return { url: server.url, port: server.port, context, close: () => closeAll(closers, log) };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

/** Serves the feed on the API's port; the closer ends its connections before the server waits for them. */
function watchable(
  { server }: RunningServer,
  { hub, workspaces }: { hub: FeedHub; workspaces: OpenWorkspaces },
  { env, identify, wsTickets, authFailures, watchers, log }: ApiContext,
): Closer {
  const feed = serveFeed(server, {
    enter: async (caller, headers, workspaceId) => {
      const auth = await (workspaceId === undefined
        ? workspaces.enter(caller, headers)
        : workspaces.entered(caller, workspaceId));
      return { auth, hub: auth.workspaceId === localWorkspace ? hub : (await workspaces.of(auth.workspaceId)).hub };
    },
    identify,
    redeemTicket: (ticket) => redeemTicket(wsTickets, ticket),
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

/** How soon a workspace that another process has made is opened without a request, in milliseconds. */
const openEveryMs = 60_000;

/** Opens the workspaces besides `local` now and every minute: their hooks are called without a request to them. */
function openRegularly(workspaces: OpenWorkspaces): Closer {
  let round: Promise<void> | undefined;
  const open = () => {
    round ??= workspaces.openAll().finally(() => (round = undefined));
  };
  open();
  const timer = setInterval(open, openEveryMs);
  return async () => {
    clearInterval(timer);
    await round;
  };
}
