import { type OpenApiDocument } from '../../../platform/http/routing/openapi';
import { adminKey, type ApiUnderTest, startWholeTestApi } from '../api-under-test';
import { aPerson } from '../identity/people';
import { connectionTo } from './connection';
import { type Operation, operationsOf, requestOf } from './operations';

/** Operations that start agents, steer them, or end what they do. */
const ofLocalAgents = [
  'cancelExecutionTree',
  'cancelQueueEntry',
  'cancelRunRecovery',
  'cancelWorkflowRecovery',
  'archiveConversation',
  'changeScheduledLaunch',
  'closeConversation',
  'compactConversation',
  'continueConversation',
  'createScheduledLaunch',
  'followUpConversation',
  'callTool',
  'callWorkflowTool',
  'openWorkflowToolCatalog',
  'withdrawWorkflowToolCall',
  'startFreshConversation',
  'forkConversation',
  'interruptRun',
  'messageRun',
  'overrideRunWatchdog',
  'resumeConversation',
  'resumeExecutionTree',
  'sendBackReview',
  'sendLineComments',
  'startRun',
  'startWorkflowStep',
  'startWorkflowRun',
  'resumeWorkflowRun',
  'cancelWorkflowRun',
  'approveWorkflowStep',
  'rejectWorkflowStep',
  'steerRun',
  'stopRun',
  'transitionRunPhase',
  'triggerScheduledLaunch',
];

/** A proxy in between: the caller may be anywhere. */
const elsewhere = { Via: '1.1 proxy' };

let board: ApiUnderTest;
let document: OpenApiDocument;
let operations: Operation[];
let token: string;
beforeAll(async () => {
  board = await startWholeTestApi();
  document = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
  operations = operationsOf(document).filter(({ operationId }) => ofLocalAgents.includes(operationId));
  token = (await aPerson(board, 'admin')).key;
});
afterAll(() => board.close());

/** The operations that a caller is refused for what its client is, of those that run agents. */
async function refused(headers: Record<string, string>): Promise<string[]> {
  const connection = connectionTo(board.url, headers);
  const names: string[] = [];
  for (const operation of operations) {
    const { status, body } = await connection.send(requestOf(operation, document, { taskId: 'not a task' }));
    const { details } = body as { details?: { required?: string[] } };
    if (status === 403 && details?.required?.includes('local-agent:run')) {
      names.push(operation.operationId);
    }
  }
  connection.close();
  return names.sort();
}

const create = (body: object, headers: Record<string, string> = {}) =>
  board.call('POST', '/api/identity/workspaces/local/api-tokens', { key: token, body, headers });

describe('running agents', () => {
  it('is what the document declares of these operations', () => {
    const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const declared = described.filter((operation) => operation['x-local-agent']).map(({ operationId }) => operationId);
    expect(declared.sort()).toEqual([...ofLocalAgents].sort());
  });

  it('is refused to a credential from elsewhere without a capability for it, and permitted on this machine', async () => {
    expect(await refused({ 'X-API-Key': token, ...elsewhere })).toEqual([...ofLocalAgents].sort());
    expect(await refused({ 'X-API-Key': token })).toEqual([]);
  });

  it('is permitted from anywhere with a key of the environment, or a token that was given the capability', async () => {
    expect(await refused({ 'X-API-Key': adminKey, ...elsewhere })).toEqual([]);
    const { body } = await create({ name: 'ci', role: 'admin', capabilities: ['agent:run:unrestricted'] });
    expect(await refused({ 'X-API-Key': body.token, ...elsewhere })).toEqual([]);
    const context = await board.call('GET', '/api/auth/context', { key: body.token });
    expect(context.body.capabilities).toEqual(['agent:run:unrestricted']);
  });

  it('is given to others only by those who may: tokens, and devices by their capabilities or their mode', async () => {
    const local = { name: 'made', role: 'admin', capabilities: ['local-agent:run'] };
    expect((await create(local, elsewhere)).status).toBe(403);
    expect((await create({ name: 'plain', role: 'admin' }, elsewhere)).status).toBe(201);
    const { body } = await create(local);
    const path = `/api/identity/workspaces/local/api-tokens/${body.id}/rotate`;
    const rotated = await board.call('POST', path, { key: token, body: {}, headers: elsewhere });
    expect(rotated.status).toBe(403);
    const pair = async (terms: object) => {
      const code = { deviceName: 'd', scopes: ['task:read'], role: 'agent', ...terms };
      const codes = '/api/identity/workspaces/local/device-pairing-codes';
      return (await board.call('POST', codes, { key: token, body: code, headers: elsewhere })).status;
    };
    expect(await pair({ clientMode: 'cli', capabilities: [] })).toBe(403);
    expect(await pair({ clientMode: 'mobile', capabilities: ['desktop:local'] })).toBe(403);
    expect(await pair({ clientMode: 'mobile', capabilities: ['push'] })).toBe(201);
  });
});
