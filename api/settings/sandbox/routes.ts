import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import {
  sandboxPreset,
  sandboxPresetCreate,
  sandboxPresetList,
  sandboxPresetUpdate,
  sandboxQuestion,
  sandboxVerdict,
} from '../../../contracts/settings/sandbox';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { recordRoutes } from '../../record-routes';
import { validatePreset, type ValidationContext } from './validate';

const listQuery = z.strictObject(listPage(1000, 1000));
const type = 'sandbox-presets';

/** What runs may reach, as presets that launches name with `sandboxPresetId` (specification 2, Policies). */
export function sandboxRoutes(routes: Routes, context: ValidationContext): void {
  const { sandboxes } = context;
  const presets = recordRoutes(routes, {
    records: sandboxes,
    resource: 'sandbox preset',
    type,
    resourceType: type,
    path: '/sandbox-policies',
    id: 'id',
    params: z.strictObject({ id: slug }),
    response: sandboxPreset,
    tag: 'sandbox',
    permissions: { read: 'policy:read', write: 'policy:write' },
    present: (preset) => preset,
    takenDetails: (id) => ({ id }),
  });

  presets.list(
    {
      operationId: 'listSandboxPresets',
      summary: 'List sandbox presets',
      query: listQuery,
      response: sandboxPresetList,
    },
    (all, query) => {
      const page = slicePage(all, query, { positionOf: ({ id }) => ({ key: id, id }) });
      return page.answer({ presets: page.items });
    },
  );

  presets.create(
    {
      operationId: 'createSandboxPreset',
      summary: 'Create a sandbox preset',
      body: sandboxPresetCreate,
      audit: { action: 'sandbox-preset.create' },
    },
    ({ id, ...fields }) => ({ id: id ?? idFrom(fields.name), fields }),
  );

  presets.get({ operationId: 'getSandboxPreset', summary: 'Read a sandbox preset' });

  presets.replace(
    {
      operationId: 'putSandboxPreset',
      summary: 'Replace a sandbox preset; existing runs keep theirs',
      body: sandboxPresetUpdate,
      audit: { action: 'sandbox-preset.update' },
    },
    (fields) => fields,
  );

  presets.remove({
    operationId: 'removeSandboxPreset',
    summary: 'Delete a sandbox preset',
    audit: { action: 'sandbox-preset.delete' },
  });

  routes.add(
    {
      method: 'post',
      path: '/sandbox-policies/validate',
      operationId: 'validateSandboxPreset',
      summary: 'Validate a sandbox preset against what a provider enforces; nothing is launched',
      tag: 'sandbox',
      permission: 'agent:read',
      body: sandboxQuestion,
      response: sandboxVerdict,
      errors: [404, 409],
    },
    ({ body }) => validatePreset(context, body),
  );
}

/** A readable id from a name. @throws AppError 400 when the name has no usable character */
function idFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '');
  if (id !== '') {
    return id;
  }
  throw validationError([
    { path: 'id', message: 'is required: it cannot be derived from a name without letters or digits' },
  ]);
}
