import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  type ManagedItem,
  type ManagedItemCreate,
  type ManagedItemPatch,
  managedItemRemoval,
  managedItemUse,
  type ManagedListName,
  managedListOrder,
  managedListQuery,
  managedLists,
} from '../../../contracts/settings/list';
import { AppError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { statedRevision, withRevision } from '../../revisions';
import { plainField } from '../../tasks/tasks/plain-text';
import { findItem, idsFor, reordered, withAdded, withChanged, withRemoved } from './items';
import { countReferences, type ReferenceField } from './references';

type ListContext = Pick<ApiContext, 'board' | 'managedLists'>;

interface ListConfig {
  name: ManagedListName;
  /** What an item is called: in sentences, and in the ids of operations. */
  one: string;
  One: string;
  Many: string;
  field: ReferenceField;
  /** The beginning of the names of its actions in the audit log. */
  audited: string;
}

const configs: readonly ListConfig[] = [
  { name: 'projects', one: 'project', One: 'Project', Many: 'Projects', field: 'project', audited: 'project' },
  { name: 'sprints', one: 'sprint', One: 'Sprint', Many: 'Sprints', field: 'sprint', audited: 'sprint' },
  { name: 'task-types', one: 'task type', One: 'TaskType', Many: 'TaskTypes', field: 'type', audited: 'task-type' },
];

/** Projects, sprints and task types (specification 1, Mount list): three lists that are managed alike. */
export function managedListRoutes(routes: Routes, context: ListContext): void {
  for (const config of configs) {
    listRoutes(routes, context, config);
  }
}

const idParams = z.strictObject({ id: slug });
const now = (): string => operationTime().toISOString();

const plainLabel = <T extends { label?: string }>(fields: T): T =>
  fields.label === undefined ? fields : { ...fields, label: plainField(fields.label, 'label') };

function listRoutes(routes: Routes, { board, managedLists: lists }: ListContext, config: ListConfig): void {
  const { name, one, One, Many, field, audited } = config;
  const contracts = managedLists[name];
  const path = `/${name}`;
  const resourceName = { resource: one };
  const read = { tag: name, permission: 'settings:read' };
  const write = { tag: name, permission: 'settings:write', errors: [409] };

  const find = async (id: string): Promise<ManagedItem> => findItem(await lists.items(name), id, resourceName);
  const stated = (id: string, header: (name: string) => string | undefined): Promise<number | undefined> =>
    statedRevision({ type: name, id, current: () => find(id) }, { header });
  const useOf = (item: ManagedItem) => {
    const referenceCount = countReferences(board, field, item);
    return { allowed: referenceCount === 0, referenceCount, isDefault: item.isDefault ?? false };
  };

  routes.add(
    {
      ...read,
      method: 'get',
      path,
      operationId: `list${Many}`,
      summary: `List ${one}s in order, hidden ones with includeHidden`,
      query: managedListQuery,
      response: z.array(contracts.item),
    },
    async ({ query }) => (await lists.items(name)).filter(({ isHidden }) => query.includeHidden || !isHidden),
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${path}/:id`,
      operationId: `get${One}`,
      summary: `Read a ${one}`,
      params: idParams,
      response: contracts.item,
    },
    async ({ params }, ctx) => withRevision(ctx, name, await find(params.id)),
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${path}/:id/can-delete`,
      operationId: `canDelete${One}`,
      summary: `Check whether tasks refer to a ${one}`,
      params: idParams,
      response: managedItemUse,
    },
    async ({ params }) => useOf(await find(params.id)),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path,
      operationId: `create${One}`,
      summary: `Add a ${one} at the end of the list`,
      body: contracts.create,
      response: contracts.item,
      status: 201,
      audit: (_input, { id, label }) => ({ action: `${audited}.create`, resource: id, details: { label } }),
    },
    async ({ body }, ctx) => {
      const fields: ManagedItemCreate = plainLabel(body);
      const making = { ...resourceName, ids: idsFor(fields.label), at: now() };
      const items = await lists.change(name, (current) => withAdded(current, fields, making));
      return withRevision(ctx, name, findByLabel(items, fields.label, resourceName));
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: `${path}/:id`,
      operationId: `change${One}`,
      summary: `Update a ${one}; tasks that refer to its label keep the old one`,
      params: idParams,
      body: contracts.patch,
      response: contracts.item,
      audit: ({ params, body }) => ({
        action: `${audited}.update`,
        resource: params.id,
        details: { fields: Object.keys(body) },
      }),
    },
    async ({ params: { id }, body, header }, ctx) => {
      const patch: ManagedItemPatch = plainLabel(body);
      const changing = { ...resourceName, at: now(), expectedRevision: await stated(id, header) };
      const items = await lists.change(name, (current) => withChanged(current, id, { patch, ...changing }));
      return withRevision(ctx, name, findItem(items, id, resourceName));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: `${path}/:id`,
      operationId: `delete${One}`,
      summary: `Delete a ${one}; with force also a default or used one`,
      params: idParams,
      query: managedItemRemoval,
      response: z.undefined(),
      status: 204,
      audit: ({ params, query }) => ({
        action: `${audited}.delete`,
        resource: params.id,
        details: { force: query.force },
      }),
    },
    async ({ params: { id }, query, header }) => {
      const expected = { ...resourceName, expectedRevision: await stated(id, header) };
      if (!query.force) {
        assertDeletable(useOf(await find(id)), one);
      }
      await lists.change(name, (current) => withRemoved(current, id, expected));
      return undefined;
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: `${path}/reorder`,
      operationId: `reorder${Many}`,
      summary: `Reorder ${one}s; unlisted ones follow`,
      body: managedListOrder,
      response: z.array(contracts.item),
      audit: ({ body }) => ({ action: `${audited}.reorder`, details: { orderedIds: body.orderedIds } }),
    },
    ({ body }) => lists.change(name, (current) => reordered(current, body.orderedIds)),
  );
}

function findByLabel(items: readonly ManagedItem[], label: string, resourceName: { resource: string }): ManagedItem {
  const id = items.find((item) => item.label === label)?.id ?? label;
  return findItem(items, id, resourceName);
}

function assertDeletable(use: z.output<typeof managedItemUse>, one: string): void {
  if (use.allowed && !use.isDefault) {
    return;
  }
  const why = use.allowed ? 'is a default entry of the board' : 'is used by tasks';
  throw new AppError('VALIDATION_ERROR', {
    status: 400,
    message: `The ${one} ${why}. Hide it, or delete it with force.`,
    details: {
      issues: [{ path: 'force', message: `the ${one} ${why}` }],
      ...use,
    },
  });
}
