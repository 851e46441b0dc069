import { z } from 'zod';
import { githubStatus } from '../../../contracts/integrations/forge';
import { listPage } from '../../../contracts/query';
import { apiUrlOf } from '../../../domain/forges/forge-address';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { WorkflowContext } from '../../context';
import { hasForge, type RepositoryWithForge } from '../with-forge';

const statusQuery = z.strictObject(listPage(20, 50));

const remedy = 'No repository has a forge: set forge with PATCH /api/config/repos/:name.';
const unchecked = 'No worker of the board responded, and only a worker has the credential.';

/** What is configured of forges, and whether it works. */
export function githubStatusRoutes(
  routes: Routes,
  { repositories, checkForge, now }: Pick<WorkflowContext, 'repositories' | 'checkForge' | 'now'>,
): void {
  const statusOf = async ({ name: repo, forge }: RepositoryWithForge) => {
    const { kind, repository, credential } = forge;
    const result = await checkForge(repo, forge);
    const found = result ?? {
      state: 'unchecked' as const,
      login: null,
      mayPush: null,
      message: unchecked,
      checkedAt: now().toISOString(),
    };
    return { repo, kind, repository, baseUrl: apiUrlOf(forge), credential, ...found };
  };

  routes.add(
    {
      method: 'get',
      path: '/github/status',
      operationId: 'getGithubStatus',
      summary: 'Read the forges of repositories and whether their credentials work',
      tag: 'github',
      permission: 'settings:read',
      query: statusQuery,
      response: githubStatus,
    },
    async ({ query }) => {
      const configured = (await repositories.list()).filter(hasForge);
      const page = slicePage(configured, query, { positionOf: ({ name }) => ({ key: name, id: name }) });
      return page.answer({
        configured: configured.length > 0,
        remedy: configured.length > 0 ? null : remedy,
        repositories: await Promise.all(page.items.map(statusOf)),
      });
    },
  );
}
