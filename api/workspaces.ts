import type { IncomingHttpHeaders } from 'node:http';
import { localWorkspace } from '../contracts/common';
import type { SwitchableFeature } from '../contracts/settings/settings';
import { AppError, conflict, notFound } from '../platform/errors/app-error';
import type { AuthContext } from '../platform/http/auth/auth';
import type { Routes } from '../platform/http/routing/routes';
import type { ServedOperation, WorkspaceDependencies } from '../platform/http/routing/workspaces';
import { closeAll, type Closer } from '../platform/processes/closers';
import type { WorkspaceRegistry } from '../stores/identity/workspace-registry';
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
  /** The routes on these records. */
  routesOf: (context: ApiContext) => Routes;
}

/** What requests of a workspace depend on, besides its routes. */
export const dependenciesOf = ({ settings, recordAudit, idempotencyKeys }: ApiContext): WorkspaceDependencies => ({
  isTurnedOn: async (setting) => (await settings.current())[setting as SwitchableFeature],
  audit: recordAudit,
  idempotencyKeys,
});

/** The workspaces besides `local` that this process serves: each is opened by its first request, once, and one at a time. */
export function createWorkspaces({ local, registry, open, routesOf }: WorkspaceSources) {
  const { log } = local;
  const opened = new Map<string, Promise<OpenWorkspace>>();
  const closers: Closer[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  let closing = false;

  /** @throws AppError 404 when there is no such workspace */
  async function assertExists(workspaceId: string): Promise<void> {
    if (!opened.has(workspaceId) && !(await registry.exists(workspaceId))) {
      throw notFound('workspace', workspaceId);
    }
  }

  /** @throws AppError 404 */
  function of(workspaceId: string): Promise<OpenWorkspace> {
    const known = opened.get(workspaceId);
    if (known) {
      return known;
    }
    const opening = turn.then(() => openOne(workspaceId));
    turn = opening.catch(() => undefined);
    opened.set(workspaceId, opening);
    // One that cannot be opened is tried again by the next request.
    opening.catch(() => opened.delete(workspaceId));
    return opening;
  }

  async function openOne(workspaceId: string): Promise<OpenWorkspace> {
    if (closing || !(await registry.exists(workspaceId))) {
      throw notFound('workspace', workspaceId);
    }
    const own: Closer[] = [];
    try {
      const context = await open(workspaceId, own);
      const hub = new FeedHub(context);
      own.push(() => hub.stop());
      await hub.start();
      closers.push(() => closeAll(own, log));
      return { context, hub, routes: routesOf(context) };
    } catch (error) {
      await closeAll(own, log);
      throw error;
    }
  }

  async function operationOf({ workspaceId }: AuthContext, operationId: string): Promise<ServedOperation> {
    const { context, routes } = await of(workspaceId);
    const entry = routes.find(operationId);
    if (!entry) {
      throw conflict(
        `${operationId} needs runs or other workflows, which the workspace ${workspaceId} does not have.`,
        { workspaceId, operationId, remediation: `Only the workspace ${localWorkspace} has them.` },
        'WORKSPACE_WITHOUT_WORKFLOWS',
      );
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
      if (workspaceId !== localWorkspace) {
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

    async close(): Promise<void> {
      closing = true;
      await turn;
      await closeAll(closers, log);
    },
  };
}

export type OpenWorkspaces = ReturnType<typeof createWorkspaces>;
