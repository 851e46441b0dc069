import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const read = async (key = readKey) => board.call('GET', '/api/settings/provider-health', { key });

describe('provider health', () => {
  it('is read of every provider, of agents that no host has probed too', async () => {
    const statuses = async () =>
      (await read()).body.providers.map(({ provider, status }: Record<string, string>) => [provider, status]);
    const agents = [{ type: 'one', name: 'One', provider: 'process', command: 'true' }];
    expect((await board.call('PUT', '/api/config/agents', { body: { agents } })).status).toBe(200);
    expect(await statuses()).toEqual([
      ['process', 'unknown'],
      ['acp', 'unused'],
      ['remote-callback', 'unused'],
    ]);
    const { body } = await board.call('GET', '/api/config/agent-support');
    expect(body.agents).toMatchObject([
      { profileId: 'process', diagnosticCommands: ['command -v true', 'POST /api/config/agents/one/check {}'] },
    ]);
    expect((await read(agentKey)).status).toBe(403);
  });
});
