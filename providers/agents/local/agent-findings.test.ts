import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { agentFindings } from './agent-findings';

const host = { environment: { PATH: '/nowhere/bin:relative:/nowhere/sbin' } };

const agent = (fields: Partial<AgentConfig>) =>
  ({
    type: 'it',
    name: 'It',
    provider: 'acp',
    command: process.execPath,
    args: [],
    environmentKeys: [],
    enabled: true,
    ...fields,
  }) as AgentConfig;

describe('agentFindings', () => {
  it('finds nothing where everything is there', () => {
    expect(agentFindings(agent({}), host)).toEqual([]);
  });

  it('names the program, where it was searched, and how it is installed', () => {
    expect(agentFindings(agent({ command: 'gemini' }), host)).toEqual([
      {
        code: 'agent-program-missing',
        message: 'The command gemini was not found on the PATH, or is not executable.',
        program: 'gemini',
        searched: ['/nowhere/bin', '/nowhere/sbin'],
        remedy: expect.stringContaining('npm install --global @google/gemini-cli'),
      },
    ]);
    const [absolute] = agentFindings(agent({ command: '/nowhere/agent' }), host);
    expect(absolute).toMatchObject({ program: '/nowhere/agent', message: '/nowhere/agent does not exist.' });
    expect(absolute).not.toHaveProperty('searched');
  });

  it('names the program of an optional tool server as left out', () => {
    const server = { type: 'stdio' as const, name: 'docs', command: 'docs-server', args: [], environmentKeys: [] };
    expect(agentFindings(agent({ mcpServers: [{ ...server, requirement: 'optional' }] }), host)).toMatchObject([
      { code: 'tool-server-left-out:docs', program: 'docs-server' },
    ]);
  });

  it('names the program of a tool server', () => {
    const server = { type: 'stdio' as const, name: 'docs', command: 'docs-server', args: [], environmentKeys: [] };
    expect(agentFindings(agent({ mcpServers: [server] }), host)).toMatchObject([
      {
        code: 'tool-server-program-missing:docs',
        program: 'docs-server',
        remedy: expect.stringContaining('mcpServers'),
      },
    ]);
  });

  it('names variables that agents are not given', () => {
    expect(agentFindings(agent({ environmentKeys: ['BOARD_ADMIN_KEY'] }), host)).toMatchObject([
      { code: 'environment-withheld', message: expect.stringContaining('BOARD_ADMIN_KEY') },
    ]);
  });
});
