import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  maxTrackerProfiles,
  trackerDryRun,
  trackerDryRunResult,
  trackerProfile,
  type TrackerProfileFields,
  trackerProfilePut,
  trackerProfiles,
  trackerValidation,
} from '../../../contracts/integrations/trackers/profile';
import type { TrackerSchema } from '../../../contracts/integrations/trackers/tracker';
import { mapTask } from '../../../domain/trackers/map-task';
import { validateProfile } from '../../../domain/trackers/validate-profile';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { createRecordEditor } from '../../record-editor';
import { withRevision } from '../../revisions';
import { plainField } from '../../tasks/tasks/plain-text';
import { schemaOf, type TrackerContext, trackerPath, trackerTag } from './context';

const type = 'tracker-profiles';
const params = z.strictObject({ profileId: slug });
const path = `${trackerPath}/profiles`;

/** How tasks become work items: what fills their fields, and whether the tracker takes that. */
export function trackerProfileRoutes(routes: Routes, context: TrackerContext): void {
  const { board, trackers } = context;
  const editor = createRecordEditor({
    records: trackers.profiles,
    resource: 'tracker profile',
    type,
    present: (profile) => profile,
  });

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'listTrackerProfiles',
      summary: 'List the mapping profiles of trackers',
      tag: trackerTag,
      permission: 'settings:read',
      response: trackerProfiles,
    },
    async () => ({ profiles: await trackers.profiles.list() }),
  );

  routes.add(
    {
      method: 'put',
      path: `${path}/:profileId`,
      operationId: 'putTrackerProfile',
      summary: 'Create or replace a mapping profile that the schema of its project allows',
      tag: trackerTag,
      permission: 'settings:write',
      params,
      body: trackerProfilePut,
      response: trackerProfile,
      errors: [409],
      audit: (_request, { id, provider, enabled, defaultProjectPath: project }) => ({
        action: 'tracker-profile.update',
        resource: id,
        details: { provider, project, enabled },
      }),
    },
    async (
      { params: { profileId }, body: { id = profileId, expectedRevision: bodyRevision, ...body }, header },
      ctx,
    ) => {
      if (id !== profileId) {
        throw validationError([{ path: 'id', message: `must be ${profileId}, as in the path` }]);
      }
      const fields: TrackerProfileFields = { ...body, name: plainField(body.name, 'name') };
      await assertValid(fields);
      const all = await trackers.profiles.list();
      if (all.length >= maxTrackerProfiles && all.every((one) => one.id !== profileId)) {
        throw conflict(`The limit of ${maxTrackerProfiles} is reached; delete one first.`, { resourceType: type });
      }
      return withRevision(ctx, type, await editor.put(profileId, { header, bodyRevision }, fields));
    },
  );

  routes.add(
    {
      method: 'delete',
      path: `${path}/:profileId`,
      operationId: 'deleteTrackerProfile',
      summary: 'Delete a mapping profile; work items and their backlinks stay',
      tag: trackerTag,
      permission: 'settings:write',
      params,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params: { profileId } }) => ({ action: 'tracker-profile.delete', resource: profileId }),
    },
    async ({ params: { profileId }, header }) => {
      await editor.remove(profileId, { header });
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:profileId/validate`,
      operationId: 'validateTrackerProfile',
      summary: 'Validate a mapping profile against the schema of its project',
      tag: trackerTag,
      permission: 'settings:read',
      params,
      response: trackerValidation,
      errors: [409],
    },
    async ({ params: { profileId } }) => {
      const { warnings, schema } = await assertValid(await editor.find(profileId));
      return { valid: true as const, warnings, introspectedAt: schema.introspectedAt };
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:profileId/dry-run-create`,
      operationId: 'dryRunTrackerCreate',
      summary: 'Preview the work item that a profile makes of a task; nothing is sent',
      tag: trackerTag,
      permission: 'settings:read',
      params,
      body: trackerDryRun,
      response: trackerDryRunResult,
      errors: [409],
    },
    async ({ params: { profileId }, body: { taskId } }) => {
      const profile = await editor.find(profileId);
      const found = await board.get(taskId);
      assertFound(found, 'task', taskId);
      const schema = await schemaOf(context, profile.provider, profile.defaultProjectPath);
      return { externalWrite: false as const, ...mapTask(profile, found.task, schema) };
    },
  );

  /** @throws AppError 400 with every problem, 409 without a schema */
  async function assertValid(profile: TrackerProfileFields) {
    const schema: TrackerSchema = await schemaOf(context, profile.provider, profile.defaultProjectPath);
    const { errors, warnings } = validateProfile(profile, schema);
    if (errors.length > 0) {
      throw validationError(errors);
    }
    return { schema, warnings };
  }
}
