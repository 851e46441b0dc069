import { trackerAuditPage, trackerAuditQuery } from '../../../contracts/integrations/trackers/profile';
import {
  trackerConnection,
  trackerConnectionPut,
  trackerConnections,
  trackerIntrospect,
  trackerSchema,
  trackerSchemaQuery,
} from '../../../contracts/integrations/trackers/tracker';
import { trackerAction } from '../../../domain/trackers/audit';
import { notFound, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { newRecordId } from '../../../platform/operations/operation';
import { createRecordEditor } from '../../record-editor';
import { refusalError } from '../../refusal-error';
import { withRevision } from '../../revisions';
import { presentAudit } from './audits';
import {
  connectionOf,
  presentConnection,
  providers,
  schemaOf,
  type TrackerContext,
  trackerPath,
  trackerTag,
} from './context';
import { trackerProfileRoutes } from './routes.profiles';
import { workItemRoutes } from './routes.work-items';

const read = { method: 'get' as const, tag: trackerTag, permission: 'settings:read' };
const type = 'tracker-connections';

/** External trackers: how they are reached, what their projects have, and how tasks become their work items. */
export function trackerRoutes(routes: Routes, context: TrackerContext): void {
  const { audit, env, trackers, trackerLauncher } = context;
  const connections = createRecordEditor({
    records: trackers.connections,
    resource: 'tracker connection',
    type,
    present: (record) => presentConnection(record.provider, record),
  });

  routes.add(
    {
      ...read,
      path: `${trackerPath}/connection`,
      operationId: 'getTrackerConnections',
      summary: 'Read how trackers are reached, without values of credentials',
      response: trackerConnections,
    },
    async () => ({
      connections: await Promise.all(
        providers.map(async (provider) => presentConnection(provider, await trackers.connections.get(provider))),
      ),
    }),
  );

  routes.add(
    {
      method: 'put',
      path: `${trackerPath}/connection`,
      operationId: 'putTrackerConnection',
      summary: 'Set how a tracker is reached, with the name of its credential',
      tag: trackerTag,
      permission: 'settings:write',
      onHosts: true,
      body: trackerConnectionPut,
      response: trackerConnection,
      errors: [409],
      audit: (_request, { provider, baseUrl, credential }) => ({
        action: 'tracker-connection.update',
        resource: provider,
        details: { baseUrl, credential },
      }),
    },
    async ({ body: { expectedRevision: bodyRevision, ...fields }, header }, ctx) => {
      if (fields.baseUrl?.startsWith('http:') && !env.BOARD_FORGE_ALLOW_PRIVATE) {
        const message = 'must begin with https://, unless BOARD_FORGE_ALLOW_PRIVATE is true';
        throw validationError([{ path: 'baseUrl', message }]);
      }
      const stored = await connections.put(fields.provider, { header, bodyRevision }, fields);
      return presentConnection(fields.provider, withRevision(ctx, type, stored));
    },
  );

  routes.add(
    {
      ...read,
      path: `${trackerPath}/schema`,
      operationId: 'getTrackerSchema',
      summary: 'Read what a project of a tracker has, as it was introspected last',
      query: trackerSchemaQuery,
      response: trackerSchema,
      errors: [404],
    },
    async ({ query: { provider, project } }) => {
      if (project !== undefined && provider === undefined) {
        throw validationError([{ path: 'provider', message: 'is required with a project' }]);
      }
      const schema =
        provider !== undefined && project !== undefined
          ? await trackers.schemaOf(provider, project)
          : await trackers.latestSchema(provider);
      if (!schema) {
        throw notFound('tracker schema', project ?? provider ?? 'latest');
      }
      return schema;
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${trackerPath}/introspect`,
      operationId: 'introspectTracker',
      summary: 'Read what a project of a tracker has and store it as its schema; nothing is changed there',
      tag: trackerTag,
      permission: 'settings:write',
      body: trackerIntrospect,
      response: trackerSchema,
      errors: [404, 409, 429, 502, 503],
    },
    async ({ body: { provider, project }, auth }) => {
      await connectionOf(context, provider);
      const requestId = newRecordId('introspection', 16);
      const refused = await trackerLauncher.introspect(provider, project, { requestId, actor: auth.actor });
      if (refused) {
        throw refusalError(refused);
      }
      return schemaOf(context, provider, project);
    },
  );

  routes.add(
    {
      ...read,
      path: `${trackerPath}/audits`,
      operationId: 'listTrackerAudits',
      summary: 'List what was done with trackers, newest first, without what was sent',
      query: trackerAuditQuery,
      response: trackerAuditPage,
    },
    async ({ query }) => {
      const page = await audit.list({ ...query, action: trackerAction });
      return page.answer({ audits: page.items.map(presentAudit) });
    },
  );

  trackerProfileRoutes(routes, context);
  workItemRoutes(routes, context);
}
