import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  branchQuery,
  type Repository,
  repositoryBranches,
  type RepositoryCandidate,
  repositoryCandidate,
  repositoryValidation,
} from '../../../contracts/settings/repository';
import { AppError, assertFound, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { Page } from '../../../platform/lists/page';
import type { ApiContext } from '../../context';
import { hostUnavailable } from '../../live-host';
import { refusalError } from '../../refusal-error';
import type { WorkflowClients } from '../../workflow-clients';
import { firstUsable, hostsToAsk } from './repository-check';

const tag = 'config';
const writing = 'settings:write';
const byName = z.strictObject({ name: slug });

/** No host can be reached where there is no workflow engine. */
export type RepositoryViewContext = Pick<ApiContext, 'hosts' | 'repositories'> &
  Partial<Pick<WorkflowClients, 'inspectRepository' | 'listBranches'>>;

/** What hosts find out about repositories, and record nowhere. */
export function repositoryViewRoutes(routes: Routes, context: RepositoryViewContext): void {
  const { hosts, repositories, inspectRepository, listBranches } = context;

  routes.add(
    {
      method: 'post',
      path: '/config/repos/validate',
      operationId: 'validateRepository',
      onHosts: true,
      summary: 'Validate a repository on its host; nothing is stored',
      tag,
      permission: 'settings:read',
      body: repositoryCandidate,
      response: repositoryValidation,
      errors: [409, 503],
    },
    async ({ body, auth }) => {
      const { name, path, remote = null, allowFilters = [], defaultBranch } = body;
      const standing = await repositories.list();
      const mayProbe = auth.permissions.includes(writing);
      if (!mayProbe && !standing.some((repository) => isAt(repository, body))) {
        throw mayNotProbe(auth);
      }
      const asked = await liveHosts(hosts, body.hostId, 'inspect a repository');
      if (!inspectRepository) {
        throw hostUnavailable(body.hostId, 'inspect a repository');
      }
      const { hostId, inspected } = await firstUsable(
        asked.map(async (id) => ({
          hostId: id,
          inspected: await inspectRepository({
            hostId: id,
            path,
            remote,
            allowFilters,
            defaultBranch,
            askRemotes: mayProbe,
          }),
        })),
        (answer) => answer.inspected.problems.length === 0,
      );
      const isTaken = standing.some((repository) => repository.name === name);
      const ofName = isTaken ? [{ field: 'name' as const, message: `The name ${name} is already in use.` }] : [];
      const problems = [...ofName, ...inspected.problems];
      const { head, remotes } = inspected;
      return compact({
        valid: problems.length === 0,
        hostId,
        problems,
        head,
        defaultBranch: head && defaultBranch,
        remotes,
      });
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/config/repos/:name/branches',
      operationId: 'listRepositoryBranches',
      summary: 'List branches of a repository, with those of its remotes as fetched last',
      tag,
      permission: 'settings:read',
      params: byName,
      query: branchQuery,
      response: repositoryBranches,
      errors: [404, 409, 503],
    },
    async ({ params: { name }, query: { limit, cursor, hostId: requested } }) => {
      const repository = await repositories.find(name);
      assertFound(repository, 'repository', name);
      const { path, defaultBranch } = repository;
      if (requested !== undefined && repository.hostId !== undefined && requested !== repository.hostId) {
        throw validationError([{ path: 'hostId', message: `the repository is on the host ${repository.hostId}` }]);
      }
      const wanted = repository.hostId ?? requested;
      const asked = await liveHosts(hosts, wanted, 'list branches');
      if (!listBranches) {
        throw hostUnavailable(wanted, 'list branches');
      }
      const position = cursor && { key: cursor.key, id: cursor.id };
      const { hostId, listed } = await firstUsable(
        asked.map(async (id) => ({
          hostId: id,
          listed: await listBranches(compact({ hostId: id, path, limit, cursor: position })),
        })),
        (answer) => !('status' in answer.listed),
      );
      if ('status' in listed) {
        throw refusalError(listed);
      }
      const branches = listed.branches.map((branch) => ({ ...branch, isDefault: branch.name === defaultBranch }));
      const page = new Page(branches, listed.next);
      return page.answer({ repo: name, hostId, defaultBranch, branches: page.items, unlisted: listed.unlisted });
    },
  );
}

/** @throws AppError 400 for an unknown host; 409 `HOST_UNAVAILABLE` where none is live */
async function liveHosts(hosts: ApiContext['hosts'], hostId: string | undefined, purpose: string): Promise<string[]> {
  const asked = await hostsToAsk(hosts, hostId);
  if (asked.length === 0) {
    throw hostUnavailable(hostId, purpose);
  }
  return asked;
}

/** Whether a path, on a host or on any, is that of a configured repository. */
const isAt = ({ path, hostId }: Repository, candidate: RepositoryCandidate): boolean =>
  path === candidate.path && (hostId === undefined || hostId === candidate.hostId);

/** The answer for any path would show what there is on the disks of hosts to callers who may add nothing. */
const mayNotProbe = (auth: AuthContext) =>
  new AppError('FORBIDDEN', {
    status: 403,
    message: `Without ${writing} only paths of configured repositories are validated.`,
    details: { required: [writing], currentRole: auth.role, currentPermissions: auth.permissions },
  });
