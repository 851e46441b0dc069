import { type Permission, permission, type Role, rolePermissions } from '../../../contracts/permissions';
import { childrenPermission } from '../../../contracts/runs/attempt-handle';
import { toolsPermission } from '../../../contracts/runs/launch/tool-bridge';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';
import { expectedAnswer, handlePermissions, relays } from './expected-answer';
import { type Operation, operationsOf } from './operations';

let board: ApiUnderTest;
let all: Operation[];
/** Those that keys open. */
let operations: Operation[];
beforeAll(async () => {
  board = await startWholeTestApi();
  all = operationsOf((await board.call('GET', '/api/openapi.json')).body as OpenApiDocument);
  operations = all.filter((operation) => !handlePermissions.includes(operation.permission));
});
afterAll(() => board.close());

const writes = () => operations.filter(({ method }) => method !== 'GET');
const namesOf = (some: Operation[]) => some.map(({ name }) => name).sort();

/** Queries with a body. They change nothing, and need the permission of reading the result. */
const questions = [
  'POST /api/agents/hosts/preview',
  'POST /api/agents/permissions/check',
  'POST /api/agents/route',
  'POST /api/auth/ws-ticket',
  'POST /api/config/repos/validate',
  'POST /api/config/team-roster/preview-route',
  'POST /api/config/team-roster/validate',
  'POST /api/integrations/communication/adapters/{adapterId}/community/definitions/preview',
  'POST /api/integrations/trackers/profiles/{profileId}/dry-run-create',
  'POST /api/integrations/trackers/profiles/{profileId}/validate',
  'POST /api/policies/evaluate',
  'POST /api/prompt-registry/{id}/render-preview',
  'POST /api/reports/generate',
  'POST /api/sandbox-policies/validate',
  'POST /api/scheduler/items/{id}/validate',
  'POST /api/scoring/evaluate',
  'POST /api/search',
  'POST /api/tool-policies/{role}/validate',
  'POST /api/watcher-policies/evaluate',
  'POST /api/workflows/authoring/dry-run',
  'POST /api/workflows/authoring/lint',
  'POST /api/workflows/authoring/yaml',
  'POST /api/workflows/recipes/{id}/materialize',
  'POST /api/workspace-capabilities/manifest/validate',
  // What its tools do asks for the permissions of that.
  'POST /mcp',
];

/** What only administrators may do, by name: what widens an agent's power, decides for people, or removes a record. */
const administrative = [
  'DELETE /api/activity',
  'DELETE /api/delegation',
  'DELETE /api/identity/workspaces/{workspaceId}/members/{memberId}',
  'DELETE /api/notifications',
  'DELETE /api/settings/transition-hooks/rules/{id}',
  'DELETE /api/skills/security/inventory/{skillId}/exceptions',
  'DELETE /api/status-history',
  'DELETE /api/tool-servers/{id}',
  'GET /api/audit',
  'GET /api/audit/verify',
  'GET /api/auth/rotation-status',
  'GET /api/health/deep',
  'GET /api/identity/users',
  'GET /api/identity/workspaces/{workspaceId}/api-tokens',
  'GET /api/identity/workspaces/{workspaceId}/device-sessions',
  'GET /api/identity/workspaces/{workspaceId}/invitations',
  'GET /api/notifications/pending',
  'GET /api/settings/transition-hooks',
  'GET /api/settings/transition-hooks/rules/{id}',
  'GET /health/deep',
  'PATCH /api/agents/permissions/{id}',
  'PATCH /api/identity/users/{userId}',
  'PATCH /api/identity/workspaces/{workspaceId}',
  'PATCH /api/identity/workspaces/{workspaceId}/members/{memberId}',
  'PATCH /api/settings/transition-hooks',
  'POST /api/admission/queue/{id}/cancel',
  'POST /api/admission/tree/{rootObjectiveId}/cancel',
  'POST /api/admission/tree/{rootObjectiveId}/resume',
  'POST /api/agents/hosts/{hostId}/drain',
  'POST /api/agents/hosts/{hostId}/resume',
  'POST /api/agents/permissions',
  'POST /api/agents/permissions/approvals/{id}',
  'POST /api/agents/{taskId}/workspace-trust/decisions',
  'POST /api/agents/{taskId}/workspace-trust/revoke',
  'POST /api/auth/change-password',
  'POST /api/auth/rotate-secret',
  'POST /api/delegation',
  'POST /api/goals',
  'POST /api/goals/{goalId}/rollover',
  'POST /api/goals/{goalId}/runs',
  'POST /api/goals/{goalId}/transition',
  'POST /api/identity/invitations/{id}/revoke',
  'POST /api/identity/workspaces',
  'POST /api/identity/workspaces/{workspaceId}/api-tokens',
  'POST /api/identity/workspaces/{workspaceId}/api-tokens/{tokenId}/revoke',
  'POST /api/identity/workspaces/{workspaceId}/api-tokens/{tokenId}/rotate',
  'POST /api/identity/workspaces/{workspaceId}/device-pairing-codes',
  'POST /api/identity/workspaces/{workspaceId}/device-sessions/{id}/revoke',
  'POST /api/identity/workspaces/{workspaceId}/device-sessions/{id}/test',
  'POST /api/identity/workspaces/{workspaceId}/invitations',
  'POST /api/maintenance/skill-security/scan',
  'POST /api/notifications',
  'POST /api/notifications/mark-sent',
  'POST /api/retention/{kind}/dry-run',
  'POST /api/run-approvals/{approvalId}/decision',
  'POST /api/settings/transition-hooks/rules',
  'POST /api/settings/transition-hooks/validate',
  'POST /api/skills/security/inventory/{skillId}/exceptions',
  'POST /api/skills/security/inventory/{skillId}/remediation-task',
  'POST /api/skills/security/scan',
  'POST /api/tasks/{taskId}/worktree/adopt',
  'POST /api/tool-servers',
  'POST /api/tool-servers/{id}/discover',
  'PUT /api/agents/permissions/{id}/level',
  'PUT /api/agents/routing',
  'PUT /api/settings/transition-hooks',
  'PUT /api/settings/transition-hooks/rules/{id}',
  'PUT /api/tool-servers/{id}',
];

/** Writes by where they are; the first row that a path matches has the permission it must declare. */
const byPath: [RegExp, Permission][] = [
  // The delegate decides with its own key; who that is, administrators set.
  [/^\/api\/delegation\/approvals\//, 'task:write'],
  [/^\/api\/delegation$/, 'admin:manage'],
  // Which programs run, on which repositories, with which instructions, and who is notified.
  // What every change of a status has to obey.
  [/^\/api\/settings\/transition-hooks(\/|$)/, 'admin:manage'],
  [
    /^\/api\/(config|settings|hooks|shared-resources|workspace-capabilities|traces|reports|search)(\/|$)/,
    'settings:write',
  ],
  [/^\/api\/github\/sync\/config$/, 'settings:write'],
  [/^\/api\/integrations\/trackers\//, 'settings:write'],
  [/^\/api\/(projects|sprints|task-types|templates|doc-freshness|scoring)(\/|$)/, 'settings:write'],
  [/^\/api\/(projects|sprints|task-types|templates|doc-freshness|docs|scoring)(\/|$)/, 'settings:write'],
  // What has an effect like that of an agent.
  [/^\/api\/tool-servers\/(call$|workflow-runs\/)/, 'agent:write'],
  [/^\/api\/integrations\/communication\/adapters\/\{adapterId\}\/replies$/, 'comment:write'],
  [/^\/api\/integrations\/communication\//, 'settings:write'],
  // What is the caller's own: its name, its workspace, its token.
  [/^\/api\/identity\/(profile(\/|$)|workspaces\/switch$|invitations\/accept$)/, 'workspace:read'],
  // Its own sessions, of whichever role a user is.
  [/^\/api\/auth\/sessions\//, 'workspace:read'],
  // What agents may do.
  [/^\/api\/(policies|tool-policies|sandbox-policies)(\/|$)/, 'policy:write'],
  // A task about a skill, and no change of one.
  [/^\/api\/skills\/capabilities\//, 'task:write'],
  [/^\/api\/maintenance\/debug-bundle$/, 'backup:write'],
  [/^\/api\/(skills\/security|maintenance\/skill-security)\//, 'admin:manage'],
  // Starting, stopping and overriding agents.
  [/^\/api\/agents\/\{taskId\}\/(start|stop|launch-preview|watchdog\/.*|.*\/callback-secret)$/, 'agent:write'],
  [/^\/api\/agents\/\{taskId\}\/conversation\/(resume|follow-up|fork|continue|fresh)$/, 'agent:write'],
  [/^\/api\/diff\/\{taskId\}\/comments\/send$/, 'agent:write'],
  // An agent may not decide about its own result.
  [/^\/api\/tasks\/\{taskId\}\/review\//, 'agent:write'],
  [/^\/api\/workflows\/runs\/\{runId\}\/steps\/\{stepId\}\/start$/, 'agent:write'],
  [/^\/api\/scheduled-launches(\/|$)/, 'agent:write'],
  [/^\/api\/scheduler\/(items\/\{id\}|due)\/run$/, 'workflow:execute'],
  [/^\/api\/scheduler\//, 'workflow:write'],
  [/^\/api\/goals(\/|$)/, 'admin:manage'],
  [/^\/api\/(ceremonies|reflections)(\/|$)/, 'workflow:write'],
  [/^\/api\/workflows(\/\{id\}(\/access)?)?$/, 'workflow:write'],
  [/^\/api\/workflows\//, 'workflow:execute'],
  [/^\/api\/prompt-registry\/\{id\}\/record-usage$/, 'telemetry:write'],
  [/^\/api\/prompt-registry(\/|$)/, 'settings:write'],
  [/^\/api\/(telemetry|agent\/status|errors|drift|agents\/register)(\/|$)/, 'telemetry:write'],
  [/\/comments(\/|$)|^\/api\/(chat|broadcasts|notifications|feedback)(\/|$)/, 'comment:write'],
  [/^\/api\/conflicts\/\{taskId\}\/(resolve|continue|abort)$/, 'task:write'],
  [/^\/api\/(tasks\/\{taskId\}\/)?work-products(\/|$)/, 'work_product:write'],
  // Pull requests propose what a merge would do; issues become tasks.
  [/^\/api\/(tasks|backlog|agents|automation|decisions|deliverables|cost-prediction|github)(\/|$)/, 'task:write'],
];

describe('every operation', () => {
  it('declares a permission that exists, or is open and on this list', () => {
    const exists = (declared: string | undefined) => permission.options.includes(declared as Permission);
    expect(namesOf(operations.filter((operation) => !exists(operation.permission)))).toEqual([
      'GET /',
      'GET /api',
      // Every caller with a valid credential learns what it may do.
      'GET /api/auth/context',
      // A browser has no credential yet, or none any more.
      'GET /api/auth/oidc/callback',
      'GET /api/auth/oidc/login',
      'GET /api/auth/oidc/signed-out',
      'GET /api/auth/status',
      'GET /api/health',
      'GET /api/openapi.json',
      'GET /health',
      'GET /health/live',
      'GET /health/ready',
      // The handler asks for a key unless the caller is on this machine.
      'GET /metrics',
      // A caller that knows the token of an invitation, or a pairing code, exchanges it for a credential.
      'POST /api/auth/device-pairing/exchange',
      'POST /api/auth/invitations/accept',
      // A password, a code or a recovery key is sent instead.
      'POST /api/auth/login',
      'POST /api/auth/logout',
      // A provider has signed what it reports.
      'POST /api/auth/oidc/backchannel-logout',
      'POST /api/auth/oidc/logout',
      'POST /api/auth/recover',
      'POST /api/auth/setup',
      // A caller that knows the secret of the webhook has signed it.
      'POST /api/github/webhooks/{repo}',
      'POST /api/workspaces/{workspaceId}/github/webhooks/{repo}',
    ]);
  });

  it('that takes the handle of an attempt takes nothing else, and is on this list', () => {
    expect(namesOf(all.filter((operation) => operation.permission === childrenPermission))).toEqual([
      'GET /api/run-children/{attemptId}',
      'GET /api/run-children/{attemptId}/events',
      'POST /api/run-children',
      'POST /api/run-children/{attemptId}/stop',
    ]);
    expect(namesOf(all.filter((operation) => operation.permission === toolsPermission))).toEqual([
      'GET /api/run-tool-bridge/catalog',
      'POST /api/run-tool-bridge/call',
      'POST /api/run-tool-bridge/mcp',
    ]);
    for (const own of [childrenPermission, toolsPermission]) {
      expect(permission.options).not.toContain(own);
    }
  });

  it('that only administrators may do is on the list of these', () => {
    expect(namesOf(operations.filter((operation) => operation.permission === 'admin:manage'))).toEqual(administrative);
  });

  it('that writes declares what its place asks for', () => {
    const asked = (template: string) => byPath.find(([pattern]) => pattern.test(template))?.[1];
    const others = writes().filter(
      ({ name, permission: declared }) =>
        declared !== undefined && !questions.includes(name) && !administrative.includes(name),
    );
    expect(
      others.filter((one) => one.permission !== asked(one.template)).map((one) => [one.name, one.permission]),
    ).toEqual([]);
  });

  it('that reads declares no permission to write, but for the one that starts a program', () => {
    const reads = operations.filter(
      ({ method, permission: declared }) => method === 'GET' && /:(write|execute)$/.test(declared ?? ''),
    );
    expect(namesOf(reads)).toEqual(['GET /api/tasks/{taskId}/worktree/open']);
  });

  it('that is a question declares no permission to write', () => {
    const asked = operations.filter(({ name }) => questions.includes(name));
    expect(namesOf(asked)).toEqual(questions);
    expect(asked.filter(({ permission: declared }) => !declared?.endsWith(':read'))).toEqual([]);
  });
});

describe('the role', () => {
  const permitted = (role: Role) => operations.filter((operation) => expectedAnswer(operation, role) === 'permitted');

  it('admin may do everything', () => {
    expect(rolePermissions.admin).toEqual(permission.options);
    expect(permitted('admin')).toHaveLength(operations.length);
  });

  it('read-only may read everything but what is for administrators, and write nothing', () => {
    expect(rolePermissions['read-only'].filter((one) => !one.endsWith(':read'))).toEqual([]);
    const withheld = operations.filter((one) => one.method === 'GET' && !permitted('read-only').includes(one));
    expect(namesOf(withheld)).toEqual([
      'GET /api/audit',
      'GET /api/audit/verify',
      'GET /api/auth/rotation-status',
      'GET /api/health/deep',
      'GET /api/identity/users',
      'GET /api/identity/workspaces/{workspaceId}/api-tokens',
      'GET /api/identity/workspaces/{workspaceId}/device-sessions',
      'GET /api/identity/workspaces/{workspaceId}/invitations',
      'GET /api/notifications/pending',
      'GET /api/settings/transition-hooks',
      'GET /api/settings/transition-hooks/rules/{id}',
      'GET /api/tasks/{taskId}/worktree/open',
      'GET /health/deep',
    ]);
    const open = permitted('read-only').filter(({ method, permission: needed }) => method !== 'GET' && needed);
    expect(namesOf(open)).toEqual([...relays]);
  });

  it.each(['tasks', 'backlog', 'time', 'comments', 'subtasks', 'observations', 'chat', 'squad', 'telemetry'])(
    'agent may do everything to %s',
    (tag) => {
      const ofTag = operations.filter((operation) => operation.tag === tag);
      expect(ofTag).not.toEqual([]);
      expect(namesOf(ofTag.filter((operation) => !permitted('agent').includes(operation)))).toEqual([]);
    },
  );

  it('agent may configure nothing, decide nothing and start no agents', () => {
    const beyond: Permission[] = ['settings:write', 'policy:write', 'workflow:write', 'agent:write', 'backup:write'];
    expect(rolePermissions.agent.filter((one) => [...beyond, 'backup:read', 'admin:manage'].includes(one))).toEqual([]);
  });
});
