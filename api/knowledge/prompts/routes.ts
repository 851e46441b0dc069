import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  maxPrompts,
  prompt,
  promptCreate,
  promptPageQuery,
  promptPatch,
  promptPreview,
  promptQuery,
  promptVersion,
  renderedPrompt,
} from '../../../contracts/knowledge/prompt';
import { renderPrompt } from '../../../domain/prompts/render';
import { validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { recordRoutes } from '../../record-routes';
import { newPrompt, patchedPrompt, present } from './fields';
import { promptUsageRoutes } from './routes.usage';

const tag = 'prompts';
const params = z.strictObject({ id: slug });
const read = { tag, permission: 'settings:read' };

/** Prompts with versions, and what was used of them (specification 1, Mount list). */
export function promptRoutes(routes: Routes, context: Pick<ApiContext, 'prompts' | 'promptUsage'>): void {
  // Before those of one prompt, of which `stats` could be the id.
  promptUsageRoutes(routes, context);

  const prompts = recordRoutes(routes, {
    records: context.prompts,
    resource: 'prompt',
    type: tag,
    path: '/prompt-registry',
    id: 'id',
    params,
    response: prompt,
    permissions: { read: read.permission, write: 'settings:write' },
    max: maxPrompts,
    present,
  });

  prompts.list(
    {
      operationId: 'listPrompts',
      summary: 'List prompts, optionally of one category',
      query: promptQuery,
      response: z.array(prompt),
    },
    (all, { category, ...part }) => {
      const matching = all.filter((one) => category === undefined || one.category === category);
      return slicePage(matching, part, { positionOf: ({ id }) => ({ key: id, id }) }).map(present);
    },
  );

  prompts.get({ operationId: 'getPrompt', summary: 'Read a prompt with its current version' });

  prompts.create(
    { operationId: 'createPrompt', summary: 'Create a prompt', body: promptCreate, audit: { action: 'prompt.create' } },
    newPrompt,
  );

  prompts.patch(
    {
      operationId: 'changePrompt',
      summary: 'Update a prompt; another content is a new version',
      body: promptPatch,
      audit: { action: 'prompt.update', details: (_body, { version }) => ({ version }) },
    },
    patchedPrompt,
  );

  prompts.remove({
    operationId: 'deletePrompt',
    summary: 'Delete a prompt with its versions',
    audit: { action: 'prompt.delete' },
  });

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/prompt-registry/:id/versions',
      operationId: 'listPromptVersions',
      summary: 'List the versions of a prompt, newest first',
      params,
      query: promptPageQuery,
      response: z.array(promptVersion),
    },
    async ({ params: { id }, query }) => {
      const versions = await context.prompts.versionsOf(await prompts.find(id));
      return slicePage(versions, query, {
        positionOf: ({ version }) => ({ key: version, id: String(version) }),
        direction: -1,
      });
    },
  );

  routes.add(
    {
      ...read,
      method: 'post',
      path: '/prompt-registry/:id/render-preview',
      operationId: 'renderPrompt',
      summary: 'Render a prompt with sample values, which are stored nowhere',
      params,
      body: promptPreview,
      response: renderedPrompt,
    },
    async ({ params: { id }, body: { sampleVariables } }) => {
      const rendered = renderPrompt((await prompts.find(id)).content, sampleVariables);
      if (!rendered) {
        throw validationError([{ path: 'sampleVariables', message: 'make the prompt too long' }]);
      }
      return rendered;
    },
  );
}
