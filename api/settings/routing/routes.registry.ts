import { z } from 'zod';
import { text } from '../../../contracts/common';
import { listPage } from '../../../contracts/query';
import {
  agentHeartbeat,
  agentRegistration,
  type RegisteredAgent,
  registeredAgent,
  registryHealth,
  registryId,
  registryQuery,
  registryStats,
} from '../../../contracts/settings/agent-registry';
import { secretIssues } from '../../../domain/registry/manifest';
import {
  assertMayWriteEvidence,
  heartbeat,
  register,
  type RegistryCaller,
} from '../../../domain/registry/registration';
import { assertFound, notFound, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { RoutingContext } from './route';

const tag = 'registry';
const idParams = z.strictObject({ id: registryId });
const byCapabilityQuery = z.strictObject(listPage(1000, 1000));

const lastSeenFirst = (agents: RegisteredAgent[], part: PageRequest): Page<RegisteredAgent> =>
  slicePage(agents, part, { positionOf: ({ lastHeartbeat, id }) => ({ key: lastHeartbeat, id }), direction: -1 });

/** Agents that announce themselves, and how they are. */
export function registryRoutes(routes: Routes, { routing: { registry } }: Pick<RoutingContext, 'routing'>): void {
  const callerOf = (auth: AuthContext, id: string): RegistryCaller => ({
    actor: auth.actor,
    mayWriteEvidence: auth.tokenName === id || auth.permissions.includes('agent:write'),
    now: registry.now().toISOString(),
  });

  routes.add(
    {
      method: 'post',
      path: '/agents/register',
      operationId: 'registerAgent',
      summary: 'Register an agent, or renew its registration',
      tag,
      permission: 'telemetry:write',
      body: agentRegistration,
      response: registeredAgent,
      status: 201,
      errors: [403, 409],
    },
    async ({ body, auth }) => {
      const { sessionKey: _sessionKey, ...registration } = body;
      refuseSecrets(registration);
      const caller = callerOf(auth, body.id);
      const stored = await registry.change(body.id, (current) => register(current, registration, caller));
      assertFound(stored, 'registration', body.id);
      return stored;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/register/:id/heartbeat',
      operationId: 'heartbeatAgent',
      summary: 'Report a heartbeat of a registered agent with its status',
      tag,
      permission: 'telemetry:write',
      params: idParams,
      body: agentHeartbeat,
      response: registeredAgent,
      errors: [403, 404, 409],
    },
    async ({ params, body, auth }) => {
      refuseSecrets(body);
      const caller = callerOf(auth, params.id);
      const stored = await registry.change(params.id, (current) => current && heartbeat(current, body, caller));
      assertFound(stored, 'registration', params.id);
      return stored;
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/agents/register/:id',
      operationId: 'unregisterAgent',
      summary: 'Remove a registered agent',
      tag,
      permission: 'telemetry:write',
      params: idParams,
      response: z.object({ removed: z.literal(true) }),
      errors: [403, 404],
    },
    async ({ params, auth }) => {
      assertMayWriteEvidence(params.id, callerOf(auth, params.id));
      if (!(await registry.remove(params.id))) {
        throw notFound('registration', params.id);
      }
      return { removed: true as const };
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/register',
      operationId: 'listRegisteredAgents',
      summary: 'List registered agents, most recent heartbeat first',
      tag,
      permission: 'agent:read',
      query: registryQuery,
      response: z.array(registeredAgent),
    },
    async ({ query: { status, capability, ...part } }) => {
      const matching = (await registry.list()).filter(
        (agent) =>
          (status === undefined || agent.status === status) && (capability === undefined || can(agent, capability)),
      );
      return lastSeenFirst(matching, part);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/register/stats',
      operationId: 'getRegistryStats',
      summary: 'Count registered agents',
      tag,
      permission: 'agent:read',
      response: registryStats,
    },
    async () => statsOf(await registry.list()),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/register/health',
      operationId: 'getRegistryHealth',
      summary: 'List live registered agents',
      tag,
      permission: 'agent:read',
      response: registryHealth,
    },
    async () => {
      const agents = await registry.list();
      const ids = (alive: boolean) =>
        agents.filter(({ status }) => (status !== 'offline') === alive).map(({ id }) => id);
      const offline = ids(false);
      return { healthy: offline.length === 0, freshnessMs: registry.freshMs, online: ids(true), offline };
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/register/capabilities/:capability',
      operationId: 'listAgentsByCapability',
      summary: 'List registered agents with a capability',
      tag,
      permission: 'agent:read',
      params: z.strictObject({ capability: text(100, 1) }),
      query: byCapabilityQuery,
      response: z.array(registeredAgent),
    },
    async ({ params, query }) => {
      const matching = (await registry.list()).filter((agent) => can(agent, params.capability));
      return lastSeenFirst(matching, query);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/register/:id',
      operationId: 'getRegisteredAgent',
      summary: 'Read a registered agent',
      tag,
      permission: 'agent:read',
      params: idParams,
      response: registeredAgent,
    },
    async ({ params }) => {
      const agent = await registry.get(params.id);
      assertFound(agent, 'registration', params.id);
      return agent;
    },
  );
}

function refuseSecrets(document: object): void {
  const issues = secretIssues(document);
  if (issues.length > 0) {
    throw validationError(issues.slice(0, 50));
  }
}

const can = ({ capabilities }: RegisteredAgent, name: string): boolean =>
  capabilities.some((each) => each.name === name);

function statsOf(agents: RegisteredAgent[]): z.infer<typeof registryStats> {
  const having = (status: RegisteredAgent['status']) => agents.filter((agent) => agent.status === status).length;
  const counts = new Map<string, number>();
  for (const { capabilities } of agents) {
    for (const name of new Set(capabilities.map((each) => each.name))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return {
    total: agents.length,
    online: having('online'),
    busy: having('busy'),
    idle: having('idle'),
    offline: having('offline'),
    withEvidence: agents.filter(({ evidence }) => evidence === 'fresh').length,
    capabilities: [...counts].map(([name, number]) => ({ name, agents: number })).sort((a, b) => b.agents - a.agents),
  };
}
