import type { IncomingHttpHeaders } from 'node:http';
import { localWorkspace } from '../contracts/common';
import type { SwitchableFeature } from '../contracts/settings/settings';
import { createCompatProfile } from '../domain/compat/profile';
import { AppError, errorMessage, notFound } from '../platform/errors/app-error';
import type { AuthContext } from '../platform/http/auth/auth';
import { createRoutes, type Routes } from '../platform/http/routing/routes';
import type { ServedOperation, WorkspaceDependencies } from '../platform/http/routing/workspaces';
import { createOpenedOnce } from '../platform/operations/opened-once';
import type { Closer } from '../platform/processes/closers';
import type { WorkspaceRegistry } from '../stores/identity/workspace-registry';
import type { ServedArea } from './areas';
import type { ApiContext } from './context';
import { FeedHub } from './system/feed/hub';
import { workspaceHeader } from './workspace-header';

/** What one process has of a workspace. */
export interface OpenWorkspace {
  context: ApiContext;
  /** What it serves, on its own records. */
  routes: Routes;
  hub: FeedHub;
}

interface WorkspaceSources {
  local: ApiContext;
  registry: WorkspaceRegistry;
  /** Opens the records of a workspace; what was opened is left to the closers. */
  open: (workspaceId: string, closers: Closer[]) => Promise<ApiContext>;
  /** What is served on these records, and what is done with them in the background. */
  areasOf: (context: ApiContext) => ServedArea[];
}

/** What requests of a workspace depend on, besides its routes. */
export const dependenciesOf = ({
  settings,
  recordAudit,
  idempotencyKeys,
  worktrees,
}: ApiContext): WorkspaceDependencies => ({
  isTurnedOn: async (setting) => (await settings.current())[setting as SwitchableFeature],
  audit: recordAudit,
  idempotencyKeys,
  profile: createCompatProfile((taskIds) => worktrees.ofTasks(taskIds)),
});

/** The routes of areas. */
export function routesOf(areas: ServedArea[]): Routes {
  const routes = createRoutes();
  for (const { addRoutes } of areas) {
    addRoutes(routes);
  }
  return routes;
}

/** The workspaces besides `local` that this process serves: each is opened when it is first needed, once, and one at a time. */
export function createWorkspaces({ local, registry, open, areasOf }: WorkspaceSources) {
  const opened = createOpenedOnce<OpenWorkspace>(async (workspaceId, closers) => {
    await assertExists(workspaceId);
    const context = await open(workspaceId, closers);
    const hub = new FeedHub(context);
    closers.push(() => hub.stop());
    await hub.start();
    const areas = areasOf(context);
    for (const { start } of areas) {
      if (start) {
        closers.push(await start());
      }
    }
    return { context, hub, routes: routesOf(areas) };
  }, local.log);

  /** @throws AppError 404 when there is no such workspace */
  async function assertExists(workspaceId: string): Promise<void> {
    if (!(await registry.exists(workspaceId))) {
      throw notFound('workspace', workspaceId);
    }
  }

  /** @throws AppError 404 */
  const of = (workspaceId: string): Promise<OpenWorkspace> => opened.of(workspaceId);

  async function operationOf(caller: AuthContext, operationId: string): Promise<ServedOperation> {
    const { context, routes } = await of(caller.workspaceId);
    const entry = routes.find(operationId);
    if (!entry) {
      throw new Error(`${operationId} is served in ${localWorkspace} and not in ${caller.workspaceId}.`);
    }
    if (entry.contract.onHosts && caller.administersInstallation !== true) {
      throw new AppError('FORBIDDEN', {
        status: 403,
        message: 'Hosts execute what this configures: outside of local it is for administrators of the installation.',
        details: { workspaceId: caller.workspaceId, operationId },
      });
    }
    return { ...entry, ...dependenciesOf(context) };
  }

  return {
    of,

    /** @throws AppError 403 for a caller who is bound to a workspace; 404 */
    async entered(caller: AuthContext, workspaceId: string): Promise<AuthContext> {
      if (caller.workspaceId === workspaceId) {
        return caller;
      }
      if (caller.administersInstallation !== true) {
        throw new AppError('FORBIDDEN', {
          status: 403,
          message: `Only an administrator of the installation chooses a workspace with ${workspaceHeader}.`,
          details: { workspaceId: caller.workspaceId },
        });
      }
      if (workspaceId !== localWorkspace && !opened.has(workspaceId)) {
        await assertExists(workspaceId);
      }
      return { ...caller, workspaceId };
    },

    enter(caller: AuthContext, headers: IncomingHttpHeaders): AuthContext | Promise<AuthContext> {
      const named = headers[workspaceHeader.toLowerCase()];
      return typeof named === 'string' ? this.entered(caller, named) : caller;
    },

    serve: (caller: AuthContext, operationId: string) =>
      caller.workspaceId === localWorkspace ? undefined : operationOf(caller, operationId),

    /** Opens all of them, so that what is done in the background begins without a request. */
    async openAll(): Promise<void> {
      for (const workspaceId of await registry.list()) {
        await of(workspaceId).catch((error: unknown) =>
          local.log.error({ workspaceId, error: errorMessage(error) }, 'workspace not available'),
        );
      }
    },

    close: () => opened.close(),
  };
}

export type OpenWorkspaces = ReturnType<typeof createWorkspaces>;
