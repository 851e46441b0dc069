import { localWorkspace } from '../../../contracts/common';
import { type Features, features, type FeaturesPatch, featuresPatch } from '../../../contracts/settings/settings';
import { conflict } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import type { FeatureSettings } from '../../../stores/settings/settings-store';
import type { ApiContext } from '../../context';
import { setRevision, settingResource, statedRevision } from '../../revisions';

const tag = 'settings';
const setting = settingResource('features');

/** The revision travels in headers, so that a response can be sent back as a patch. */
function answer(ctx: HttpContext, settings: FeatureSettings): Features {
  setRevision(ctx, { ...setting, revision: settings.revision });
  return settings.features;
}

/** Settings that take effect while everything runs. */
export function settingsRoutes(
  routes: Routes,
  { settings, workspaceId }: Pick<ApiContext, 'settings' | 'workspaceId'>,
): void {
  routes.add(
    {
      method: 'get',
      path: '/settings/features',
      operationId: 'getFeatureSettings',
      summary: 'Read all feature settings',
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
      summary: 'Update feature settings; null removes a ceiling',
      tag,
      permission: 'settings:write',
      body: featuresPatch,
      response: features,
      errors: [409],
      audit: ({ body }) => ({ action: 'settings.update', details: body }),
    },
    async ({ body, header }, ctx) => {
      const { expectedRevision: bodyRevision, ...patch } = body as FeaturesPatch & { expectedRevision?: number };
      await assertOwn(patch, { settings, workspaceId });
      const expected = await statedRevision({ ...setting, current: () => settings.read() }, { header, bodyRevision });
      return answer(ctx, await settings.patch(patch, expected));
    },
  );
}

/** @throws AppError 409 for a change of settings that all workspaces have in common, elsewhere than in `local` */
async function assertOwn(
  patch: FeaturesPatch,
  { settings, workspaceId }: Pick<ApiContext, 'settings' | 'workspaceId'>,
): Promise<void> {
  const common = await settings.commonChangedBy(patch);
  if (common.length === 0) {
    return;
  }
  throw conflict(
    `Capacity and credentials are those of all workspaces: ${common.join(' and ')} is set in ${localWorkspace}.`,
    { workspaceId, settings: common },
    'INSTALLATION_SETTING',
  );
}
