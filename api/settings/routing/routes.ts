import {
  routeRequest,
  routeResult,
  type RoutingConfiguration,
  routingConfiguration,
  routingUpdate,
} from '../../../contracts/settings/routing';
import { type FieldIssue, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { routeWork } from './route';
import { hostRoutes } from './routes.hosts';
import { registryRoutes } from './routes.registry';
import { rosterRoutes } from './routes.roster';

const tag = 'routing';
const setting = settingResource('routing');

/** Which agent takes which work. */
export function routingRoutes(routes: Routes, context: ApiContext): void {
  const { routing } = context;
  routes.add(
    {
      method: 'post',
      path: '/agents/route',
      operationId: 'routeWork',
      summary: 'Resolve the agent for a task or a described piece of work',
      tag,
      permission: 'agent:read',
      body: routeRequest,
      response: routeResult,
      errors: [404, 409],
    },
    ({ body }) => routeWork(context, body),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/routing',
      operationId: 'getRouting',
      summary: 'Read the routing configuration, stored or derived from the configured agents',
      tag,
      permission: 'agent:read',
      response: routingConfiguration,
    },
    async (_input, ctx) => {
      const { value, revision } = await routing.configuration();
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/agents/routing',
      operationId: 'replaceRouting',
      summary: 'Replace the routing configuration',
      tag,
      permission: 'admin:manage',
      body: routingUpdate,
      response: routingConfiguration,
      errors: [409],
      audit: () => ({ action: 'routing.update' }),
    },
    async ({ body, header }, ctx) => {
      const { expectedRevision: bodyRevision, ...configuration } = body;
      const { agents } = await context.agents.read();
      const issues = unknownAgents(configuration, new Set(agents.map(({ type }) => type)));
      if (issues.length > 0) {
        throw validationError(issues);
      }
      const expected = await statedRevision(
        { ...setting, current: () => routing.configuration() },
        { header, bodyRevision },
      );
      const { value, revision } = await routing.configure(configuration, expected);
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  );

  hostRoutes(routes, context);
  registryRoutes(routes, context);
  rosterRoutes(routes, context);
}

/** An agent that is not configured is more likely a slip than a plan: it would turn the rule off in silence. */
function unknownAgents({ rules, defaultAgent }: RoutingConfiguration, known: ReadonlySet<string>): FieldIssue[] {
  const named = [
    ...rules.flatMap(({ agent, fallback }, at) => [
      { path: `rules.${at}.agent`, agent },
      ...(fallback === undefined ? [] : [{ path: `rules.${at}.fallback`, agent: fallback }]),
    ]),
    ...(defaultAgent === null ? [] : [{ path: 'defaultAgent', agent: defaultAgent }]),
  ];
  return named
    .filter(({ agent }) => !known.has(agent))
    .map(({ path }) => ({ path, message: 'is not a configured agent', code: 'unknown_agent' }));
}
