import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type TaskWorkProductCreate,
  taskWorkProductCreate,
  taskWorkProductQuery,
  workProduct,
  workProductContent,
  workProductCreate,
  workProductLimits,
  workProductParams,
  workProductPatch,
  workProductQuery,
} from '../../../contracts/tasks/work-product';
import { assertFound, conflict, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import type { Closer } from '../../../platform/processes/closers';
import type { WorkProductRecord } from '../../../stores/tasks/work-product-store';
import type { ApiContext } from '../../context';
import { withRevision } from '../../revisions';
import { attemptOfTask } from '../../runs/attempts/attempt';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { assertExpected, assertFormat, asStored, changeProduct, patched, resourceType, type } from './change';
import { present, resource, withContent } from './present';
import { workProductVersionRoutes } from './routes.versions';

const tag = 'work-products';
const path = '/work-products';
const taskPath = '/tasks/:taskId/work-products';
const taskParams = z.strictObject({ taskId });
const read = { method: 'get' as const, tag, permission: 'work_product:read' };
const write = { tag, permission: 'work_product:write', errors: [404, 409] };
const creating = {
  ...write,
  method: 'post' as const,
  response: workProductContent,
  status: 201 as const,
};

export type WorkProductsContext = Pick<ApiContext, 'attempts' | 'board' | 'log' | 'workProducts'>;

/** Results of tasks and their runs, with versions (supplement 10.25). */
export function workProductRoutes(routes: Routes, context: WorkProductsContext): void {
  const { workProducts } = context;

  routes.add(
    {
      ...read,
      path,
      operationId: 'listWorkProducts',
      summary: 'List work products without their content, newest first',
      query: workProductQuery,
      response: z.array(workProduct),
    },
    async ({ query }) => (await workProducts.page(query)).map(present),
  );

  routes.add(
    {
      ...read,
      path: taskPath,
      operationId: 'listTaskWorkProducts',
      summary: 'List work products of a task without their content, newest first',
      params: taskParams,
      query: taskWorkProductQuery,
      response: z.array(workProduct),
      errors: [404],
    },
    async ({ params: { taskId: id }, query }) => {
      assertFound(await context.board.get(id), 'task', id);
      return (await workProducts.page({ ...query, taskId: id })).map(present);
    },
  );

  const audit = (_input: unknown, { id, taskId: about, title }: z.output<typeof workProduct>) => ({
    action: 'work-product.create',
    resource: id,
    details: { taskId: about, title },
  });

  routes.add(
    {
      ...creating,
      path,
      operationId: 'createWorkProduct',
      summary: 'Create a work product of a task',
      body: workProductCreate,
      audit,
    },
    async ({ body: { taskId: about, ...body }, auth }, ctx) => {
      const record = await create(context, { taskId: about, actor: auth.actor, body });
      return { ...present(withProductRevision(ctx, record)), content: body.content };
    },
  );

  routes.add(
    {
      ...creating,
      path: taskPath,
      operationId: 'createTaskWorkProduct',
      summary: 'Create a work product of the task in the path',
      params: taskParams,
      body: taskWorkProductCreate,
      audit,
    },
    async ({ params, body, auth }, ctx) => {
      const record = await create(context, { ...params, actor: auth.actor, body });
      return { ...present(withProductRevision(ctx, record)), content: body.content };
    },
  );

  routes.add(
    {
      ...read,
      path: `${path}/:id`,
      operationId: 'getWorkProduct',
      summary: 'Read a work product with its newest content',
      params: workProductParams,
      response: workProductContent,
      errors: [404, 410],
    },
    async ({ params: { id } }, ctx) => {
      const record = await workProducts.get(id);
      assertFound(record, resource, id);
      return withContent(workProducts, withProductRevision(ctx, record));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: `${path}/:id`,
      operationId: 'changeWorkProduct',
      summary: 'Update a work product; another content or format is a new version',
      params: workProductParams,
      body: workProductPatch,
      response: workProductContent,
      errors: [404, 409, 410],
      audit: ({ params: { id } }, { version, revision }) => ({
        action: 'work-product.update',
        resource: id,
        details: { version, revision },
      }),
    },
    async ({ params: { id }, body, header, auth }, ctx) => {
      const { expectedRevision: bodyRevision, ...rest } = body;
      const patch = { ...rest, ...compact({ title: rest.title && plainField(rest.title, 'title') }) };
      const writing = { id, stated: { header, ...compact({ bodyRevision }) }, actor: auth.actor };
      const record = await changeProduct(workProducts, writing, (current) => patched(workProducts, current, patch));
      return withContent(workProducts, withProductRevision(ctx, record));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: `${path}/:id`,
      operationId: 'deleteWorkProduct',
      summary: 'Delete a work product with its versions',
      params: workProductParams,
      response: z.undefined(),
      status: 204,
      audit: ({ params: { id } }) => ({ action: 'work-product.delete', resource: id }),
    },
    async ({ params: { id }, header }) => {
      const record = await workProducts.get(id);
      assertFound(record, resource, id);
      const expected = await assertExpected(record, { header });
      if (await workProducts.remove(id, expected)) {
        return undefined;
      }
      const current = await workProducts.get(id);
      throw current ? await staleOf(current, header) : notFound(resource, id);
    },
  );

  workProductVersionRoutes(routes, context);
}

/** Sets the headers with the revision of a record, and returns it. */
export function withProductRevision(
  ctx: Parameters<typeof withRevision>[0],
  record: WorkProductRecord,
): WorkProductRecord {
  withRevision(ctx, type, { id: record._id, revision: record.revision });
  return record;
}

/** The refusal of a deletion that another change came before. */
const staleOf = (current: WorkProductRecord, header: (name: string) => string | undefined): Promise<Error> =>
  assertExpected(current, { header }).then(
    () => conflict('It was changed meanwhile. Try again.', { resourceType, resourceId: current._id }),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );

interface Creation {
  taskId: string;
  actor: string;
  body: TaskWorkProductCreate;
}

/** @throws AppError 400, 404 for no task or no attempt of it, 409 when the task has too many */
async function create(
  context: WorkProductsContext,
  { taskId: about, actor, body: { title, kind, summary, attemptId, ...version } }: Creation,
): Promise<WorkProductRecord> {
  const { board, workProducts } = context;
  const plain = plainField(title, 'title');
  assertFormat(version);
  assertFound(await board.get(about), 'task', about);
  if (attemptId !== undefined) {
    await attemptOfTask(context, about, attemptId);
  }
  const _id = newItemId('product');
  const at = operationTime().toISOString();
  const record: WorkProductRecord = compact({
    ...{ _id, taskId: about, attemptId, title: plain, kind, summary },
    versions: [asStored(version, { id: newItemId('productversion'), version: 1, actor })],
    ...{ revision: 1, createdAt: at, createdBy: actor, updatedAt: at, updatedBy: actor },
  });
  if (!(await workProducts.add(record, version.content))) {
    throw conflict(`A task has at most ${workProductLimits.ofTask} work products; delete some first.`, {
      resourceType,
      taskId: about,
    });
  }
  await workProducts.settle();
  return record;
}

/** Deletes the content of changes that a killed process had begun. */
export async function settleWorkProducts({ workProducts, log }: WorkProductsContext): Promise<Closer> {
  const deleted = await workProducts.settle();
  if (deleted > 0) {
    log.info({ deleted }, 'content of interrupted work product changes deleted');
  }
  return () => Promise.resolve();
}
