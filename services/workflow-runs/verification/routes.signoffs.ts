import { z } from 'zod';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { Database } from '../../../stores/port/collection';
import { usePermission } from '../http/auth';
import { refuse } from '../http/errors';
import { pathPart, requireFound } from '../http/fields';
import { pageFields, pageOf, readPage } from '../http/pages';
import type { VerificationCatalog } from './catalog';
import { commitSha, signoff, signoffRequest } from './signoff';
import { createSignoffStore } from './signoff-store';

const common = { mount: 'root' as const, tag: 'verification', permission: usePermission };
const filters = { control: pathPart.optional(), repository: pathPart.optional(), commit_sha: commitSha.optional() };

/** Adds the routes of signoffs, after opening their store. */
export async function openSignoffs(database: Database, catalog: VerificationCatalog, now: () => Date) {
  const signoffs = await createSignoffStore(database);
  return (routes: Routes): void => {
    routes.add(
      {
        ...common,
        method: 'post',
        path: '/verification/signoffs',
        operationId: 'createSignoff',
        summary: 'Sign off a control for a commit',
        body: signoffRequest,
        response: signoff,
        status: 201,
      },
      async ({ body: { result, status = result ?? 'pending', ...body } }) => {
        if (!(await catalog.control(body.control))) {
          throw refuse(400, 'control: no control has that slug');
        }
        return signoffs.add({ ...body, status }, now());
      },
    );
    routes.add(
      {
        ...common,
        method: 'get',
        path: '/verification/signoffs',
        operationId: 'listSignoffs',
        summary: 'List signoffs, newest first',
        query: z.strictObject({ ...pageFields, ...filters }),
        response: pageOf(signoff),
      },
      async ({ query }) => {
        const { control, repository, commit_sha, ...page } = query;
        const filter = compact({ control, repository, commit_sha });
        return readPage(page, (part) => signoffs.list(filter, part));
      },
    );
    routes.add(
      {
        ...common,
        method: 'get',
        path: '/verification/signoffs/:id',
        operationId: 'getSignoff',
        summary: 'Read a signoff',
        params: z.object({ id: pathPart }),
        response: signoff,
      },
      async ({ params }) => requireFound(await signoffs.get(params.id), 'Signoff'),
    );
  };
}
