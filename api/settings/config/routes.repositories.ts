import { z } from 'zod';
import { isBranchName, notABranchName, slug } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import { type Repository, repository, repositoryList, repositoryPatch } from '../../../contracts/settings/repository';
import { assertFound, conflict, notFound, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { isSameJson } from '../../../platform/json/same';
import { slicePage } from '../../../platform/lists/slice';
import { currentOperation } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import type { WorkflowClients } from '../../workflow-clients';
import { assertUsable } from './repository-check';

const tag = 'config';
/** Fields whose change is checked on the hosts that have the repository. */
const checked = ['path', 'hostId', 'remote', 'allowFilters', 'defaultBranch'];

const byName = z.strictObject({ name: slug });
const listQuery = z.strictObject(listPage(1000, 1000));

/** No host can be reached where there is no workflow engine. */
export type RepositoryContext = Pick<ApiContext, 'env' | 'hosts' | 'repositories'> &
  Partial<Pick<WorkflowClients, 'setUpRepository'>>;

/** Refuses a forge that no worker would call with its credential. */
function assertForgeAllowed({ forge }: Pick<Repository, 'forge'>, env: RepositoryContext['env']): void {
  if (forge?.baseUrl?.startsWith('http:') && !env.BOARD_FORGE_ALLOW_PRIVATE) {
    const message = 'must begin with https://, unless BOARD_FORGE_ALLOW_PRIVATE is true';
    throw validationError([{ path: 'forge.baseUrl', message }]);
  }
}

/** Refuses branches that git cannot have. Those that are configured already are read as they are. */
function assertBranchNames({ defaultBranch, mergeBranches = [] }: Partial<Repository>): void {
  const named: [string, string | undefined][] = [['defaultBranch', defaultBranch]];
  named.push(...mergeBranches.map((branch, index): [string, string] => [`mergeBranches.${index}`, branch]));
  const issues = named.flatMap(([path, branch]) =>
    branch === undefined || isBranchName(branch) ? [] : [{ path, message: notABranchName }],
  );
  if (issues.length > 0) {
    throw validationError(issues);
  }
}

/** The git repositories tasks may name. */
export function repositoryRoutes(routes: Routes, context: RepositoryContext): void {
  const { repositories } = context;
  const check = async (repository: Repository): Promise<void> =>
    assertUsable({ hosts: context.hosts, setUp: context.setUpRepository }, repository);

  routes.add(
    {
      method: 'get',
      path: '/config/repos',
      operationId: 'listRepositories',
      summary: 'List configured repositories',
      tag,
      permission: 'settings:read',
      query: listQuery,
      response: repositoryList,
    },
    async ({ query }) => {
      const page = slicePage(await repositories.list(), query, { positionOf: ({ name }) => ({ key: name, id: name }) });
      return page.answer({ repos: page.items });
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/repos',
      operationId: 'addRepository',
      onHosts: true,
      summary: 'Add a repository',
      tag,
      permission: 'settings:write',
      body: repository,
      response: repository,
      status: 201,
      errors: [409, 503],
      audit: ({ body }) => ({ action: 'repository.create', resource: body.name }),
    },
    async ({ body }) => {
      // Its settings are not read again by way of a name that is taken.
      const standing = await repositories.find(body.name);
      // An earlier try of the same request has added it.
      if (standing && currentOperation()?.repeated && isSameJson(standing, body)) {
        return standing;
      }
      if (standing) {
        throw conflict(`The name ${body.name} is already in use.`, { name: body.name });
      }
      assertForgeAllowed(body, context.env);
      assertBranchNames(body);
      await check(body);
      return repositories.add(body);
    },
  );

  routes.add(
    {
      method: 'patch',
      path: '/config/repos/:name',
      operationId: 'changeRepository',
      onHosts: true,
      summary: 'Update a repository',
      tag,
      permission: 'settings:write',
      params: byName,
      body: repositoryPatch,
      response: repository,
      errors: [409, 503],
      audit: ({ params, body }) => ({
        action: 'repository.update',
        resource: params.name,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params, body }) => {
      const former = await repositories.find(params.name);
      assertFound(former, 'repository', params.name);
      assertForgeAllowed(body, context.env);
      assertBranchNames(body);
      if (checked.some((field) => field in body)) {
        await check({ ...former, ...compact(body) });
      }
      const changed = await repositories.change(params.name, body);
      assertFound(changed, 'repository', params.name);
      return changed;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/config/repos/:name/reread',
      operationId: 'rereadRepository',
      onHosts: true,
      summary: 'Record the current git configuration of a repository',
      tag,
      permission: 'settings:write',
      params: byName,
      response: repository,
      errors: [409, 503],
      audit: ({ params }) => ({ action: 'repository.reread', resource: params.name }),
    },
    async ({ params }) => {
      const stored = await repositories.find(params.name);
      assertFound(stored, 'repository', params.name);
      await check(stored);
      return stored;
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/config/repos/:name',
      operationId: 'removeRepository',
      onHosts: true,
      summary: 'Remove a repository from the configuration; its files remain',
      tag,
      permission: 'settings:write',
      params: byName,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'repository.delete', resource: params.name }),
    },
    async ({ params }) => {
      if (!(await repositories.remove(params.name))) {
        throw notFound('repository', params.name);
      }
      return undefined;
    },
  );
}
