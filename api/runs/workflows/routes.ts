import { z } from 'zod';
import { workflowDryRun, workflowDryRunRequest } from '../../../contracts/runs/workflows/authoring';
import {
  definitionLimits,
  workflow,
  workflowAccessChange,
  workflowAccessResponse,
  workflowDefinition,
  workflowId,
  workflowQuery,
  workflowReplacement,
  workflowSummary,
  workflowVersion,
} from '../../../contracts/runs/workflows/definition';
import { rightsOf, type WorkflowCaller } from '../../../domain/workflows/access';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { Page } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import { operationTime } from '../../../platform/operations/operation';
import { ownFields } from '../../../stores/port/configured-records';
import type { WorkflowFields } from '../../../stores/runs/workflows/workflow-store';
import type { WorkflowContext } from '../../context';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import { dryRun } from './dry-run';
import { acceptedBody, findWorkflow, present, tag } from './operations';
import { assertMayWrite } from './output-targets';
import { workflowAuthoringRoutes } from './routes.authoring';

const path = '/workflows';
const onePath = `${path}/:id` as const;
const params = z.strictObject({ id: workflowId });
const read = { tag, permission: 'workflow:read' } as const;
const write = { tag, permission: 'workflow:write' } as const;

/** Definitions of workflows: their versions, who may use them, and what a run would do. */
export function workflowRoutes(
  routes: Routes,
  { workflows, workflowSchedules: schedules }: Pick<WorkflowContext, 'workflows' | 'workflowSchedules'>,
): void {
  workflowAuthoringRoutes(routes);

  routes.add(
    {
      ...read,
      method: 'get',
      path,
      operationId: 'listWorkflows',
      summary: 'List the workflows that the caller may see',
      query: workflowQuery,
      response: z.array(workflowSummary),
    },
    async ({ query, auth }) => {
      const visible = (await workflows.list()).filter(({ access }) => rightsOf(access, auth).view);
      const page = slicePage(visible, query, { positionOf: ({ id }) => ({ key: id, id }) });
      const items = page.items.map(({ id, definition, version, access, revision, updatedAt }) => ({
        ...{ id, name: definition.name, version, steps: definition.steps.length, revision, updatedAt },
        rights: rightsOf(access, auth),
        ...compact({ description: definition.description }),
      }));
      return new Page(items, page.next);
    },
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path,
      operationId: 'createWorkflow',
      summary: 'Create a workflow',
      body: workflowDefinition,
      response: z.object({ success: z.literal(true), workflowId }),
      status: 201,
      errors: [403, 409, 503],
      audit: ({ body }) => ({ action: 'workflow.create', resource: body.id, details: { steps: body.steps.length } }),
    },
    async ({ body, auth }) => {
      const definition = acceptedBody(body);
      const others = (await workflows.list()).filter(({ id }) => id !== definition.id);
      if (others.length >= definitionLimits.definitions) {
        throw conflict(`There are ${definitionLimits.definitions} workflows, the most there may be.`);
      }
      if (definition.schedule) {
        assertMayWrite(definition.outputTargets ?? [], auth);
        await schedules.check(definition.schedule);
      }
      const version = definition.version ?? 1;
      const made = await workflows.put(
        definition.id,
        {
          ...{ definition: { ...definition, version }, version, updatedBy: auth.actor },
          versionAt: operationTime().toISOString(),
          access: { owner: auth.actor, editors: [], viewers: [], executors: [], public: false },
        },
        0,
      );
      if (definition.schedule) {
        await schedules.follow(made);
      }
      return { success: true as const, workflowId: definition.id };
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: onePath,
      operationId: 'getWorkflow',
      summary: 'Read the newest version of a workflow',
      params,
      response: workflow,
      errors: [404],
    },
    async ({ params: { id }, auth }, ctx) =>
      withRevision(ctx, tag, present(await findWorkflow(workflows, id, { caller: auth, need: 'view' }))),
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: onePath,
      operationId: 'replaceWorkflow',
      summary: 'Replace a workflow by a new version; its runs continue with theirs',
      params,
      body: workflowReplacement,
      response: workflow,
      errors: [403, 404, 409, 503],
      audit: ({ params: { id } }, { version }) => ({ action: 'workflow.update', resource: id, details: { version } }),
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...body }, auth, header }, ctx) => {
      if (body.id !== undefined && body.id !== id) {
        throw validationError([{ path: 'id', message: `must be ${id}, or left out` }]);
      }
      const definition = acceptedBody({ ...body, id });
      const current = () => workflows.get(id);
      const before = await findWorkflow(workflows, id, { caller: auth, need: 'edit' });
      const expected = await statedRevision({ type: tag, id, current }, { header, bodyRevision });
      assertRevision(tag, before, { expectedRevision: expected });
      const version = definition.version ?? before.version + 1;
      if (version <= before.version) {
        throw validationError([{ path: 'version', message: `must be more than ${before.version}, or left out` }]);
      }
      if (definition.schedule) {
        assertMayWrite(definition.outputTargets ?? [], auth);
        await schedules.check(definition.schedule);
      }
      await workflows.archive(before);
      const written = await workflows.put(
        id,
        {
          ...ownFields<WorkflowFields>(before),
          ...{ definition: { ...definition, version }, version, updatedBy: auth.actor },
          versionAt: operationTime().toISOString(),
        },
        before.revision,
      );
      if (definition.schedule ?? before.definition.schedule) {
        await schedules.follow(written);
      }
      return withRevision(ctx, tag, present(written));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: onePath,
      operationId: 'deleteWorkflow',
      summary: 'Delete a workflow with its versions; its runs stay',
      params,
      response: z.undefined(),
      status: 204,
      errors: [403, 404, 409],
      audit: ({ params: { id } }) => ({ action: 'workflow.delete', resource: id }),
    },
    async ({ params: { id }, auth, header }) => {
      const current = () => workflows.get(id);
      const before = await findWorkflow(workflows, id, { caller: auth, need: 'edit' });
      const expected = await statedRevision({ type: tag, id, current }, { header });
      assertRevision(tag, before, { expectedRevision: expected });
      await workflows.remove(id, expected ?? before.revision);
      await workflows.forget(id);
      if (before.definition.schedule) {
        await schedules.drop(id);
      }
      return undefined;
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${onePath}/versions`,
      operationId: 'listWorkflowVersions',
      summary: 'List the earlier versions of a workflow, the latest first',
      params,
      query: workflowQuery,
      response: z.array(workflowVersion),
      errors: [404],
    },
    async ({ params: { id }, query, auth }) => {
      await findWorkflow(workflows, id, { caller: auth, need: 'view' });
      return workflows.earlier(id, query);
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${onePath}/versions/:version`,
      operationId: 'getWorkflowVersion',
      summary: 'Read one version of a workflow',
      params: z.strictObject({ id: workflowId, version: z.coerce.number().int().min(1).max(1_000_000) }),
      response: workflowVersion,
      errors: [404],
    },
    async ({ params: { id, version }, auth }) => {
      const {
        definition,
        updatedBy: by,
        versionAt: at,
        ...newest
      } = await findWorkflow(workflows, id, {
        caller: auth,
        need: 'view',
      });
      const found = version === newest.version ? { version, at, by, definition } : await workflows.version(id, version);
      assertFound(found, 'workflow version', `${id}@${version}`);
      return found;
    },
  );

  const access = async (id: string, caller: WorkflowCaller, need: 'view' | 'edit') => {
    const record = await findWorkflow(workflows, id, { caller, need });
    return { record, answer: accessOf(record, caller) };
  };

  routes.add(
    {
      ...read,
      method: 'get',
      path: `${onePath}/access`,
      operationId: 'getWorkflowAccess',
      summary: 'Read who may see, change and run a workflow, and what the caller may',
      params,
      response: workflowAccessResponse,
      errors: [404],
    },
    async ({ params: { id }, auth }) => (await access(id, auth, 'view')).answer,
  );

  routes.add(
    {
      ...write,
      method: 'put',
      path: `${onePath}/access`,
      operationId: 'changeWorkflowAccess',
      summary: 'Change who may see, change and run a workflow',
      params,
      body: workflowAccessChange,
      response: workflowAccessResponse,
      errors: [403, 404, 409],
      audit: ({ params: { id } }, { access: { owner, public: isPublic } }) => ({
        action: 'workflow.access',
        resource: id,
        details: { owner, public: isPublic },
      }),
    },
    async ({ params: { id }, body: { expectedRevision: bodyRevision, ...change }, auth, header }) => {
      const current = () => workflows.get(id);
      const { record } = await access(id, auth, 'edit');
      const expected = await statedRevision({ type: tag, id, current }, { header, bodyRevision });
      assertRevision(tag, record, { expectedRevision: expected });
      if (auth.role !== 'admin' && record.access.owner !== auth.actor) {
        const message = 'Only the owner of a workflow and administrators change its access.';
        throw new AppError('WORKFLOW_ACCESS_DENIED', { status: 403, message, details: { workflowId: id } });
      }
      const fields = ownFields<WorkflowFields>(record);
      const written = await workflows.put(
        id,
        { ...fields, access: { ...fields.access, ...compact(change) } },
        record.revision,
      );
      return accessOf(written, auth);
    },
  );

  routes.add(
    {
      tag,
      permission: 'workflow:execute',
      method: 'post',
      path: `${onePath}/dry-run`,
      operationId: 'dryRunWorkflow',
      summary: 'Preview a run of a workflow',
      params,
      body: workflowDryRunRequest,
      response: workflowDryRun,
      errors: [403, 404],
    },
    async ({ params: { id }, body: { context }, auth }) =>
      dryRun((await findWorkflow(workflows, id, { caller: auth, need: 'execute' })).definition, context),
  );
}

const accessOf = (
  { id, access, revision }: { id: string; access: WorkflowFields['access']; revision: number },
  caller: WorkflowCaller,
) => ({ workflowId: id, access, rights: rightsOf(access, caller), revision });
