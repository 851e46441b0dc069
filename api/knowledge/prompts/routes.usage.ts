import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { promptPageQuery, promptStats, promptUsage, promptUsageCreate } from '../../../contracts/knowledge/prompt';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { Page } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { PromptFields } from '../../../stores/knowledge/prompt-store';
import type { Recorded } from '../../../stores/port/configured-records';
import type { ApiContext } from '../../context';

const params = z.strictObject({ id: slug });
const read = { tag: 'prompts', method: 'get' as const, permission: 'settings:read' };

/** What was used of prompts, as their users report it. */
export function promptUsageRoutes(
  routes: Routes,
  { prompts, promptUsage: usage }: Pick<ApiContext, 'prompts' | 'promptUsage'>,
): void {
  const find = async (id: string): Promise<PromptFields & Recorded> => {
    const found = await prompts.get(id);
    assertFound(found, 'prompt', id);
    return found;
  };
  const statsOf = async ({ id, uid, version }: PromptFields & Recorded) => ({
    promptId: id,
    version,
    ...(await usage.sums(uid)),
  });

  routes.add(
    {
      ...read,
      path: '/prompt-registry/stats/all',
      operationId: 'listPromptStats',
      summary: 'List how often each prompt was used, by prompt',
      query: promptPageQuery,
      response: z.array(promptStats),
    },
    async ({ query }) => {
      const page = slicePage(await prompts.list(), query, { positionOf: ({ id }) => ({ key: id, id }) });
      return new Page(await Promise.all(page.items.map(statsOf)), page.next);
    },
  );

  routes.add(
    {
      ...read,
      path: '/prompt-registry/:id/stats',
      operationId: 'getPromptStats',
      summary: 'Read how often a prompt was used',
      params,
      response: promptStats,
    },
    async ({ params: { id } }) => statsOf(await find(id)),
  );

  routes.add(
    {
      ...read,
      path: '/prompt-registry/:id/usage',
      operationId: 'listPromptUsage',
      summary: 'List the uses of a prompt, newest first',
      params,
      query: promptPageQuery,
      response: z.array(promptUsage),
    },
    async ({ params: { id }, query }) => usage.list((await find(id)).uid, query),
  );

  routes.add(
    {
      tag: 'prompts',
      method: 'post',
      permission: 'telemetry:write',
      path: '/prompt-registry/:id/record-usage',
      operationId: 'recordPromptUsage',
      summary: 'Record a use of the current version of a prompt',
      params,
      body: promptUsageCreate,
      response: promptUsage,
      status: 201,
    },
    async ({ params: { id }, body, auth: { tokenName } }) => {
      const { uid, version } = await find(id);
      const { usedBy = tokenName, ...reported } = body;
      return usage.record({ ...compact(reported), usedBy, promptId: id, uid, version });
    },
  );
}
