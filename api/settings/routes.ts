import { features, featuresPatch, type Features, type FeaturesPatch } from '../../contracts/settings';
import type { HttpContext } from '../../platform/http/context';
import { entityTag, expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import type { FeatureSettings } from '../../stores/settings-store';
import type { ApiContext } from '../context';

const tag = 'settings';

/** The revision travels in headers, so that an answer can be sent back as a patch. */
function answer(ctx: HttpContext, settings: FeatureSettings): Features {
  ctx.set('ETag', entityTag({ type: 'settings', id: 'features', revision: settings.revision }));
  ctx.set('X-Resource-Revision', String(settings.revision));
  return settings.features;
}

/** Settings that take effect while everything runs. */
export function settingsRoutes(routes: Routes, { settings }: Pick<ApiContext, 'settings'>): void {
  routes.add(
    {
      method: 'get',
      path: '/settings/features',
      operationId: 'getFeatureSettings',
      summary: 'Read every feature setting as it holds now',
      tag,
      permission: 'settings:read',
      response: features,
    },
    async (_input, ctx) => answer(ctx, await settings.read()),
  );

  routes.add(
    {
      method: 'patch',
      path: '/settings/features',
      operationId: 'patchFeatureSettings',
      summary: 'Set some feature settings and leave the rest; null takes a ceiling away',
      tag,
      permission: 'settings:write',
      body: featuresPatch,
      response: features,
      errors: [409],
      audit: ({ body }) => ({ action: 'settings.update', details: body }),
    },
    async ({ body, header }, ctx) => {
      const { expectedRevision: bodyRevision, ...patch } = body as FeaturesPatch & { expectedRevision?: number };
      const stated = statedRevisions('settings', 'features', {
        header,
        ...(bodyRevision === undefined ? {} : { bodyRevision }),
      });
      const expected = await expectedRevision(stated, async () => (await settings.read()).revision);
      return answer(ctx, await settings.patch(patch, expected));
    },
  );
}
