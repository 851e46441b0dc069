import type { CatalogServer, ToolCatalog } from '../../../contracts/integrations/tool-catalog';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { type BridgeContext, bridgedTools, callBridged } from './mcp-tools';

const aTool = (name: string) => ({ name, inputSchema: { type: 'object' }, policy: 'allowed' as const });
const aServer = (serverId: string, ...names: string[]) =>
  ({ serverId, state: 'ready', tools: names.map(aTool) }) as unknown as CatalogServer;
const servers = [aServer('a', 'b__c', 'd'), aServer('a__b', 'c', 'e')];
const context = { toolCatalogs: { get: async () => ({ servers }) as ToolCatalog } } as unknown as BridgeContext;
const record = { _id: 'attempt_1' } as AttemptRecord;

describe('names of tools in the protocol', () => {
  it('that would be of two tools are of neither', async () => {
    const names = (await bridgedTools(context, record)).map(({ name }) => name);
    expect(names).toEqual(['a__d', 'a__b__e', 'runboard_wait']);
    const call = { name: 'a__b__c', values: {}, operationId: 'mcp/1', actor: 'agent:attempt_1' };
    const { isError, content } = await callBridged(context, record, call);
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain('b__c of a and c of a__b');
  });
});
